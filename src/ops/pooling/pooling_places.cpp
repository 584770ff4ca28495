// Pooling by places: windows where random numbers put them, and values back at the places that
// pooling took them from. Both compute positions as tensors, and gather or scatter.
#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/loss/loss_reduction.h"
#include "ops/pooling/pooling.h"
#include "ops/pooling/pooling_kind.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/reduce_order.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

using Pair = std::tuple<Tensor, Tensor>;

Dims numbers(const char* who, const char* what, const Dims& given, size_t count, Dim least) {
  if (given.size() != 1 && given.size() != count) {
    fail("{}: {} must be one or {} numbers, got {}", who, what, count, text(given));
  }
  for (Dim value : given) {
    if (value < least) {
      fail("{}: {} {} must not be less than {}", who, what, text(given), least.text());
    }
  }
  return given.size() == count ? given : Dims(count, given[0]);
}
void check_floating(const char* who, const Tensor& self) {
  if (is_floating(self.dtype())) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
       name(self.dtype()));
}
void check_input(const char* who, const Tensor& self, size_t spatial) {
  const Dims& sizes = self.sizes();
  bool usable = sizes.size() == spatial + 1 || sizes.size() == spatial + 2;
  for (size_t i = sizes.size() == spatial + 2 ? 1 : 0; usable && i < sizes.size(); i++) {
    usable = !(sizes[i] == 0);
  }
  if (usable) return;
  fail(
      "{}: the input has sizes {}; expected channels and {} dimensions, with or without a batch, "
      "where only the batch may be empty",
      who, text(sizes), spatial);
}

// Sizes without the last `spatial` ones, and one for all of those.
Dims flat(const Dims& sizes, size_t spatial) {
  Dims result = sizes;
  Dim count = 1;
  for (size_t i = 0; i < spatial; i++) {
    count *= result.back();
    result.pop_back();
  }
  result.push_back(count);
  return result;
}
Dims last(const Dims& sizes, size_t count) {
  return Dims(std::span<const Dim>(sizes.end() - count, sizes.end()));
}

// ---- fractional pooling

// The first element of window i of `results`, for a random number u: floor((i + u) a) - floor(u a)
// with a = (size - kernel) / (results - 1); the last window ends with the input. u: [n, c].
Tensor window_starts(const Tensor& u, Dim size, Dim kernel, Dim results) {
  Tensor i = to(ops::numbered({results}) - 1, u.dtype()), at = unsqueeze(u, -1);
  Tensor room = to(ops::number_of(size - kernel), u.dtype(), true);
  Tensor step = room / to(ops::number_of(results - 1), u.dtype(), true);
  Tensor starts = trunc((i + at) * step) - trunc(at * step);
  return to(where(i == ops::number_of(results - 1), room, starts), kInt64);
}

// Positions of the elements of all windows in the flat input: [n, c, windows, elements].
Tensor window_positions(const Tensor& samples, const Dims& input, const Dims& kernel,
                        const Dims& output) {
  size_t spatial = input.size();
  auto axes = static_cast<int64_t>(spatial);
  Tensor positions;
  for (int64_t d = 0; d < axes; d++) {
    // The first number is that of the width for planes, of the depth for volumes.
    int64_t number = spatial == 2 ? 1 - d : d;
    Tensor starts = window_starts(select(samples, 2, number), input[d], kernel[d], output[d]);
    Dims window(2 * spatial + 2, 1), element(2 * spatial, 1);
    window[0] = starts.sizes()[0];
    window[1] = starts.sizes()[1];
    window[2 + d] = output[d];
    element[axes + d] = kernel[d];
    Tensor at = reshape(starts, window) + reshape(ops::numbered({kernel[d]}) - 1, element);
    positions =
        positions.defined() ? positions * to(ops::number_of(input[d]), kInt64, true) + at : at;
  }
  return reshape(positions,
                 {samples.sizes()[0], samples.sizes()[1], product(output), product(kernel)});
}

void check_samples(const char* who, const Tensor& self, const Tensor& samples, size_t spatial) {
  if (self.dtype() != samples.dtype()) {
    fail("{}: the random samples are {} and the input {}; expected one dtype", who,
         name(samples.dtype()), name(self.dtype()));
  }
  const Dims &have = samples.sizes(), &sizes = self.sizes();
  bool batched = sizes.size() == spatial + 2;
  Dim batch = batched ? sizes[0] : Dim(1), channels = sizes[batched ? 1 : 0];
  if (have.size() == 3 && have[0] >= batch && have[1] == channels && have[2] == spatial) return;
  fail("{}: the random samples have sizes {}; expected [{}, {}, {}]", who, text(have), batch.text(),
       channels.text(), spatial);
}

Pair largest_of_windows(const char* who, const Tensor& self, const Dims& kernel_size,
                        const Dims& output_size, const Tensor& samples, size_t spatial) {
  check_floating(who, self);
  check_input(who, self, spatial);
  check_samples(who, self, samples, spatial);
  Dims kernel = numbers(who, "kernel_size", kernel_size, spatial, 1);
  Dims output = numbers(who, "output_size", output_size, spatial, 1);
  Dims input = last(self.sizes(), spatial), sizes = self.sizes();
  for (size_t d = 0; d < spatial; d++) {
    if (output[d] + kernel[d] - 1 > input[d]) {
      fail("{}: {} windows of {} elements are too many for size {}", who, output[d].text(),
           kernel[d].text(), input[d].text());
    }
    sizes[sizes.size() - spatial + d] = output[d];
  }
  bool single = self.sizes().size() == spatial + 1;
  Tensor x = reshape(single ? unsqueeze(self, 0) : self,
                     flat(single ? unsqueeze(self, 0).sizes() : self.sizes(), spatial));
  Tensor used = narrow(samples, 0, 0, x.sizes()[0]);
  Tensor positions = window_positions(used, input, kernel, output);
  Tensor elements = reshape(gather(x, 2, flatten(positions, 2)), positions.sizes());
  auto [values, which] = max(elements, 3, true);
  Tensor indices = gather(positions, 3, which);
  return {reshape(values, sizes), reshape(indices, sizes)};
}

template <size_t spatial>
constexpr auto to_input =
    wrt(0, saves::shape(0) | saves::out(1), [](const Vjp& v, const Dims&, const Dims&) {
      if (!v.grad().defined()) return Tensor();
      return ops::to_largest(v.grad(), v.out(1), last(v.sizes(0), spatial));
    });
constexpr auto to_samples = wrt(1, saves::nothing, [](const Vjp&, const Dims&, const Dims&) {
  return ops::not_differentiable("fractional_max_pool", "random_samples");
});

const auto fractional_max_pool2d_entry =
    define(fractional_max_pool2d, "The largest elements of windows that random numbers place.",
           [](const Tensor& self, const Dims& kernel, const Dims& output, const Tensor& samples) {
             return largest_of_windows("fractional_max_pool2d", self, kernel, output, samples, 2);
           })
        .shown(Shown::in_nn)
        .vjp("FractionalMaxPool2DBackward0", to_input<2>, to_samples)
        .samples([] {
          Tensor u = sample({1, 2, 2}, 0, 0.9);
          return Samples{{{sample({1, 2, 5, 6}), Dims{2}, Dims{3, 4}, u}},
                         {{sample({2, 5, 6}), Dims{2, 3}, Dims{1, 2}, u}, "no batch"}};
        });
const auto fractional_max_pool3d_entry =
    define(fractional_max_pool3d, "The largest elements of windows that random numbers place.",
           [](const Tensor& self, const Dims& kernel, const Dims& output, const Tensor& samples) {
             return largest_of_windows("fractional_max_pool3d", self, kernel, output, samples, 3);
           })
        .shown(Shown::in_nn)
        .vjp("FractionalMaxPool3DBackward0", to_input<3>, to_samples)
        .samples([] {
          return Samples{
              {{sample({1, 2, 3, 4, 5}), Dims{2}, Dims{2, 2, 3}, sample({1, 2, 3}, 0, 0.9)}}};
        });

// ---- unpooling

void check_unpool(const char* who, const Tensor& self, const Tensor& indices,
                  const Dims& output_size, size_t spatial) {
  check_floating(who, self);
  check_input(who, self, spatial);
  if (indices.dtype() != kInt64) {
    fail("{}: the indices are {}; expected int64", who, name(indices.dtype()));
  }
  if (!(indices.sizes() == self.sizes())) {
    fail("{}: the indices have sizes {} and the input {}; expected the same", who,
         text(indices.sizes()), text(self.sizes()));
  }
  if (output_size.size() != spatial) {
    fail("{}: output_size must be {} numbers, got {}", who, spatial, text(output_size));
  }
}
Tensor put_back(const Tensor& self, const Tensor& indices, const Dims& output) {
  size_t spatial = output.size();
  Dims sizes = self.sizes(), source = flat(sizes, spatial);
  std::copy(output.begin(), output.end(), sizes.end() - spatial);
  Tensor at = reshape(indices, source), values = reshape(self, source);
  return reshape(scatter(zeros(flat(sizes, spatial), self.dtype()), -1, at, values), sizes);
}
// Each value gets the gradient at its place, also one that another value was written over.
Tensor taken_back(const Tensor& grad, const Tensor& indices, size_t spatial) {
  Tensor at = reshape(indices, flat(indices.sizes(), spatial));
  return reshape(gather(reshape(grad, flat(grad.sizes(), spatial)), -1, at), indices.sizes());
}

const auto max_unpool2d_entry =
    define(max_unpool2d, "Zeros with values at the indices that max_pool2d gave.",
           [](const Tensor& self, const Tensor& indices, const Dims& output_size) {
             check_unpool("max_unpool2d", self, indices, output_size, 2);
             return put_back(self, indices, output_size);
           })
        .shown(Shown::in_nn)
        .vjp("MaxUnpool2DBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Dims&) { return taken_back(v.grad(), v.in(1), 2); }))
        .out()
        .samples([] {
          Tensor at = tensor(std::vector<int64_t>{0, 3, 8, 11, 1, 2, 9, 10}, kInt64);
          return Samples{{{sample({1, 2, 2, 2}), reshape(at, {1, 2, 2, 2}), Dims{3, 4}}},
                         {{sample({2, 2, 2}), reshape(at, {2, 2, 2}), Dims{4, 4}}, "no batch"}};
        });
const auto max_unpool3d_entry =
    define(max_unpool3d, "Zeros with values at the indices that max_pool3d gave.",
           [](const Tensor& self, const Tensor& indices, const Dims& output_size,
              const Dims& stride, const Dims& padding) {
             check_unpool("max_unpool3d", self, indices, output_size, 3);
             numbers("max_unpool3d", "stride", stride, 3, 1);
             numbers("max_unpool3d", "padding", padding, 3, 0);
             return put_back(self, indices, output_size);
           })
        .shown(Shown::in_nn)
        .vjp("MaxUnpool3DBackward0", wrt(0, saves::in(1),
                                         [](const Vjp& v, const Dims&, const Dims&, const Dims&) {
                                           return taken_back(v.grad(), v.in(1), 3);
                                         }))
        .out()
        .samples([] {
          Tensor at = tensor(std::vector<int64_t>{0, 3, 8, 11}, kInt64);
          return Samples{{{sample({1, 1, 1, 2, 2}), reshape(at, {1, 1, 1, 2, 2}), Dims{2, 2, 4},
                           Dims{2}, Dims{0}}}};
        });

}  // namespace
}  // namespace fg
