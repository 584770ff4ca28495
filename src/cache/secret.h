// The secret keys. One per user, made on first use in $XDG_CONFIG_HOME/foregrad/cache.key, which
// only this user may read; and one that those who share entries agree on, in a file they name.
#pragma once

#include <string>

#include "base/digest.h"

namespace fg::cache {

inline constexpr const char* kUserKeyFile = "cache.key";

// Refuses a folder or file of another owner, or that others can read.
SecretKey user_key(const std::string& directory);
// Refuses a missing, short or readable file; every sentence says the remedy. `purpose` begins it.
SecretKey shared_key(const std::string& path, const char* purpose);

}  // namespace fg::cache
