#include "codegen/llvm/linker_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/digest.h"
#include "base/fail.h"

namespace fg::codegen {

// Takes everything out of a pipe while another thread fills it. The end is a mark and not the
// closing of the pipe: a process that was forked meanwhile has it open too.
class PipeReader {
 public:
  PipeReader(int from, int to) : from_(from), to_(to) {
    bytes_.reserve(kBlock);
    sigset_t all, before;  // signals of the program go to its own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { read_all(); });
    } catch (const std::system_error& error) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      fail("codegen: no thread can be started for linking: {}", error.code().message());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~PipeReader() { stop(); }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  std::string finish() {
    stop();
    if (failed_) fail(ErrorKind::memory, "codegen: there is no memory for the linked code");
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kBlock = 65536;

  void stop() {
    if (!thread_.joinable()) return;
    write_all(to_, raw_bytes(mark_));
    thread_.join();
  }
  void read_all() {
    std::array<char, kBlock> block;
    while (!bytes_.ends_with(raw_bytes(mark_))) {
      ssize_t count = read(from_, block.data(), block.size());
      if (count <= 0) continue;  // interrupted: both ends are open
      try {
        bytes_.append(block.data(), static_cast<size_t>(count));
      } catch (const std::bad_alloc&) {
        failed_ = true;
        bytes_.clear();  // there is room for a block, which may end with the mark
        bytes_.append(block.data(), static_cast<size_t>(count));
      }
    }
    bytes_.resize(bytes_.size() - mark_.size());
  }

  int from_, to_;
  SecretKey mark_ = random_key();
  std::string bytes_;
  bool failed_ = false;
  std::thread thread_;
};

LinkerFiles::LinkerFiles(std::string_view object) {
  if (!put_into_memory(object)) put_into_folder(object);
  reader_ = std::make_unique<PipeReader>(read_end_.number(), write_end_.number());
}

LinkerFiles::~LinkerFiles() = default;

bool LinkerFiles::put_into_memory(std::string_view object) {
  input_ = Descriptor(memfd_create("foregrad-kernels", MFD_CLOEXEC));
  if (!input_ || !write_all(input_.number(), object)) return false;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return false;
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  from_ = fmt::format("/proc/self/fd/{}", input_.number());
  to_ = fmt::format("/proc/self/fd/{}", write_end_.number());
  return access(to_.c_str(), W_OK) == 0;
}

void LinkerFiles::put_into_folder(std::string_view object) {
  constexpr const char *kFrom = "kernels.o", *kTo = "kernels.so";
  auto check = [](bool well) {
    if (well) return;
    fail("codegen: linking needs a file in {}: {}; set TMPDIR to a folder that can be written to",
         temporary_folder(), std::strerror(errno));
  };
  folder_ = std::make_unique<Scratch>();
  check(bool(*folder_));
  input_ = open_plain(folder_->number(), kFrom, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  check(input_ && write_all(input_.number(), object));
  check(mkfifoat(folder_->number(), kTo, 0600) == 0);
  check(fchmodat(folder_->number(), kTo, 0600, 0) == 0);   // whatever the umask is
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;  // does not wait for the other end
  read_end_ = Descriptor(openat(folder_->number(), kTo, kFlags));
  write_end_ = Descriptor(openat(folder_->number(), kTo, kFlags));
  check(read_end_ && write_end_);
  from_ = folder_->path(kFrom);
  to_ = folder_->path(kTo);
}

std::string LinkerFiles::written() { return reader_->finish(); }

}  // namespace fg::codegen
