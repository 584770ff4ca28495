// Folders that belong to this user alone: made with mode 0700, owner and mode checked.
#pragma once

#include <string>

#include "base/file.h"

namespace fg::cache {

// Opens the folder, made with its parents when missing. Refuses one of another owner, one that
// others may enter, and a path through a symbolic link that another user made.
Descriptor open_private_folder(const std::string& path, const char* what);

// A relative path means the folder that is current now, wherever the program goes later.
std::string absolute_path(const std::string& path);

// A folder in an open private one, made when missing and asked for.
Descriptor open_inside(int folder, const std::string& name, bool make);

// A plain file in an open private folder. With O_CREAT anything else in its place is removed.
Descriptor open_own_file(int folder, const std::string& name, int flags);

}  // namespace fg::cache
