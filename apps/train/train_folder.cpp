#include "apps/train/train_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/fail.h"

namespace fg::apps {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_folder(const std::string& path, const std::string& why) {
  fail("train: the folder {} cannot be written to: {}; choose another with --out", path, why);
}

// Removes files that were being written when a training was killed.
void remove_leftovers(const std::string& path) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path, none)) {
    std::string name = entry.path().filename();
    if (name.starts_with("checkpoint.safetensors.") && name.ends_with(".tmp")) {
      fs::remove(entry.path(), none);
    }
  }
}

volatile std::sig_atomic_t stopped_by = 0;

void note_signal(int signal) { stopped_by = signal; }

}  // namespace

TrainFolder::TrainFolder(std::string path) : path_(std::move(path)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail_folder(path_, error.message());
  lock_ = Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_ || access(path_.c_str(), W_OK | X_OK) != 0) fail_folder(path_, std::strerror(errno));
  if (flock(lock_.number(), LOCK_EX | LOCK_NB) != 0) {
    fail("train: another training writes to the folder {}; choose another with --out", path_);
  }
  remove_leftovers(path_);
}

void TrainFolder::write(const std::string& name, const std::string& text) const {
  AtomicFile to(file(name));
  to.write(text.data(), text.size());
  to.commit();
}

StopSignals::StopSignals() {
  stopped_by = 0;
  struct sigaction action{};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

StopSignals::~StopSignals() {
  for (int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

int StopSignals::caught() { return stopped_by; }

}  // namespace fg::apps
