// Private folders, which belong to this user alone: made with mode 0700, owner and mode checked.
#pragma once

#include <string>

#include "base/file.h"

namespace fg::cache {

// Opens the folder, made with its parents when missing. Refuses one of another owner, one that
// others may enter, and a path through a symbolic link that another user made.
Descriptor open_private_folder(const std::string& path, const char* what);

// Resolves a relative path against the current folder, so that a later chdir does not move it.
std::string absolute_path(const std::string& path);

// Opens a folder inside an open private one; `make` creates a missing one.
Descriptor open_inside(int folder, const std::string& name, bool make);

// Opens a plain file in an open private folder. O_CREAT removes anything else in its place.
Descriptor open_own_file(int folder, const std::string& name, int flags);

}  // namespace fg::cache
