#include "base/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"

namespace pool = fg::pool;

namespace {

class Pool : public testing::Test {
 protected:
  void SetUp() override { pool::set_num_threads(4); }
  void TearDown() override {
    pool::force_grain(0);
    pool::set_num_threads(2);
  }
};

struct Ranges {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> list;
  void add(int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    list.emplace_back(begin, end);
  }
};

std::vector<int> visits(int64_t count, int64_t grain) {
  std::vector<int> seen(count);
  pool::parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[i];
  });
  return seen;
}

// Keeps a body busy until another thread is in it too, so that two threads really take part.
void meet(std::atomic<int>& arrived, int expected) {
  ++arrived;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (arrived < expected && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
}

}  // namespace

TEST_F(Pool, every_index_is_visited_once_whatever_the_split) {
  for (int threads : {1, 2, 3, 7}) {
    pool::set_num_threads(threads);
    for (int64_t count : {0, 1, 2, 3, 17, 1000, 100'003}) {
      for (int64_t grain : {1, 7, 512}) {
        EXPECT_EQ(visits(count, grain), std::vector<int>(count, 1)) << threads << " " << count;
      }
    }
  }
}

TEST_F(Pool, ranges_hold_at_least_one_grain) {
  Ranges ranges;
  pool::parallel_for(1000, 300, [&](int64_t begin, int64_t end) { ranges.add(begin, end); });
  EXPECT_EQ(ranges.list.size(), 3);
  for (auto [begin, end] : ranges.list) EXPECT_GE(end - begin, 300);
}

TEST_F(Pool, each_thread_begins_at_a_place_of_its_own) {
  pool::set_num_threads(2);
  std::map<std::thread::id, int64_t> first;
  for (int i = 0; i < 5; ++i) {  // the last counts: workers of earlier tests may wake up late
    std::atomic<int> arrived = 0;
    std::mutex mutex;
    first.clear();
    pool::parallel_for(80, 10, [&](int64_t begin, int64_t) {
      {
        std::lock_guard lock(mutex);
        first.try_emplace(std::this_thread::get_id(), begin);
      }
      meet(arrived, 2);
    });
  }
  ASSERT_EQ(first.size(), 2);
  EXPECT_EQ(first.extract(std::this_thread::get_id()).mapped(), 0);
  EXPECT_EQ(first.begin()->second, 40);
}

TEST_F(Pool, a_negative_or_zero_count_is_no_work) {
  pool::parallel_for(-5, 1, [](int64_t, int64_t) { FAIL(); });
  pool::force_grain(1);
  pool::parallel_for(0, 1, [](int64_t, int64_t) { FAIL(); });
  pool::parallel_for(-5, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST_F(Pool, a_grain_of_zero_is_one) { EXPECT_EQ(visits(100, 0), std::vector<int>(100, 1)); }

TEST_F(Pool, threads_really_share_the_work) {
  std::atomic<int> arrived = 0;
  pool::parallel_for(4, 1, [&](int64_t, int64_t) { meet(arrived, 4); });
  EXPECT_EQ(arrived, 4);
}

TEST_F(Pool, small_work_stays_on_the_caller) {
  auto self = std::this_thread::get_id();
  pool::parallel_for(512, 512, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(end - begin, 512);
  });
}

TEST_F(Pool, a_forced_grain_splits_even_small_work) {
  pool::force_grain(1);
  Ranges ranges;
  pool::parallel_for(3, 1'000'000, [&](int64_t begin, int64_t end) { ranges.add(begin, end); });
  EXPECT_EQ(ranges.list.size(), 3);
}

TEST_F(Pool, more_threads_than_cores_are_allowed) {
  pool::set_num_threads(9);
  EXPECT_EQ(pool::num_threads(), 9);
  std::atomic<int> arrived = 0;
  pool::parallel_for(9, 1, [&](int64_t, int64_t) { meet(arrived, 9); });
  EXPECT_EQ(arrived, 9);
}

TEST_F(Pool, fewer_threads_again_leave_the_others_asleep) {
  pool::set_num_threads(6);
  visits(1000, 1);
  pool::set_num_threads(1);
  auto self = std::this_thread::get_id();
  pool::parallel_for(1000, 1,
                     [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
}

TEST_F(Pool, a_bad_thread_count_is_an_error) {
  EXPECT_THROW(pool::set_num_threads(0), fg::Error);
  EXPECT_THROW(pool::set_num_threads(-1), fg::Error);
  try {
    pool::set_num_threads(5000);
    FAIL();
  } catch (const fg::Error& e) {
    EXPECT_STREQ(e.what(), "set_num_threads: got 5000; expected 1 to 1024");
  }
  EXPECT_EQ(pool::num_threads(), 4);
}

TEST_F(Pool, a_call_from_inside_a_body_runs_inline) {
  std::atomic<int64_t> sum = 0;
  pool::parallel_for(8, 1, [&](int64_t begin, int64_t end) {
    auto self = std::this_thread::get_id();
    pool::parallel_for(100, 1, [&](int64_t b, int64_t e) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      sum += (e - b) * (end - begin);
    });
  });
  EXPECT_EQ(sum, 800);
}

TEST_F(Pool, several_users_threads_may_call_at_once) {
  std::vector<std::thread> users;
  std::atomic<int64_t> sum = 0;
  for (int user = 0; user < 5; ++user) {
    users.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        pool::parallel_for(64, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(sum, 5 * 300 * 64);
}

TEST_F(Pool, an_exception_of_a_body_reaches_the_caller) {
  for (int64_t bad : {0, 37, 99}) {
    try {
      pool::parallel_for(100, 1, [&](int64_t begin, int64_t end) {
        if (begin <= bad && bad < end) throw std::out_of_range("index " + std::to_string(bad));
      });
      FAIL();
    } catch (const std::out_of_range& e) {
      EXPECT_EQ(e.what(), "index " + std::to_string(bad));
    }
    EXPECT_EQ(visits(1000, 1), std::vector<int>(1000, 1)) << "the pool works on";
  }
}

TEST_F(Pool, exceptions_of_all_threads_become_one) {
  std::atomic<int> arrived = 0;
  auto body = [&](int64_t, int64_t) {
    meet(arrived, 4);
    throw std::runtime_error("each");
  };
  EXPECT_THROW(pool::parallel_for(4, 1, body), std::runtime_error);
}

TEST_F(Pool, what_bodies_wrote_is_seen_by_the_caller) {
  std::vector<int64_t> data(10'000);
  for (int round = 1; round <= 200; ++round) {
    pool::parallel_for(10'000, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) data[i] += i;
    });
    ASSERT_EQ(data[9'999], 9'999 * round);
    ASSERT_EQ(data[5'000], 5'000 * round);
  }
}
