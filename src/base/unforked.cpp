#include "base/unforked.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace fg {
namespace {

std::atomic<int> inside = 0, forking = 0;
thread_local int inside_here = 0;

void wait() { usleep(100); }

void before_fork() {
  forking++;
  while (inside > inside_here) wait();
}
void after_fork_in_parent() { forking--; }
void after_fork_in_child() {
  forking = 0;
  inside = inside_here;  // the other threads are gone
}

}  // namespace

Unforked::Unforked() {
  static const bool ready =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  (void)ready;
  inside++;
  while (forking > 0 && inside_here == 0) {
    inside--;
    wait();
    inside++;
  }
  inside_here++;
}

Unforked::~Unforked() {
  inside_here--;
  inside--;
}

}  // namespace fg
