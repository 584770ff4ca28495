#include "tensor/generator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace fg {
namespace {

constexpr PhiloxBlock filled(uint32_t word) { return {word, word, word, word}; }

// The known answers of Random123, Philox4x32 with 10 rounds.
TEST(PhiloxTest, gives_the_known_answers) {
  static_assert(philox_block(filled(0), {0, 0}) ==
                PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  EXPECT_EQ(philox_block(filled(0xffffffff), {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, seed_counter_and_draw_take_the_documented_words) {
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(philox(7, 9), philox_block({9, 0, 0, 0}, {7, 0}));
  EXPECT_EQ(philox(0, 0), philox_block(filled(0), {0, 0}));
}

TEST(PhiloxTest, lanes_of_a_vector_give_the_blocks_of_their_counters) {
  using Words = uint64_t __attribute__((vector_size(32)));
  auto multiply = [](Words words, uint32_t m) { return (words & 0xffffffffu) * uint64_t{m}; };
  uint64_t seed = 0x123456789abcdef0, first = 0xfffffffe;  // the counters pass 2^32
  Words counters = Words{0, 1, 2, 3} + first;
  auto words = philox_rounds<Words>({counters, counters >> 32, Words{}, Words{}},
                                    {0x9abcdef0, 0x12345678}, multiply);
  for (int lane = 0; lane < 4; lane++) {
    PhiloxBlock block = philox(seed, first + lane);
    for (int i = 0; i < 4; i++) EXPECT_EQ(static_cast<uint32_t>(words[i][lane]), block[i]);
  }
}

TEST(PhiloxTest, values_use_the_documented_words) {
  PhiloxBlock block = {0x80000001, 0x40000000, 0xffffffff, 0x20000000};
  EXPECT_EQ(random_bits(block), 0x4000000080000001u);
  EXPECT_EQ(random_bits(block, 1), 0x20000000ffffffffu);
  EXPECT_EQ(uniform<float>(block), 0.5f);
  EXPECT_EQ(uniform<Half>(block), 0.5f);
  EXPECT_EQ(uniform<double>(block), 0.25 + 0x100000 * 0x1p-53);
  EXPECT_EQ(uniform_pair<float>(block).radius, 0.5f);  // 2^-31 more is rounded away
  EXPECT_EQ(uniform_pair<float>(block).angle, 0.25f);
  EXPECT_EQ(uniform_pair<double>(block).radius, 0.25 + 0x100001 * 0x1p-53);
  EXPECT_EQ(uniform_pair<double>(block).angle, 0.125 + 0x1fffff * 0x1p-53);
  EXPECT_EQ(uniform_integer(block, 0, 8), 2);
  EXPECT_EQ(uniform_integer(block, -4, 4), -2);
}

TEST(PhiloxTest, uniform_stays_below_one_in_every_format) {
  PhiloxBlock most = filled(0xffffffff), least = filled(0);
  EXPECT_EQ(uniform<float>(most), 1 - 0x1p-24f);
  EXPECT_EQ(uniform<double>(most), 1 - 0x1p-53);
  EXPECT_LT(static_cast<float>(Half(uniform<Half>(most))), 1.0f);
  EXPECT_LT(static_cast<float>(BFloat16(uniform<BFloat16>(most))), 1.0f);
  EXPECT_EQ(uniform<float>(least), 0.0f);
  EXPECT_EQ(uniform<double>(least), 0.0);
}

TEST(PhiloxTest, the_radius_of_a_pair_has_a_finite_logarithm) {
  PhiloxBlock most = filled(0xffffffff), least = filled(0);
  EXPECT_EQ(uniform_pair<float>(least).radius, 0x1p-31f);
  EXPECT_EQ(uniform_pair<float>(most).radius, 1.0f);
  EXPECT_LT(uniform_pair<float>(most).angle, 1.0f);
  EXPECT_EQ(uniform_pair<double>(least).radius, 0x1p-53);
  EXPECT_EQ(uniform_pair<double>(most).radius, 1.0);
}

TEST(PhiloxTest, integers_cover_their_range_and_nothing_else) {
  std::vector<int> counts(10);
  for (uint64_t i = 0; i < 100000; i++) {
    int64_t value = uniform_integer(philox(1, i), -3, 7);
    ASSERT_TRUE(value >= -3 && value < 7);
    counts[value + 3]++;
  }
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);  // four standard deviations
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(),
                    kHigh = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(uniform_integer(filled(0), kLow, kHigh), kLow);
  EXPECT_EQ(uniform_integer(filled(0xffffffff), kLow, kHigh), kHigh - 1);
  EXPECT_EQ(uniform_integer(philox(1, 2), 5, 6), 5);
}

struct Moments {
  double mean = 0, variance = 0, fourth = 0, correlation = 0;
};

template <class F>
Moments moments(const F& value) {
  constexpr int kCount = 200000;
  Moments m;
  double previous = 0;
  for (int i = 0; i < kCount; i++) {
    double x = value(philox(42, i));
    m.mean += x / kCount;
    m.variance += x * x / kCount;
    m.fourth += x * x * x * x / kCount;
    m.correlation += x * previous / kCount;
    previous = x;
  }
  m.correlation = (m.correlation - m.mean * m.mean) / (m.variance - m.mean * m.mean);
  m.variance -= m.mean * m.mean;
  return m;
}

template <class C>
double normal(const PhiloxBlock& block) {
  auto [radius, angle] = uniform_pair<C>(block);
  return std::sqrt(-2 * std::log(radius)) * std::cos(2 * M_PI * angle);
}

TEST(PhiloxTest, uniform_has_the_moments_of_a_uniform_distribution) {
  for (Moments m : {moments(uniform<float>), moments(uniform<double>), moments(uniform<Half>)}) {
    EXPECT_NEAR(m.mean, 0.5, 0.003);
    EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
    EXPECT_NEAR(m.fourth, 0.2, 0.003);
    EXPECT_NEAR(m.correlation, 0, 0.01);
  }
}

TEST(PhiloxTest, pairs_give_normal_values_by_box_muller) {
  for (Moments m : {moments(normal<float>), moments(normal<double>)}) {
    EXPECT_NEAR(m.mean, 0, 0.01);
    EXPECT_NEAR(m.variance, 1, 0.015);
    EXPECT_NEAR(m.fourth, 3, 0.15);
    EXPECT_NEAR(m.correlation, 0, 0.01);
  }
}

TEST(PhiloxTest, every_bit_is_set_half_of_the_time) {
  constexpr int kCount = 20000;
  std::array<int, 128> set{};
  for (int i = 0; i < kCount; i++) {
    PhiloxBlock block = philox(3, i);
    for (int bit = 0; bit < 128; bit++) set[bit] += block[bit / 32] >> (bit % 32) & 1;
  }
  for (int count : set) EXPECT_NEAR(count, kCount / 2, 350);  // five standard deviations
}

TEST(PhiloxTest, elements_do_not_depend_on_order_or_on_how_a_range_is_reserved) {
  Generator whole(5), parts(5);
  PhiloxKey key = whole.reserve(100);
  std::vector<float> forwards(100), backwards(100), in_parts;
  for (int i = 0; i < 100; i++) forwards[i] = uniform<float>(philox(key.seed, key.offset + i));
  for (int i = 99; i >= 0; i--) backwards[i] = uniform<float>(philox(key.seed, key.offset + i));
  for (int size : {30, 1, 69}) {
    PhiloxKey part = parts.reserve(size);
    for (int i = 0; i < size; i++) {
      in_parts.push_back(uniform<float>(philox(part.seed, part.offset + i)));
    }
  }
  EXPECT_EQ(forwards, backwards);
  EXPECT_EQ(forwards, in_parts);
  EXPECT_EQ(whole.get_state(), parts.get_state());
}

TEST(GeneratorTest, reserving_advances_the_offset) {
  Generator generator(11);
  EXPECT_EQ(generator.reserve(10), (PhiloxKey{11, 0}));
  EXPECT_EQ(generator.reserve(0), (PhiloxKey{11, 10}));
  EXPECT_EQ(generator.reserve(1), (PhiloxKey{11, 10}));
  EXPECT_EQ(generator.get_offset(), 11u);
}

TEST(GeneratorTest, copies_share_a_state_and_clones_do_not) {
  Generator generator(11), copy = generator, clone = generator.clone();
  EXPECT_EQ(copy, generator);
  EXPECT_FALSE(clone == generator);
  copy.reserve(5);
  EXPECT_EQ(generator.get_offset(), 5u);
  EXPECT_EQ(clone.get_state(), (PhiloxKey{11, 0}));
}

TEST(GeneratorTest, states_can_be_saved_and_restored) {
  Generator generator;
  EXPECT_EQ(generator.current_seed(), Generator::kDefaultSeed);
  generator.reserve(17);
  PhiloxKey saved = generator.get_state(), next = generator.reserve(3);
  generator.manual_seed(1);
  EXPECT_EQ(generator.get_state(), (PhiloxKey{1, 0}));
  generator.set_offset(9);
  EXPECT_EQ(generator.get_state(), (PhiloxKey{1, 9}));
  generator.set_state(saved);
  EXPECT_EQ(generator.reserve(3), next);
}

TEST(GeneratorTest, seeding_without_a_seed_is_nondeterministic) {
  Generator generator;
  uint64_t first = generator.seed(), second = generator.seed();
  EXPECT_NE(first, second);
  EXPECT_EQ(generator.current_seed(), second);
  EXPECT_EQ(generator.get_offset(), 0u);
}

TEST(GeneratorTest, the_default_generator_is_one_for_the_process) {
  manual_seed(123);
  EXPECT_EQ(default_generator().reserve(4), (PhiloxKey{123, 0}));
  Generator handle = default_generator();
  EXPECT_EQ(handle.get_offset(), 4u);
}

TEST(GeneratorTest, threads_never_reserve_the_same_counter) {
  constexpr int kThreads = 4, kRanges = 2000;
  Generator generator(1);
  std::vector<std::vector<uint64_t>> starts(kThreads);
  std::vector<std::thread> threads;
  for (auto& list : starts) {
    threads.emplace_back([&list, generator] {
      for (int i = 0; i < kRanges; i++) list.push_back(generator.reserve(3).offset);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (auto& list : starts) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); i++) ASSERT_EQ(all[i], 3 * i);
}

TEST(GeneratorTest, a_forked_child_draws_on_from_the_state_of_its_parent) {
  Generator generator(8);
  generator.reserve(21);
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop) default_generator().reserve(1);
  });
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a deadlock ends as a signal
      _exit(generator.reserve(2) == PhiloxKey{8, 21} ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
  EXPECT_EQ(generator.get_offset(), 21u);
}

}  // namespace
}  // namespace fg
