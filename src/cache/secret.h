// The secret keys: the user's own, made on first use in $XDG_CONFIG_HOME/foregrad/cache.key, which
// only this user may read; and the shared one of users that share entries, in a file they name.
#pragma once

#include <string>

#include "base/digest.h"

namespace fg::cache {

inline constexpr const char* kUserKeyFile = "cache.key";

// Refuses a folder or file of another owner, or that others can read.
SecretKey user_key(const std::string& directory);
// Refuses a missing or short file, and one that others can read. `purpose`: what needs the key.
SecretKey shared_key(const std::string& path, const char* purpose);

}  // namespace fg::cache
