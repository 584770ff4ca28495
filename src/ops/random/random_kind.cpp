#include "ops/random/random_kind.h"

#include <limits>

#include "base/fail.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

using namespace ir;

PhiloxKey reserve(const OptGenerator& generator, Dim numbers) {
  return (generator ? *generator : default_generator())
      .reserve(static_cast<uint64_t>(numbers.value()));
}

namespace {

const Registered random_p =
    plain_primitive<RandomParams,
                    [](Operands, const RandomParams& p, Meta* out) { out[0] = {p.size, p.dtype}; },
                    [](Operands, const RandomParams& p, Tensor* out) {
                      kernels::fill_random(out[0], p.distribution, p.a, p.b,
                                           reserve(p.generator, out[0].numel()));
                    }>("random", Kind::random, "");

struct IntegerParams {
  Dims size;
  DType dtype;
  int64_t low, high;  // equal: all 64-bit integers
  OptGenerator generator;
  bool operator==(const IntegerParams&) const = default;
};
const Registered random_integer_p =
    plain_primitive<IntegerParams,
                    [](Operands, const IntegerParams& p, Meta* out) { out[0] = {p.size, p.dtype}; },
                    [](Operands, const IntegerParams& p, Tensor* out) {
                      PhiloxKey key = reserve(p.generator, out[0].numel());
                      if (p.low == p.high)
                        kernels::fill_bits(out[0], key);
                      else
                        kernels::fill_integers(out[0], p.low, p.high, key);
                    }>("random_integer", Kind::random, "");

// The integers that a dtype holds exactly, both included.
struct Range {
  int64_t low, high;
};
Range exact_integers(DType dtype) {
  return visit(dtype, [](auto zero) -> Range {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return {static_cast<int64_t>(std::numeric_limits<T>::min()),
              static_cast<int64_t>(std::numeric_limits<T>::max())};
    } else {
      int64_t most = int64_t{1} << UniformFormat<T>::kBits;
      return {-most, most};
    }
  });
}

}  // namespace

Tensor draw(const RandomParams& params, const char* who) {
  bool any = params.distribution == Distribution::bernoulli ||
             params.distribution == Distribution::geometric;
  if (!any && !is_floating(params.dtype)) {
    fail(ErrorKind::not_implemented, "{}: {} is not supported; the values are floats", who,
         name(params.dtype));
  }
  product(params.size);
  return random_p.with(params);
}

Tensor draw_integers(const Dims& size, DType dtype, int64_t low, std::optional<int64_t> high,
                     const OptGenerator& generator, const char* who) {
  if (high && low >= *high) {
    fail("{}: expects 'from' to be less than 'to', but got from={} >= to={}", who, low, *high);
  }
  Range range = exact_integers(dtype);
  if (is_integral_or_bool(dtype) && (low < range.low || low > range.high)) {
    fail("{}: from {} is out of bounds for {}", who, low, name(dtype));
  }
  if (is_integral_or_bool(dtype) && high && *high - 1 > range.high) {
    fail("{}: to - 1 = {} is out of bounds for {}", who, *high - 1, name(dtype));
  }
  product(size);
  // One more than the largest int64_t wraps, and the kernel's unsigned difference wraps back.
  uint64_t end = static_cast<uint64_t>(range.high) + 1;
  return random_integer_p.with(
      {size, dtype, low, high.value_or(static_cast<int64_t>(end)), generator});
}

}  // namespace fg::ops
