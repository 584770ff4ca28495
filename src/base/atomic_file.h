// A file that is there in full or not at all: it is written beside its place, brought to the disk
// and renamed. The old file stays until then. A link stays, and its target is replaced; a pipe or a
// device is written to as it is. Failures are FileErrors.
//
//   AtomicFile file("model.safetensors");
//   file.write(bytes, size);
//   file.commit();      // without it, nothing was written
#pragma once

#include <cstddef>
#include <string>

#include "base/file.h"

namespace fg {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, size_t size);
  void commit();

 private:
  void open_special(unsigned mode);
  [[noreturn]] void fail_with(const char* what) const;

  std::string path_, target_, temporary_;
  Descriptor file_;
};

}  // namespace fg
