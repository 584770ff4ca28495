// A file that is there in full or not at all: it is written beside its place, brought to the disk
// and renamed. What was there before stays until then.
//
//   AtomicFile file("model.safetensors");
//   file.write(bytes, size);
//   file.commit();      // without it, nothing was written
#pragma once

#include <cstddef>
#include <string>

namespace fg {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, size_t size);
  void commit();

 private:
  [[noreturn]] void fail_with(const char* what) const;

  std::string path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace fg
