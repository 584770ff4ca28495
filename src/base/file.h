// Files for data that must be whole or not there: descriptors that close themselves and are not
// handed to children, reading into private memory, and replacing a file in one step.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fg {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

// Bytes in private memory: no other process can change them after they were checked, as one could
// change the pages of a mapped file.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(size_t size);
  explicit Bytes(std::string_view copied);
  char* data() { return data_.get(); }
  std::string_view view() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }
  const std::shared_ptr<char[]>& owner() const { return data_; }

 private:
  std::shared_ptr<char[]> data_;
  size_t size_ = 0;
};

// Opens a plain file and nothing else. A pipe, a device or a socket is refused, never waited for:
// no descriptor, and errno is kNotPlain. A file that O_CREAT makes has the owner's rights of
// `mode` whatever the umask is.
inline constexpr int kNotPlain = -1;
Descriptor open_plain(int folder, const std::string& path, int flags, unsigned mode = 0600);

// Makes a folder for its owner only, whatever the umask is; false with errno when it cannot be.
bool make_private_folder(int parent, const std::string& name);

// Every name in the folder but "." and "..", sorted; none when it cannot be read.
std::vector<std::string> names_in(int folder);

// Removes the entry of this name: a file, a link (not its target), or a folder with its content.
bool remove_anything(int folder, const std::string& name);

// All of [offset, offset + size); false with errno when it cannot be, 0 when the file is shorter.
bool read_at(int file, char* to, size_t size, size_t offset);
// Writes all bytes. A size limit of the process is an error here, not a signal.
bool write_all(int file, std::string_view bytes);

// An error of the file system: "cannot write /a/b: No space left on device".
class FileError : public Error {
 public:
  FileError(const std::string& message, int code)
      : Error(ErrorKind::runtime, message), code_(code) {}
  int code() const { return code_; }  // an errno, kNotPlain; 0: the file is too short

 private:
  int code_;
};
const char* file_problem(int code);  // "No space left on device", "it is not a plain file"
[[noreturn]] void fail_file(const char* what, const std::string& path, int error);

// The content of a small file, or an Error.
std::string read_file(const std::string& path, size_t limit);

// Writes the parts to a hidden file in the folder, then gives it its name: others see the old file,
// the new one, or none. Nothing is forced to the disk unless `durable`. After a
// FileError nothing is left; a killed process leaves a file whose name begins with kTemporary.
inline constexpr std::string_view kTemporary = ".new-";
enum class Existing : uint8_t { replace, keep };  // keep: false when the name is taken
struct Durable {
  bool value = false;
};
bool write_file(int folder, const std::string& name, std::initializer_list<std::string_view> parts,
                Existing existing = Existing::replace, Durable durable = {});

// For tests: called before every step that changes the disk.
extern void (*before_write_step)(const char* step);
inline void write_step(const char* step) {
  if (before_write_step) before_write_step(step);
}

}  // namespace fg
