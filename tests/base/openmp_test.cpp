// Compiled with -fopenmp: a user's OpenMP code beside our pool keeps its own thread count.
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>

#include "base/pool.h"

namespace {

int team_size() {
  int size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  return size;
}

}  // namespace

TEST(OpenMp, a_users_thread_count_is_kept) {
  fg::pool::set_num_threads(2);
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  std::atomic<int64_t> sum = 0;
  fg::pool::parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(omp_get_max_threads(), 3);
  EXPECT_EQ(team_size(), 3);
  omp_set_num_threads(before);
}

TEST(OpenMp, a_users_parallel_region_may_call_us) {
  fg::pool::set_num_threads(2);
  std::atomic<int64_t> sum = 0;
#pragma omp parallel num_threads(3)
  fg::pool::parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 3000);
}
