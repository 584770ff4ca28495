#include "ops/convolution/columns.h"

#include <limits>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/convolution/im2col.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// Two entries each: height and width. `output` counts the windows.
struct ColumnParams {
  Dims image, kernel, dilation, padding, stride, output;
  bool operator==(const ColumnParams&) const = default;
};

kernels::Spatial flat(const Dims& pair, int64_t first) {
  return {first, pair[0].value(), pair[1].value()};
}
kernels::ConvGeometry geometry(const ColumnParams& p, int64_t batch, int64_t channels) {
  return {.batch = batch,
          .groups = 1,
          .in_channels = channels,
          .out_channels = 0,
          .input = flat(p.image, 1),
          .kernel = flat(p.kernel, 1),
          .output = flat(p.output, 1),
          .stride = flat(p.stride, 1),
          .padding = flat(p.padding, 0),
          .dilation = flat(p.dilation, 1)};
}
Dim taps(const ColumnParams& p) { return p.kernel[0] * p.kernel[1]; }

// ---- x [n, c, height, width] -> columns [n, c * taps, windows], and the transpose of that

void infer_columns(Operands inputs, const ColumnParams& p, Meta* out) {
  const Dims& x = inputs[0]->sizes();
  out[0].sizes = {x[0], x[1] * taps(p), p.output[0] * p.output[1]};
  out[0].dtype = inputs[0]->dtype();
}
void infer_image(Operands inputs, const ColumnParams& p, Meta* out) {
  const Dims& y = inputs[0]->sizes();
  out[0].sizes = {y[0], y[1] / taps(p), p.image[0], p.image[1]};
  out[0].dtype = inputs[0]->dtype();
}

// Calls f(image, columns) with the pointers of each sample, on threads.
template <class From, class To, class F>
void each_sample(int64_t batch, const From* from, int64_t from_size, To* to, int64_t to_size, F f) {
  pool::parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(from + i * from_size, to + i * to_size);
  });
}

void evaluate_columns(Operands inputs, const ColumnParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor x = kernels::as_contiguous(*inputs[0]);
  int64_t batch = x.sizes()[0].value(), channels = x.sizes()[1].value();
  kernels::ConvGeometry g = geometry(p, batch, channels);
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_sample(batch, x.data_ptr<T>(), x.numel() / batch, out[0].data_ptr<T>(),
                out[0].numel() / batch, [&](const T* image, T* columns) {
                  kernels::im2col(g, image, channels, 0, g.positions(), columns, g.positions());
                });
  });
}

// Sums of 16-bit floats are rounded once.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

void evaluate_image(Operands inputs, const ColumnParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor y = kernels::as_contiguous(*inputs[0]);
  int64_t batch = out[0].sizes()[0].value(), channels = out[0].sizes()[1].value();
  kernels::ConvGeometry g = geometry(p, batch, channels);
  visit(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      int64_t size = out[0].numel() / batch, columns = y.numel() / batch;
      each_sample(batch, y.data_ptr<T>(), columns, out[0].data_ptr<T>(), size,
                  [&](const T* from, T* image) {
                    if constexpr (std::is_same_v<T, Sum<T>>) {
                      std::fill_n(image, size, T{});
                      kernels::col2im(g, from, channels, image);
                    } else {
                      std::vector<float> wide(from, from + columns);
                      std::vector<float> sums(static_cast<size_t>(size), 0.0F);
                      kernels::col2im(g, wide.data(), channels, sums.data());
                      std::transform(sums.begin(), sums.end(), image,
                                     [](float sum) { return T(sum); });
                    }
                  });
    }
  });
}

// ---- demands on graphs from outside, which the functions below meet

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

bool usable(const ColumnParams& p) {
  for (const Dims* pair : {&p.image, &p.kernel, &p.dilation, &p.padding, &p.stride, &p.output}) {
    if (pair->size() != 2) return false;
    for (Dim value : *pair) {
      if (value < (pair == &p.padding ? 0 : 1) || value > kMost) return false;
    }
  }
  for (size_t i = 0; i < 2; i++) {
    Dim room = p.image[i] + p.padding[i] * 2 - p.dilation[i] * (p.kernel[i] - 1) - 1;
    if (room < 0 || !(p.output[i] == room / p.stride[i] + 1)) return false;
  }
  return true;
}
void require_columns(Operands inputs, const ColumnParams& p) {
  const Dims& x = inputs[0]->sizes();
  ops::demand(usable(p) && x.size() == 4 && x[2] == p.image[0] && x[3] == p.image[1], "im2col",
              "windows that lie in images of [n, c, height, width]");
}
void require_image(Operands inputs, const ColumnParams& p) {
  const Dims& y = inputs[0]->sizes();
  ops::demand(usable(p) && is_floating(inputs[0]->dtype()) && y.size() == 3 &&
                  y[1] % taps(p) == 0 && y[2] == p.output[0] * p.output[1],
              "col2im", "columns of floats of [n, c * taps, windows]");
}

Tensor to_image(const ColumnParams& p, const Tensor& columns);
const Registered im2col_p =
    plain_primitive<ColumnParams, infer_columns, evaluate_columns>("im2col", Kind::gather, "t")
        .requiring<require_columns>()
        .linear_in({0})
        .vjp("Im2ColBackward0", wrt(0, saves::nothing, [](const Vjp& v, const ColumnParams& p) {
               return to_image(p, v.grad());
             }));
const Registered col2im_p =
    plain_primitive<ColumnParams, infer_image, evaluate_image>("col2im", Kind::scatter, "t")
        .requiring<require_image>()
        .linear_in({0})
        .vjp("Col2ImBackward0", wrt(0, saves::nothing, [](const Vjp& v, const ColumnParams& p) {
               return im2col_p.with(p, v.grad());
             }));
Tensor to_image(const ColumnParams& p, const Tensor& columns) { return col2im_p.with(p, columns); }

// ---- functions

Dims pair(const char* who, const char* what, const Dims& given, Dim least) {
  if (given.size() != 1 && given.size() != 2) {
    fail("{}: {} must be one or two numbers, got {}", who, what, text(given));
  }
  for (Dim value : given) {
    if (value < least || value > kMost) {
      fail("{}: {} {} must be at least {}", who, what, text(given), least.text());
    }
  }
  return {given[0], given.back()};
}

struct Windows {
  const Dims &kernel, &dilation, &padding, &stride;
};
ColumnParams params_of(const char* who, const Windows& w, const Dims& image) {
  ColumnParams p{.image = image,
                 .kernel = pair(who, "kernel_size", w.kernel, 1),
                 .dilation = pair(who, "dilation", w.dilation, 1),
                 .padding = pair(who, "padding", w.padding, 0),
                 .stride = pair(who, "stride", w.stride, 1),
                 .output = {}};
  for (size_t i = 0; i < 2; i++) {
    Dim room = image[i] + p.padding[i] * 2 - p.dilation[i] * (p.kernel[i] - 1) - 1;
    if (room < 0) {
      fail("{}: the kernel {} with dilation {} is larger than the padded image of sizes {}", who,
           text(p.kernel), text(p.dilation), text(image));
    }
    p.output.push_back(room / p.stride[i] + 1);
  }
  return p;
}

// Refuses what is no batch of `rank` - 1 dimensions or a sample of it; only the batch may be empty.
void check_input(const char* who, const Tensor& self, size_t rank, const char* expected) {
  const Dims& sizes = self.sizes();
  bool good = sizes.size() == rank || sizes.size() == rank - 1;
  for (size_t i = sizes.size() == rank ? 1 : 0; good && i < sizes.size(); i++) {
    good = !(sizes[i] == 0);
  }
  if (!good) {
    fail("{}: got sizes {}; expected {}, with or without a batch", who, text(sizes), expected);
  }
}
void check_dtype(const char* who, const Tensor& self, bool mask_too) {
  if (is_floating(self.dtype()) || (mask_too && self.dtype() == kBool)) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
       name(self.dtype()));
}

const auto im2col_entry =
    define(im2col, "The windows of images as columns: PyTorch's nn.functional.unfold.",
           [](const Tensor& self, const Dims& kernel, const Dims& dilation, const Dims& padding,
              const Dims& stride) {
             constexpr const char* who = "im2col";
             check_dtype(who, self, true);
             check_input(who, self, 4, "images of [channels, height, width]");
             bool single = self.dim() == 3;
             Tensor x = single ? unsqueeze(self, 0) : self;
             ColumnParams p =
                 params_of(who, {kernel, dilation, padding, stride}, {x.sizes()[2], x.sizes()[3]});
             Tensor columns = im2col_p.with(p, x);
             return single ? squeeze(columns, 0) : columns;
           })
        .shown(Shown::in_nn)
        .vjp("Im2ColBackward0", wrt(0, saves::shape(0),
                                    [](const Vjp& v, const Dims& kernel, const Dims& dilation,
                                       const Dims& padding, const Dims& stride) {
                                      const Dims& sizes = v.sizes(0);
                                      Dims image{sizes[sizes.size() - 2], sizes.back()};
                                      return col2im(v.grad(), image, kernel, dilation, padding,
                                                    stride);
                                    }))
        .samples([] {
          return Samples{
              {{sample({2, 2, 3, 4}), Dims{2}}},
              {{sample({2, 4, 5}), Dims{2, 3}, Dims{2, 1}, Dims{1}, Dims{2, 1}}, "one image"}};
        });

void check_columns(const Dims& sizes, const ColumnParams& p) {
  Dim count = p.output[0] * p.output[1], size = sizes[sizes.size() - 2];
  if (size % taps(p) == 0 && sizes.back() == count) return;
  fail(
      "col2im: columns of sizes {} do not belong to kernel {} and {} windows; expected "
      "[channels * {}, {}]",
      text(sizes), text(p.kernel), count.text(), taps(p).text(), count.text());
}
const auto col2im_entry =
    define(col2im, "The sums of columns as images: PyTorch's nn.functional.fold.",
           [](const Tensor& self, const Dims& output_size, const Dims& kernel, const Dims& dilation,
              const Dims& padding, const Dims& stride) {
             constexpr const char* who = "col2im";
             check_dtype(who, self, false);
             check_input(who, self, 3, "columns of [channels * taps, windows]");
             ColumnParams p = params_of(who, {kernel, dilation, padding, stride},
                                        pair(who, "output_size", output_size, 1));
             check_columns(self.sizes(), p);
             bool single = self.dim() == 2;
             Tensor image = col2im_p.with(p, single ? unsqueeze(self, 0) : self);
             return single ? squeeze(image, 0) : image;
           })
        .shown(Shown::in_nn)
        .vjp("Col2ImBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, const Dims&, const Dims& kernel, const Dims& dilation,
                    const Dims& padding, const Dims& stride) {
                   return im2col(v.grad(), kernel, dilation, padding, stride);
                 }))
        .samples([] {
          return Samples{{{sample({2, 8, 6}), Dims{3, 4}, Dims{2}}},
                         {{sample({4, 6}), Dims{4, 4}, Dims{2}, Dims{2, 1}, Dims{1, 0}, Dims{2, 1}},
                          "one image"}};
        });

}  // namespace
}  // namespace fg
