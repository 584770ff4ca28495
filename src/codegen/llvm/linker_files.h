// The two files of a link, for lld knows paths only. Its input is a file in memory and its output a
// pipe, so that no disk can be full: lld maps an output file, and a page that a full disk does not
// have ends the program with SIGBUS. Without memory files both are in a folder of their own, the
// output still a pipe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "codegen/scratch.h"

namespace fg::codegen {

class PipeReader;

class LinkerFiles {
 public:
  explicit LinkerFiles(std::string_view object);
  ~LinkerFiles();
  LinkerFiles(const LinkerFiles&) = delete;
  LinkerFiles& operator=(const LinkerFiles&) = delete;

  const std::string& from() const { return from_; }
  const std::string& to() const { return to_; }
  std::string written();  // once, after the linker ended

 private:
  bool put_into_memory(std::string_view object);
  void put_into_folder(std::string_view object);

  std::unique_ptr<Scratch> folder_;
  Descriptor input_, read_end_, write_end_;
  std::string from_, to_;
  std::unique_ptr<PipeReader> reader_;
};

}  // namespace fg::codegen
