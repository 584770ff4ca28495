// BlockedSignal: for a scope, keeps a signal that a call of this thread may raise from the program,
// since the error of the call says the same.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>

namespace fg {

class BlockedSignal {
 public:
  explicit BlockedSignal(int signal) {
    sigemptyset(&blocked_);
    sigaddset(&blocked_, signal);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
    pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  ~BlockedSignal() {
    int error = errno;
    timespec now{};
    if (!was_pending_) sigtimedwait(&blocked_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

 private:
  sigset_t blocked_, before_;
  bool was_pending_;
};

}  // namespace fg
