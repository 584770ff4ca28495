// Promises of the pool to programs that fork. A child that hangs is ended by an alarm and fails.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/pool.h"
#include "tests/base/child_process.h"

namespace pool = fg::pool;

namespace {

int64_t sum_with_pool(int64_t count) {
  std::atomic<int64_t> sum = 0;
  pool::parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += i;
  });
  return sum;
}

// Whether `threads` different threads were in one call at the same time.
bool really_uses(int threads) {
  std::atomic<int> arrived = 0;
  pool::parallel_for(threads, 1, [&](int64_t, int64_t) {
    ++arrived;
    for (int i = 0; arrived < threads && i < 20'000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  return arrived == threads;
}

class PoolFork : public testing::Test {
 protected:
  void SetUp() override {
    pool::set_num_threads(3);
    sum_with_pool(100);  // the workers exist
  }
  void TearDown() override { pool::set_num_threads(2); }
};

}  // namespace

TEST_F(PoolFork, a_child_gets_a_fresh_pool) {
  EXPECT_EQ(in_forked_child([] {
              if (sum_with_pool(1000) != 499'500) _exit(1);
              if (pool::num_threads() != 3) _exit(2);
              if (!really_uses(3)) _exit(3);
            }),
            0);
  EXPECT_TRUE(really_uses(3)) << "the parent's pool goes on";
}

TEST_F(PoolFork, a_grandchild_gets_one_too) {
  EXPECT_EQ(in_forked_child([] {
              sum_with_pool(100);
              _exit(in_forked_child([] { _exit(really_uses(3) ? 0 : 1); }));
            }),
            0);
}

TEST_F(PoolFork, forking_while_other_threads_use_the_pool_never_hangs) {
  std::atomic<bool> stop = false;
  std::thread users[2];
  for (std::thread& user : users) {
    user = std::thread([&] {
      while (!stop) sum_with_pool(200);
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(in_forked_child([] {
                for (int round = 0; round < 5; ++round) {
                  if (sum_with_pool(1000) != 499'500) _exit(1);
                }
              }),
              0);
  }
  stop = true;
  for (std::thread& user : users) user.join();
}

TEST_F(PoolFork, forking_while_a_body_is_held_never_hangs) {
  std::atomic<bool> entered = false, leave = false;
  std::thread user([&] {
    pool::parallel_for(3, 1, [&](int64_t, int64_t) {
      entered = true;
      while (!leave) std::this_thread::yield();
    });
  });
  while (!entered) std::this_thread::yield();
  EXPECT_EQ(in_forked_child([] { _exit(really_uses(3) ? 0 : 1); }), 0);
  leave = true;
  user.join();
}

namespace {

// Forks once inside a body, on the caller or on a worker; the child returns from the body.
// The child's exit status as its parent sees it; `caught` is that of a child that got an Error.
int fork_inside_body(bool on_caller, int caught) {
  const auto caller = std::this_thread::get_id();
  const pid_t parent = getpid();
  std::atomic<bool> forked = false;
  std::atomic<int> status = -2;
  try {
    pool::parallel_for(3, 1, [&](int64_t, int64_t) {
      if ((std::this_thread::get_id() == caller) != on_caller) {
        while (!forked) std::this_thread::yield();  // leaves a chunk for the right thread
      }
      if (forked.exchange(true)) return;
      pid_t child = fork();
      if (child == 0) {
        alarm(60);
        return;
      }
      int wait_status = 0;
      waitpid(child, &wait_status, 0);
      status = WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : exit_status(wait_status);
    });
  } catch (const fg::Error& e) {
    _exit(getpid() != parent && std::string(e.what()).starts_with("parallel_for: ") ? caught : 1);
  }
  if (getpid() != parent) _exit(2);
  return status;
}

}  // namespace

TEST_F(PoolFork, a_child_forked_inside_a_body_gets_an_error_when_it_returns_from_it) {
  EXPECT_EQ(fork_inside_body(true, 42), 42);
}

TEST_F(PoolFork, a_child_forked_inside_a_body_by_a_worker_ends_and_does_not_hang) {
  EXPECT_EQ(fork_inside_body(false, 42), -SIGABRT);
}

TEST_CHILD_F(PoolFork, exit_during_work) {
  std::thread([] {
    for (;;) sum_with_pool(1000);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  exit(7);
}

TEST_F(PoolFork, a_process_may_exit_while_the_pool_works) {
  for (int i = 0; i < 10; ++i) {
    Outcome outcome = run_child("PoolFork.exit_during_work");
    EXPECT_EQ(outcome.status, 7) << outcome.output;
  }
}
