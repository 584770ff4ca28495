#include "cache/turn.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/interrupt.h"
#include "cache/folder.h"
#include "cache/store_files.h"

namespace fg::cache {
namespace {

// The locks that this process holds. A forked child has copies of their files, which would keep
// them locked should the parent be killed: the child closes its copies first thing.
constexpr int kSlots = 256;
std::atomic<int> held[kSlots];  // descriptor + 1, or 0

void close_in_child() {
  for (std::atomic<int>& slot : held) {
    if (int file = slot.exchange(0)) close(file - 1);
  }
}

int keep(int file) {
  static const bool ready = pthread_atfork(nullptr, nullptr, close_in_child) == 0;
  for (int i = 0; ready && i < kSlots; i++) {
    int free = 0;
    if (held[i].compare_exchange_strong(free, file + 1)) return i;
  }
  return -1;
}

// A lock counts only on the file that has the name: the process before us removed its own file.
bool still_named(int folder, const std::string& name, int file) {
  struct stat named, opened;
  return fstatat(folder, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         fstat(file, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

using Clock = std::chrono::steady_clock;

}  // namespace

Turn::Turn(Turn&& other) noexcept { *this = std::move(other); }

Turn& Turn::operator=(Turn&& other) noexcept {
  give_up();
  file_ = std::move(other.file_);
  folder_ = std::move(other.folder_);
  name_ = std::move(other.name_);
  slot_ = std::exchange(other.slot_, -1);
  state_ = std::exchange(other.state_, State::alone);
  waited_ = other.waited_;
  return *this;
}

Turn::~Turn() { give_up(); }

void Turn::give_up() {
  if (slot_ < 0) return;
  int mine = file_.number() + 1;
  bool ours = held[slot_].compare_exchange_strong(mine, 0);
  slot_ = -1;
  if (!ours) {  // this is a forked child: the lock is the parent's, the file is closed
    file_.release();
    return;
  }
  unlinkat(folder_.number(), name_.c_str(), 0);
  flock(file_.number(), LOCK_UN);  // not only closed: children may have a copy for a moment
  file_ = Descriptor();
}

Turn take_turn(int root, const Digest& key, double seconds) {
  Turn turn;
  turn.folder_ = open_inside(root, kLocks, true);
  turn.name_ = hex(key);
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  auto pause = std::chrono::microseconds(500);
  for (;;) {
    Descriptor file = open_own_file(turn.folder_.number(), turn.name_, O_RDWR | O_CREAT);
    if (!file) fail_file("open", turn.name_, errno);
    if (flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      if (!still_named(turn.folder_.number(), turn.name_, file.number())) continue;
      turn.slot_ = keep(file.number());
      turn.file_ = std::move(file);
      if (turn.slot_ >= 0) turn.state_ = Turn::State::mine;
      return turn;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) fail_file("lock", turn.name_, errno);
    if (Clock::now() >= end) return turn;
    turn.waited_ = true;
    poll_interrupt();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20000));
  }
}

}  // namespace fg::cache
