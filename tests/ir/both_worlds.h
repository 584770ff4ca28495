// Evaluates a formula as vector lanes and as an expression, at every level the CPU has, and
// compares the bits. Any NaN equals any NaN.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/lanes.h"
#include "ir/math.h"
#include "ir/scalar_eval.h"

namespace fg::ir {

inline constexpr int kCount = 1024;

// The type in which a formula's result is stored.
template <class V>
struct Stored {
  using type = bool;  // a mask
};
template <class T, Level L>
struct Stored<Lanes<T, L>> {
  using type = T;
};
template <class S, class F>
struct Result {
  using V = Lanes<compute_t<S>, Level::baseline>;
  using Computed = typename Stored<decltype(F{}(V{}, V{}, V{}))>::type;
  // A formula on 16-bit floats that gives a float is stored as that 16-bit float.
  using type =
      std::conditional_t<std::is_class_v<S> && std::is_same_v<Computed, float>, S, Computed>;
};

template <class S>
using Column = std::array<S, kCount>;  // a vector<bool> would not do
template <class S>
using Columns = std::array<Column<S>, 3>;

template <class S, Level L, class F>
FG_INLINE void run_lanes(const S* x, const S* y, const S* z, typename Result<S, F>::type* out) {
  for (int i = 0; i < kCount; i += kLanes) {
    store(out + i, F{}(load<S, L>(x + i), load<S, L>(y + i), load<S, L>(z + i)));
  }
}
template <class S, class F>
FG_KERNEL_V3 void run_v3(const S* x, const S* y, const S* z, typename Result<S, F>::type* out) {
  run_lanes<S, kBestLevel, F>(x, y, z, out);
}
template <class S, class F>
FG_KERNEL_BASELINE void run_baseline(const S* x, const S* y, const S* z,
                                     typename Result<S, F>::type* out) {
  run_lanes<S, Level::baseline, F>(x, y, z, out);
}

template <class R>
bool same(R a, R b) {
  if constexpr (!std::is_integral_v<R>) {
    if (a != a || b != b) return a != a && b != b;
  }
  return lane_bits(a) == lane_bits(b);
}

// Edges first, then random bits, then values of ordinary size.
template <class S>
Column<S> column(int seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<S> values;
  if constexpr (std::is_integral_v<S>) {
    for (int64_t e : {0, 1, -1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, -128})
      values.push_back(S(e));
    values.push_back(std::numeric_limits<S>::min()),
        values.push_back(std::numeric_limits<S>::max());
  } else {
    for (double e : {0.0,    0.5,    1.0,   1.5,  2.5,     3.0,     0.625,   88.8,
                     104.0,  710.0,  746.0, 2e5,  2e6,     1e22,    3e9,     2147483648.0,
                     9.3e18, 1e-310, 1e-40, 6e-8, 65504.0, 65520.0, 3.39e38, HUGE_VAL}) {
      values.push_back(S(float(e))), values.push_back(S(float(-e)));
      if constexpr (sizeof(S) == 8) values.push_back(S(e)), values.push_back(S(-e));
    }
    values.push_back(S(NAN));
  }
  std::shuffle(values.begin(), values.end(), random);
  while (values.size() < static_cast<size_t>(kCount)) {
    double scale = std::exp2(double(random() % 12) - 5);
    if (random() % 3 == 0)
      values.push_back(lane_value<S>(std::is_same_v<S, bool> ? random() & 1 : random()));
    else if constexpr (std::is_integral_v<S>)
      values.push_back(S(random() % 20 - 10));
    else
      values.push_back(S(float(normal(random) * scale)));
  }
  Column<S> result;
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

template <class S, class F>
void check_level(const char* name, Level at, const Program& program, const Columns<S>& in) {
  using R = typename Result<S, F>::type;
  auto out = std::make_unique<R[]>(kCount);
  auto kernel = at == kBestLevel ? run_v3<S, F> : run_baseline<S, F>;
  kernel(in[0].data(), in[1].data(), in[2].data(), out.get());
  LaneInterpreter interpreter(program, at);
  int wrong = 0;
  for (int i = 0; i < kCount && wrong < 3; ++i) {
    uint64_t arguments[3] = {lane_bits(in[0][i]), lane_bits(in[1][i]), lane_bits(in[2][i])};
    interpreter.run({arguments});
    R expected = lane_value<R>(interpreter.output());
    if (same(out[i], expected)) continue;
    ++wrong;
    ADD_FAILURE() << name << " of " << fg::name(DTypeOf<S>::value) << " at " << fg::name(at)
                  << ": lane " << +out[i] << ", expression " << +expected << " for " << +in[0][i]
                  << ", " << +in[1][i] << ", " << +in[2][i];
  }
}

// Formulas take three operands and ignore what they do not need.
template <class S, class F>
void check_both_worlds(const char* name, F formula) {
  constexpr DType dtype = DTypeOf<S>::value;
  Expr result = formula(Expr::loaded(0, dtype), Expr::loaded(1, dtype), Expr::loaded(2, dtype));
  Program program(convert(result, DTypeOf<typename Result<S, F>::type>::value));
  static const Columns<S> in = {column<S>(1), column<S>(2), column<S>(3)};
  for (Level at : {Level::baseline, kBestLevel}) {
    if (at <= level()) check_level<S, F>(name, at, program, in);
  }
}

template <class F>
void check_floats(const char* name, F formula) {
  check_both_worlds<float>(name, formula);
  check_both_worlds<double>(name, formula);
}
template <class F>
void check_integers(const char* name, F formula) {
  check_both_worlds<uint8_t>(name, formula);
  check_both_worlds<int8_t>(name, formula);
  check_both_worlds<int16_t>(name, formula);
  check_both_worlds<int32_t>(name, formula);
  check_both_worlds<int64_t>(name, formula);
}
template <class F>
void check_numbers(const char* name, F formula) {
  check_floats(name, formula);
  check_integers(name, formula);
}

}  // namespace fg::ir
