#include "tensor/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"

namespace fg {
namespace {

#ifdef FOREGRAD_SANITIZE
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;

// Each test starts with nothing kept and the default limit.
class AllocatorTest : public testing::Test {
 protected:
  void SetUp() override {
    set_memory_limit(size_t{1} << 30);
    release_kept_memory();
    before_ = memory_stats();
  }
  int64_t live() const { return memory_stats().live_bytes - before_.live_bytes; }
  int64_t fresh() const { return memory_stats().blocks_from_system - before_.blocks_from_system; }
  int64_t reused() const { return memory_stats().blocks_reused - before_.blocks_reused; }
  static int64_t kept() { return memory_stats().kept_bytes; }

  MemoryStats before_;
};

TEST_F(AllocatorTest, blocks_are_aligned_and_writable_to_the_last_byte) {
  for (size_t bytes : {size_t{0}, size_t{1}, kKiB, kKiB + 1, 100 * kKiB, 256 * kKiB, 256 * kKiB + 1,
                       2 * kMiB, 3 * kMiB - 7, 64 * kMiB, 64 * kMiB + 1}) {
    char* block = static_cast<char*>(allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
    std::memset(block, 7, bytes);
    deallocate(block, bytes);
  }
  EXPECT_EQ(live(), 0);
}

TEST_F(AllocatorTest, rounding_wastes_at_most_a_quarter_and_above_64_mebibytes_a_thousandth) {
  for (size_t bytes = kKiB + 1; bytes < 200 * kMiB; bytes += bytes / 7 + 1) {
    void* block = allocate(bytes);
    double taken = static_cast<double>(live());
    EXPECT_GE(taken, static_cast<double>(bytes));
    EXPECT_LE(taken, bytes > 64 * kMiB ? static_cast<double>(bytes + 65535) : 1.25 * bytes)
        << bytes;
    deallocate(block, bytes);
    release_kept_memory();
  }
}

TEST_F(AllocatorTest, freed_blocks_serve_requests_of_their_class) {
  if (!kKeeps) GTEST_SKIP() << "sanitizers see every block";
  void* first = allocate(4 * kMiB);
  deallocate(first, 4 * kMiB);
  EXPECT_EQ(kept(), int64_t{4 * kMiB});
  void* second = allocate(4 * kMiB - 1000);
  EXPECT_EQ(second, first);
  EXPECT_EQ(kept(), 0);
  EXPECT_EQ(fresh(), 1);
  EXPECT_EQ(reused(), 1);
  void* third = allocate(5 * kMiB);
  EXPECT_NE(third, first);
  EXPECT_EQ(fresh(), 2);
  deallocate(second, 4 * kMiB - 1000);
  deallocate(third, 5 * kMiB);
}

TEST_F(AllocatorTest, large_blocks_serve_only_their_own_size) {
  if (!kKeeps) GTEST_SKIP() << "sanitizers see every block";
  void* a = allocate(70 * kMiB);
  void* b = allocate(80 * kMiB);
  deallocate(a, 70 * kMiB);
  deallocate(b, 80 * kMiB);
  EXPECT_EQ(allocate(70 * kMiB), a);
  EXPECT_EQ(allocate(80 * kMiB), b);
  deallocate(a, 70 * kMiB);
  void* c = allocate(70 * kMiB - 70000);
  EXPECT_EQ(fresh(), 3);
  deallocate(b, 80 * kMiB);
  deallocate(c, 70 * kMiB - 70000);
}

TEST_F(AllocatorTest, the_oldest_blocks_go_when_the_limit_is_passed) {
  if (!kKeeps) GTEST_SKIP() << "sanitizers see every block";
  set_memory_limit(3 * kMiB);
  EXPECT_EQ(memory_stats().limit, int64_t{3 * kMiB});
  std::vector<void*> blocks;
  for (int i = 0; i < 4; i++) blocks.push_back(allocate(kMiB));
  for (void* block : blocks) deallocate(block, kMiB);
  EXPECT_EQ(kept(), int64_t{3 * kMiB});
  EXPECT_EQ(allocate(kMiB), blocks[3]);
  EXPECT_EQ(allocate(kMiB), blocks[2]);
  EXPECT_EQ(allocate(kMiB), blocks[1]);
  EXPECT_EQ(kept(), 0);
  for (int i = 1; i < 4; i++) deallocate(blocks[i], kMiB);
  void* big = allocate(4 * kMiB);  // alone over the limit: it must not push out the others
  deallocate(big, 4 * kMiB);
  EXPECT_EQ(kept(), int64_t{3 * kMiB});
}

TEST_F(AllocatorTest, a_lower_limit_trims_at_once) {
  std::vector<void*> blocks;
  for (int i = 0; i < 8; i++) blocks.push_back(allocate(kMiB));
  for (void* block : blocks) deallocate(block, kMiB);
  EXPECT_EQ(kept(), kKeeps ? int64_t{8 * kMiB} : 0);
  set_memory_limit(2 * kMiB);
  EXPECT_EQ(kept(), kKeeps ? int64_t{2 * kMiB} : 0);
  set_memory_limit(0);
  EXPECT_EQ(kept(), 0);
  deallocate(allocate(kMiB), kMiB);
  EXPECT_EQ(kept(), 0);
}

TEST_F(AllocatorTest, statistics_follow_live_and_peak_bytes) {
  reset_peak_memory();
  void* a = allocate(2 * kMiB);
  void* b = allocate(kMiB);
  EXPECT_EQ(live(), int64_t{3 * kMiB});
  deallocate(a, 2 * kMiB);
  EXPECT_EQ(live(), int64_t{kMiB});
  EXPECT_EQ(memory_stats().peak_live_bytes - before_.live_bytes, int64_t{3 * kMiB});
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak_live_bytes - before_.live_bytes, int64_t{kMiB});
  deallocate(b, kMiB);
  release_kept_memory();
  EXPECT_EQ(kept(), 0);
  EXPECT_EQ(live(), 0);
}

std::string message_of_failure(void* (*function)(size_t), size_t bytes) {
  try {
    function(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    return error.what();
  }
  return "no error";
}

TEST_F(AllocatorTest, impossible_sizes_are_errors_that_name_the_size) {
  deallocate(allocate(kMiB), kMiB);
  for (auto* function : {&allocate, &small_allocate}) {
    std::string message = message_of_failure(function, PTRDIFF_MAX);
    EXPECT_EQ(message.find("allocating 8.0 EiB (9223372036854775807 bytes) failed: "), 0u)
        << message;
    message = message_of_failure(function, SIZE_MAX);
    EXPECT_EQ(message.find("allocating 16.0 EiB (18446744073709551615 bytes) failed: "), 0u)
        << message;
  }
  EXPECT_EQ(live(), 0);
}

TEST_F(AllocatorTest, kept_blocks_are_released_before_an_allocation_fails) {
  deallocate(allocate(kMiB), kMiB);
  message_of_failure(&allocate, (size_t{1} << 62) + 1);
  if (kKeeps) {
    EXPECT_EQ(kept(), 0);
  }
}

TEST_F(AllocatorTest, null_is_ignored) {
  deallocate(nullptr, 5000);
  small_deallocate(nullptr);
  EXPECT_EQ(live(), 0);
}

TEST_F(AllocatorTest, small_objects_are_aligned_as_by_malloc) {
  for (size_t bytes : {0, 1, 17, 100, 1024, 5000}) {
    void* block = small_allocate(bytes);
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (bytes < 16 ? 8 : 16), 0u) << bytes;
    std::memset(block, 1, bytes);
    small_deallocate(block);
  }
}

struct Block {
  unsigned char* data;
  size_t bytes;
};

// Every block carries a mark; a block given out twice loses one of its marks.
void churn(unsigned seed, std::atomic<int>& damaged) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int step = 0; step < 3000; step++) {
    if (blocks.size() < 20 || random() % 2) {
      size_t bytes = kKiB + 1 + random() % (random() % 8 ? 20 * kKiB : 2 * kMiB);
      auto* data = static_cast<unsigned char*>(allocate(bytes));
      data[0] = data[bytes / 2] = data[bytes - 1] = static_cast<unsigned char>(seed);
      blocks.push_back({data, bytes});
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      auto [data, bytes] = blocks.back();
      for (size_t i : {size_t{0}, bytes / 2, bytes - 1}) damaged += data[i] != seed;
      deallocate(data, bytes);
      blocks.pop_back();
    }
  }
  for (auto [data, bytes] : blocks) deallocate(data, bytes);
}

TEST_F(AllocatorTest, threads_never_share_a_block) {
  set_memory_limit(8 * kMiB);  // so that trimming takes part
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; seed++) threads.emplace_back(churn, seed, std::ref(damaged));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(live(), 0);
  EXPECT_LE(kept(), int64_t{8 * kMiB});
}

TEST_F(AllocatorTest, a_forked_child_allocates_while_the_parent_has_busy_threads) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) {
    threads.emplace_back([&] {
      while (!stop) deallocate(allocate(5000), 5000);
    });
  }
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a deadlock ends as a signal
      deallocate(allocate(5000), 5000);
      release_kept_memory();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fg
