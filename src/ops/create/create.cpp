#include "ops/create/create.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/elementwise/number.h"
#include "ops/view/view_kind.h"
#include "tensor/geometry.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace ops {

Dims preserved_strides(const Tensor& self) {
  if (self.is_contiguous() || !self.impl()->numel.is_constant()) return {};
  const Dims &sizes = self.sizes(), &strides = self.strides();
  // Innermost first; dimensions that no stride tells apart stay in their order, as in PyTorch.
  std::vector<size_t> order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(d);
  auto outside = [&](size_t a, size_t b) {  // 1: a lies outside b, -1: inside, 0: cannot tell
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (!(strides[a] == strides[b])) return strides[a] > strides[b] ? 1 : -1;
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  for (size_t i = 1; i < order.size(); i++) {
    size_t place = i;
    for (size_t j = i; j-- > 0;) {
      int decision = outside(order[j], order[place]);
      if (decision < 0) break;
      if (decision == 0) continue;
      std::swap(order[j], order[place]);
      place = j;
    }
  }
  Dims result(sizes.size(), 1);
  Dim stride = 1;
  for (size_t d : order) {
    result[d] = stride;
    stride *= sizes[d];
  }
  return result;
}

// A negative integer may stand for its two's complement in an unsigned dtype, as in PyTorch.
void check_fits(const Scalar& value, DType dtype, const char* who) {
  if (dtype == kBool) return;  // every number is true or false, NaN too
  double number = value.to_double(), high = HUGE_VAL;
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>)
      high = static_cast<double>(std::numeric_limits<T>::max());
    else
      high = std::is_same_v<T, Half> ? 65504 : 3.3895313892515355e38;
  });
  if (is_floating(dtype) && !std::isfinite(number)) return;
  double low = is_floating(dtype) ? -high : is_signed(dtype) ? -high - 1 : -high;
  if (is_integral_or_bool(dtype) && !is_signed(dtype) && value.is_floating()) low = 0;
  if (!(number >= low && number <= high)) {
    fail("{}: the value {} does not fit into {}; choose a wider dtype", who, value.text(),
         name(dtype));
  }
}

}  // namespace ops

namespace {

struct EmptyParams {
  Dims size, strides;  // no strides: contiguous
  DType dtype;
  bool operator==(const EmptyParams&) const = default;
};
// Strides are 0 or more and reach as many elements as there are.
template <class P>
void require_dense(Operands, const P& p) {
  if (p.strides.empty()) return;
  bool negative = std::any_of(p.strides.begin(), p.strides.end(), [](Dim s) { return s < 0; });
  ops::demand(p.strides.size() == p.size.size() && !negative, "full", "one stride per size");
  ops::demand(product(p.size) == 0 || reach(p.size, p.strides) >= product(p.size), "full",
              "strides that do not overlap");
}

const Registered empty_p =
    plain_primitive<EmptyParams,
                    [](Operands, const EmptyParams& p, Meta* out) {
                      out[0] = {p.size, p.dtype, p.strides};
                    },
                    [](Operands, const EmptyParams&, Tensor*) {}>("empty", Kind::create, "")
        .requiring<require_dense<EmptyParams>>()
        .of_any_elements();

// Fresh memory comes in pages of 2 MB: two threads should not fault the same one.
constexpr int64_t kFillBytes = int64_t{4} << 20;

struct FullParams {
  Dims size, strides;
  Scalar value;
  DType dtype;
  bool operator==(const FullParams&) const = default;
};
// Strides are those of a dense tensor, so the elements are one stretch of memory.
const Registered full_p =
    plain_primitive<FullParams,
                    [](Operands, const FullParams& p, Meta* out) {
                      out[0] = {p.size, p.dtype, p.strides};
                    },
                    [](Operands, const FullParams& p, Tensor* out) {
                      visit(p.dtype, [&](auto zero) {
                        using T = decltype(zero);
                        T *data = out[0].data_ptr<T>(), value = p.value.to<T>();
                        constexpr auto kGrain = static_cast<int64_t>(kFillBytes / sizeof(T));
                        pool::parallel_for(out[0].numel(), kGrain, [&](int64_t begin, int64_t end) {
                          std::fill(data + begin, data + end, value);
                        });
                      });
                    }>("full", Kind::create, "")
        .requiring<require_dense<FullParams>>();

Tensor uninitialised(const Dims& size, DType dtype, const Dims& strides = {}) {
  product(size);  // refuses negative and overflowing sizes first
  return empty_p.with({size, strides, dtype});
}
Tensor filled(const Dims& size, const Scalar& value, DType dtype, const Dims& strides = {}) {
  product(size);
  return full_p.with({size, strides, value, dtype});
}
Tensor filled_like(const Tensor& self, const Scalar& value, OptDType dtype) {
  return filled(self.sizes(), value, dtype.value_or(self.dtype()), ops::preserved_strides(self));
}

DType natural_dtype(const Scalar& value) {
  return value.is_floating() ? default_dtype() : value.dtype();
}

const auto empty_entry =
    define(empty, "A tensor whose values are whatever its memory held.",
           [](const Dims& size, OptDType dtype) {
             return uninitialised(size, dtype.value_or(default_dtype()));
           })
        .samples([] { return Samples{{{Dims{2, 3}}}, {{Dims{0}, kInt64}, "empty"}}; });
const auto empty_strided_entry =
    define(empty_strided, "A tensor of the given sizes and strides, its values undefined.",
           [](const Dims& size, const Dims& stride, OptDType dtype) {
             if (size.size() != stride.size()) {
               fail("empty_strided: got {} sizes but {} strides; expected one stride per size",
                    size.size(), stride.size());
             }
             for (Dim s : stride) {
               if (s < 0)
                 fail("empty_strided: stride {} is negative; expected 0 or more", s.text());
             }
             return uninitialised(size, dtype.value_or(default_dtype()), stride);
           })
        .samples([] { return Samples{{{Dims{2, 3}, Dims{1, 2}}}}; });
const auto full_entry = define(full, "A tensor of one value.",
                               [](const Dims& size, const Scalar& value, OptDType dtype) {
                                 DType kind = dtype.value_or(natural_dtype(value));
                                 return filled(size, ops::fitting(value, kind, "full"), kind);
                               })
                            .out()
                            .samples([] {
                              return Samples{{{Dims{2, 3}, Scalar(1.5)}},
                                             {{Dims{0}, Scalar(1)}, "empty"},
                                             {{Dims{}, Scalar(true)}, "zero-dim"}};
                            });
const auto zeros_entry = define(zeros, "A tensor of zeros.",
                                [](const Dims& size, OptDType dtype) {
                                  return filled(size, 0, dtype.value_or(default_dtype()));
                                })
                             .out()
                             .samples([] { return Samples{{{Dims{2, 3}}}}; });
const auto ones_entry = define(ones, "A tensor of ones.",
                               [](const Dims& size, OptDType dtype) {
                                 return filled(size, 1, dtype.value_or(default_dtype()));
                               })
                            .out()
                            .samples([] { return Samples{{{Dims{2, 3}}}}; });

Samples like_samples() { return {{{sample({2, 3})}}, {{sample({2}), kInt32}, "dtype"}}; }
const auto empty_like_entry =
    define(empty_like, "A tensor of the sizes and dtype of self, its values undefined.",
           [](const Tensor& self, OptDType dtype) {
             return uninitialised(self.sizes(), dtype.value_or(self.dtype()),
                                  ops::preserved_strides(self));
           })
        .shown(Shown::as_function)
        .samples(like_samples);
const auto zeros_like_entry =
    define(zeros_like, "Zeros of the sizes and dtype of self.",
           [](const Tensor& self, OptDType dtype) { return filled_like(self, 0, dtype); })
        .shown(Shown::as_function)
        .samples(like_samples);
const auto ones_like_entry =
    define(ones_like, "Ones of the sizes and dtype of self.",
           [](const Tensor& self, OptDType dtype) { return filled_like(self, 1, dtype); })
        .shown(Shown::as_function)
        .samples(like_samples);
const auto full_like_entry =
    define(full_like, "One value with the sizes and dtype of self.",
           [](const Tensor& self, const Scalar& value, OptDType dtype) {
             DType kind = dtype.value_or(self.dtype());
             return filled_like(self, ops::fitting(value, kind, "full_like"), kind);
           })
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({2}), Scalar(3)}}}; });

const auto new_empty_entry =
    define(new_empty, "A tensor of the dtype of self, its values undefined.",
           [](const Tensor& self, const Dims& size, OptDType dtype) {
             return uninitialised(size, dtype.value_or(self.dtype()));
           })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2}), Dims{2, 3}}}}; });
const auto new_zeros_entry = define(new_zeros, "Zeros of the dtype of self.",
                                    [](const Tensor& self, const Dims& size, OptDType dtype) {
                                      return filled(size, 0, dtype.value_or(self.dtype()));
                                    })
                                 .shown(Shown::as_method)
                                 .samples([] { return Samples{{{sample({2}), Dims{2, 3}}}}; });
const auto new_ones_entry = define(new_ones, "Ones of the dtype of self.",
                                   [](const Tensor& self, const Dims& size, OptDType dtype) {
                                     return filled(size, 1, dtype.value_or(self.dtype()));
                                   })
                                .shown(Shown::as_method)
                                .samples([] { return Samples{{{sample({2}), Dims{2, 3}}}}; });
const auto new_full_entry =
    define(new_full, "One value with the dtype of self.",
           [](const Tensor& self, const Dims& size, const Scalar& value, OptDType dtype) {
             DType kind = dtype.value_or(self.dtype());
             return filled(size, ops::fitting(value, kind, "new_full"), kind);
           })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2}), Dims{2, 3}, Scalar(4)}}}; });

}  // namespace
}  // namespace fg
