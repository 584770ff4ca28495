// Folders that belong to this user alone: made with mode 0700, owner and mode checked.
#pragma once

#include <string>

#include "base/file.h"

namespace fg::cache {

// Opens the folder, made with its parents when missing. Refuses one of another owner, one that
// others may enter, and a symbolic link that another user made.
Descriptor open_private_folder(const std::string& path, const char* what);
// The same without making it; no descriptor when there is none.
Descriptor open_existing_private_folder(const std::string& path, const char* what);

// A folder in an open one, made when missing and asked for.
Descriptor open_inside(int folder, const std::string& name, bool make);

}  // namespace fg::cache
