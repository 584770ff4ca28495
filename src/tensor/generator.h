// Random numbers: counter-based Philox4x32-10 (Salmon et al., 2011) and the state that hands out
// counters. A random op reserves one counter per element; element i is then a pure function of
// (seed, offset + i), so values do not depend on threads, order, or eager against compiled.
//
// The words that element i uses are part of the format: compiled code reproduces it.
//   block  = philox(seed, offset + i): words w0 w1 w2 w3 of Philox4x32-10 with
//            key = {low, high half of seed}, counter = {low, high half of offset + i, 0, 0}
//   uniform, float and narrower: the top 24 (float), 11 (f16), 8 (bf16) bits of w0
//   uniform, double: the top 53 bits of w0 + 2^32 w1
//   integers and 64 random bits: all of w0 + 2^32 w1
//   pair (for Box-Muller), float: radius from the top 31 bits of w0, angle from w1 as uniform
//   pair, double: radius from the top 53 bits of w0 + 2^32 w1, angle from w2 + 2^32 w3 as uniform
// An element that needs more blocks takes draws 1, 2, ... : they are counter words 2 and 3.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "base/counted.h"
#include "tensor/half.h"

namespace fg {

// ---- pure functions: exact integer and IEEE arithmetic only, no libm, the same bits everywhere

using PhiloxBlock = std::array<uint32_t, 4>;

// Ten rounds on words that are the low halves of 64-bit numbers (the high halves may hold anything)
// or of the lanes of a vector of such; `multiply(w, m)` is the 64-bit product of two low halves.
template <class Word, class Multiply>
constexpr std::array<Word, 4> philox_rounds(const std::array<Word, 4>& c,
                                            std::array<uint32_t, 2> key, const Multiply& multiply) {
  Word c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];  // an array would live in memory
#pragma GCC unroll 10
  for (int round = 0; round < 10; round++) {
    uint64_t k0 = key[0], k1 = key[1];
    Word a = multiply(c0, 0xD2511F53u), b = multiply(c2, 0xCD9E8D57u);
    c0 = (b >> 32) ^ c1 ^ k0;
    c1 = b;
    c2 = (a >> 32) ^ c3 ^ k1;
    c3 = a;
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

constexpr PhiloxBlock philox_block(const PhiloxBlock& counter, std::array<uint32_t, 2> key) {
  auto multiply = [](uint64_t word, uint32_t m) {
    return uint64_t{static_cast<uint32_t>(word)} * m;
  };
  auto words =
      philox_rounds<uint64_t>({counter[0], counter[1], counter[2], counter[3]}, key, multiply);
  return {static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1]),
          static_cast<uint32_t>(words[2]), static_cast<uint32_t>(words[3])};
}

constexpr PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t draw = 0) {
  return philox_block({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                       static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32)},
                      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// Words 2 * half and 2 * half + 1 as one number.
constexpr uint64_t random_bits(const PhiloxBlock& block, int half = 0) {
  return block[2 * half] | uint64_t{block[2 * half + 1]} << 32;
}

// The type in which T computes (float for the two half formats) and the bits of [0, 1) in T:
// more bits would be rounded when stored, and rounding could give 1.
template <class T>
struct UniformFormat {
  using Compute = float;
  static constexpr int kBits = 24;
};
template <>
struct UniformFormat<Half> {
  using Compute = float;
  static constexpr int kBits = 11;
};
template <>
struct UniformFormat<BFloat16> {
  using Compute = float;
  static constexpr int kBits = 8;
};
template <>
struct UniformFormat<double> {
  using Compute = double;
  static constexpr int kBits = 53;
};

constexpr float uniform_float(uint32_t word, int bits = 24) {
  return static_cast<float>(static_cast<int32_t>(word >> (32 - bits))) /
         static_cast<float>(1 << bits);
}

constexpr double uniform_double(uint64_t bits) {
  return static_cast<double>(static_cast<int64_t>(bits >> 11)) * 0x1p-53;
}

// Uniform in [0, 1), a multiple of 2^-kBits and exact in T.
template <class T>
constexpr typename UniformFormat<T>::Compute uniform(const PhiloxBlock& block) {
  if constexpr (std::is_same_v<T, double>)
    return uniform_double(random_bits(block));
  else
    return uniform_float(block[0], UniformFormat<T>::kBits);
}

// The numbers of Box-Muller: a normal value is sqrt(-2 log(radius)) * cos(2 pi angle).
template <class C>
struct UniformPair {
  C radius;  // in (0, 1]: its logarithm is finite
  C angle;   // in [0, 1)
};

// The radius of a float has 31 bits, not 24: they decide how far the tail reaches (6.6 sigma).
template <class C>
constexpr UniformPair<C> uniform_pair(const PhiloxBlock& block) {
  if constexpr (std::is_same_v<C, double>) {
    return {uniform_double(random_bits(block)) + 0x1p-53, uniform_double(random_bits(block, 1))};
  } else {
    float radius = static_cast<float>(static_cast<int32_t>(block[0] >> 1));
    return {(radius + 1.0f) * 0x1p-31f, uniform_float(block[1])};
  }
}

// Uniform in [low, high), which must not be empty. Multiply-high instead of modulo: no value is
// likelier than another by more than (high - low) / 2^64.
constexpr int64_t uniform_integer(const PhiloxBlock& block, int64_t low, int64_t high) {
  uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  uint64_t step =
      static_cast<uint64_t>(static_cast<unsigned __int128>(random_bits(block)) * range >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + step);
}

// ---- the state

// The start of a random op: element i draws philox(seed, offset + i).
struct PhiloxKey {
  uint64_t seed, offset;
  friend bool operator==(const PhiloxKey&, const PhiloxKey&) = default;
};

// A handle: copies share one state. Thread-safe; a forked child continues from the parent's state.
class Generator {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's

  explicit Generator(uint64_t seed = kDefaultSeed);
  Generator clone() const;  // a state of its own, equal now

  void manual_seed(uint64_t seed) const;  // restarts at offset 0
  uint64_t seed() const;                  // takes a nondeterministic seed and returns it
  uint64_t current_seed() const;

  uint64_t get_offset() const;
  void set_offset(uint64_t offset) const;
  PhiloxKey get_state() const;
  void set_state(PhiloxKey state) const;

  // Takes the next `numbers` counters; no other call gets any of them.
  PhiloxKey reserve(uint64_t numbers) const;

  friend bool operator==(const Generator&, const Generator&) = default;  // the same state

 private:
  struct State : Counted {
    PhiloxKey key{};
    static void destroy(State* state) { delete state; }
  };
  Ref<State> state_;
};

// While alive on this thread, the state of a generator can be neither read nor set: a function is
// captured, whose numbers are drawn later.
class FrozenGenerators {
 public:
  FrozenGenerators();
  ~FrozenGenerators();
  FrozenGenerators(const FrozenGenerators&) = delete;
  FrozenGenerators& operator=(const FrozenGenerators&) = delete;
};

// While alive on this thread, every generator hands out the numbers from `key` on and stays as it
// is: so a captured function draws again the numbers that were reserved for it.
class ReplayedNumbers {
 public:
  explicit ReplayedNumbers(PhiloxKey key);
  ~ReplayedNumbers();
  ReplayedNumbers(const ReplayedNumbers&) = delete;
  ReplayedNumbers& operator=(const ReplayedNumbers&) = delete;

 private:
  PhiloxKey key_;
  PhiloxKey* outer_;
};

// The process's own generator, nondeterministic until seeded.
const Generator& default_generator();
void manual_seed(uint64_t seed);
uint64_t nondeterministic_seed();

}  // namespace fg
