// A folder of this process in the temporary folder, for files that need a path. It goes with the
// object; a folder that a killed process left is removed by the next process that makes one.
#pragma once

#include <string>

#include "base/file.h"

namespace fg::codegen {

std::string temporary_folder();  // $TMPDIR, else /tmp

class Scratch {
 public:
  Scratch();  // false, and errno, when there can be none
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  explicit operator bool() const { return bool(folder_); }
  int number() const { return folder_.number(); }  // of the open folder
  std::string path(const std::string& name) const;

 private:
  bool make(const std::string& name);

  std::string place_, name_;
  Descriptor parent_, folder_;  // the folder is locked as long as its process lives
};

}  // namespace fg::codegen
