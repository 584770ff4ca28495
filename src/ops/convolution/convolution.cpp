#include "ops/convolution/convolution.h"

#include <limits>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/convolution/convolve_kind.h"
#include "ops/rearrange/rearrange.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::ConvParams;

namespace {

// ---- checks

// Paddings and dilations: their sums and products with sizes have 64 bits to fit into.
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// One number stands for all dimensions.
Dims per_dimension(const char* who, const char* what, const Dims& given, size_t count, Dim least,
                   Dim most = kMost) {
  if (given.size() != 1 && given.size() != count) {
    fail("{}: {} {} must be one number or {}, one per spatial dimension", who, what, text(given),
         count);
  }
  for (Dim value : given) {
    if (value < least) {
      fail("{}: {} {} must not be less than {}", who, what, text(given), least.text());
    }
    if (value > most) {
      fail("{}: {} {} must not be greater than {}", who, what, text(given), most.text());
    }
  }
  return given.size() == count ? given : Dims(count, given[0]);
}

void check_operands(const char* who, const Tensor& input, const Tensor& weight, bool transposed,
                    int64_t groups) {
  const Dims &x = input.sizes(), &w = weight.sizes();
  if (input.dtype() != weight.dtype()) {
    fail("{}: input is {} and weight is {}; convert one with to()", who, name(input.dtype()),
         name(weight.dtype()));
  }
  if (!is_real(input.dtype())) {
    fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to another dtype", who,
         name(input.dtype()));
  }
  for (size_t i = 2; i < w.size(); i++) {
    if (w[i] == 0) {
      fail("{}: the weight of sizes {} has an empty kernel; its sizes must be positive", who,
           text(w));
    }
  }
  if (groups <= 0) fail("{}: groups must be positive, got {}", who, groups);
  if (!(w[0] % Dim(groups) == 0)) {
    fail("{}: the weight of sizes {} must be divisible by groups {} in dimension 0", who, text(w),
         groups);
  }
  Dim expected = transposed ? w[0] : w[1] * Dim(groups);
  if (!(x[1] == expected)) {
    fail("{}: the weight of sizes {} with groups {} expects {} channels, got an input of sizes {}",
         who, text(w), groups, expected.text(), text(x));
  }
}

void check_bias(const char* who, const Tensor& bias, const Tensor& weight, Dim channels) {
  if (!bias.defined()) return;
  if (bias.dim() != 1 || !(bias.sizes()[0] == channels)) {
    fail("{}: the weight of sizes {} expects a bias of {} values, got sizes {}", who,
         text(weight.sizes()), channels.text(), text(bias.sizes()));
  }
  if (bias.dtype() != weight.dtype()) {
    fail("{}: weight is {} and bias is {}; convert one with to()", who, name(weight.dtype()),
         name(bias.dtype()));
  }
}

// ---- the general convolution

// The spatial sizes of the result. A stride that leaves the input at once becomes the shortest that
// does, so that positions are numbers.
Dims convolved_sizes(const char* who, const Dims& x, const Dims& w, ConvParams& p) {
  Dims sizes;
  for (size_t i = 0; i < p.stride.size(); i++) {
    Dim room = x[i + 2] + p.padding[i] * 2 - p.dilation[i] * (w[i + 2] - 1) - 1;
    if (room < 0) {
      fail(
          "{}: the kernel of weight {} with dilation {} is larger than the input {} with padding "
          "{}",
          who, text(w), text(p.dilation), text(x), text(p.padding));
    }
    if (p.stride[i] > kMost) p.stride[i] = min(p.stride[i], room + 1);
    sizes.push_back(room / p.stride[i] + 1);
  }
  return sizes;
}

Dims transposed_sizes(const char* who, const Dims& x, const Dims& w, const ConvParams& p,
                      const Dims& output_padding) {
  Dims sizes;
  for (size_t i = 0; i < p.stride.size(); i++) {
    if (output_padding[i] >= p.stride[i] && output_padding[i] >= p.dilation[i]) {
      fail("{}: output_padding {} must be smaller than stride {} or dilation {}", who,
           text(output_padding), text(p.stride), text(p.dilation));
    }
    Dim size = (x[i + 2] - 1) * p.stride[i] - p.padding[i] * 2 + p.dilation[i] * (w[i + 2] - 1) +
               output_padding[i] + 1;
    if (size < 1) {
      fail("{}: an input of sizes {} gives a result of size {} with padding {}; use less padding",
           who, text(x), size.text(), text(p.padding));
    }
    sizes.push_back(size);
  }
  return sizes;
}

struct Settings {
  const Dims &stride, &padding, &dilation;
  int64_t groups;
  const Dims* output_padding = nullptr;  // of a transposed convolution
};

Tensor convolve_checked(const char* who, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Settings& s) {
  size_t count = weight.sizes().size() - 2;
  bool transposed = s.output_padding != nullptr;
  check_operands(who, input, weight, transposed, s.groups);
  Dim longest = transposed ? kMost : std::numeric_limits<int64_t>::max();
  ConvParams p{per_dimension(who, "stride", s.stride, count, 1, longest),
               per_dimension(who, "padding", s.padding, count, 0),
               per_dimension(who, "dilation", s.dilation, count, 1),
               s.groups,
               {}};
  const Dims &x = input.sizes(), &w = weight.sizes();
  check_bias(who, bias, weight, transposed ? w[1] * Dim(s.groups) : w[0]);
  if (!transposed) {
    p.sizes = convolved_sizes(who, x, w, p);
    return ops::convolve(p, input, weight, bias);
  }
  Dims extra = per_dimension(who, "output_padding", *s.output_padding, count, 0);
  p.sizes = transposed_sizes(who, x, w, p, extra);
  return ops::convolve_input(p, input, weight, bias);
}

// An input without a batch is a batch of one.
Tensor convolve_any_batch(const char* who, size_t count, const Tensor& input, const Tensor& weight,
                          const Tensor& bias, const Settings& s) {
  if (weight.sizes().size() != count + 2) {
    fail("{}: expects a weight of {} dimensions, got sizes {}", who, count + 2,
         text(weight.sizes()));
  }
  if (input.sizes().size() == count + 2) return convolve_checked(who, input, weight, bias, s);
  if (input.sizes().size() != count + 1) {
    fail("{}: expects an input of {} dimensions, or {} without a batch, got sizes {}", who,
         count + 2, count + 1, text(input.sizes()));
  }
  return squeeze(convolve_checked(who, unsqueeze(input, 0), weight, bias, s), 0);
}

const auto convolution_entry =
    define(convolution, "The convolution that all others are made of.",
           [](const Tensor& input, const Tensor& weight, const Tensor& bias, const Dims& stride,
              const Dims& padding, const Dims& dilation, bool transposed,
              const Dims& output_padding, int64_t groups) {
             if (input.dim() < 3 || input.dim() > 5 || weight.dim() != input.dim()) {
               fail("convolution: expects input and weight of 3, 4 or 5 dimensions, got {} and {}",
                    text(input.sizes()), text(weight.sizes()));
             }
             return convolve_checked(
                 "convolution", input, weight, bias,
                 {stride, padding, dilation, groups, transposed ? &output_padding : nullptr});
           })
        .samples([] {
          return Samples{{{sample({1, 2, 4}), sample({2, 2, 3}), sample({2}), Dims{1}, Dims{1},
                           Dims{1}, Scalar(false), Dims{0}, Scalar(1)}},
                         {{sample({1, 2, 3}), sample({2, 1, 2}), sample({1}), Dims{2}, Dims{0},
                           Dims{1}, Scalar(true), Dims{1}, Scalar(1)},
                          "transposed"}};
        });

// ---- by the number of spatial dimensions

template <size_t count>
struct Conv {
  static constexpr const char* kNames[] = {"conv1d", "conv2d", "conv3d"};
  Tensor operator()(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Dims& stride, const Dims& padding, const Dims& dilation,
                    int64_t groups) const {
    return convolve_any_batch(kNames[count - 1], count, input, weight, bias,
                              {stride, padding, dilation, groups});
  }
};

const auto conv1d_entry =
    define(conv1d, "Convolution over one spatial dimension.", Conv<1>{}).samples([] {
      return Samples{{{sample({2, 2, 5}), sample({3, 2, 3}), sample({3})}},
                     {{sample({2, 5}), sample({1, 2, 3})}, "no batch, no bias"},
                     {{sample({1, 4, 5}), sample({2, 2, 2}), sample({2}), Dims{2}, Dims{1}, Dims{2},
                       Scalar(2)},
                      "stride, padding, dilation, groups"}};
    });
const auto conv2d_entry =
    define(conv2d, "Convolution over two spatial dimensions.", Conv<2>{}).samples([] {
      return Samples{{{sample({2, 2, 4, 3}), sample({2, 2, 3, 2}), sample({2})}},
                     {{sample({1, 2, 4, 4}), sample({2, 2, 1, 1}), sample({2})}, "pointwise"},
                     {{sample({1, 2, 5, 4}), sample({2, 1, 2, 2}), sample({2}), Dims{2, 1},
                       Dims{1, 0}, Dims{1, 2}, Scalar(2)},
                      "stride, padding, dilation, groups"},
                     {{sample({0, 2, 4, 4}), sample({2, 2, 3, 3}), sample({2})}, "empty batch"}};
    });
const auto conv3d_entry =
    define(conv3d, "Convolution over three spatial dimensions.", Conv<3>{}).samples([] {
      return Samples{{{sample({1, 1, 3, 2, 3}), sample({2, 1, 2, 2, 2}), sample({2}), Dims{1},
                       Dims{1, 0, 0}}}};
    });

// ---- transposed

template <size_t count>
struct ConvTranspose {
  static constexpr const char* kNames[] = {"conv_transpose1d", "conv_transpose2d",
                                           "conv_transpose3d"};
  Tensor operator()(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Dims& stride, const Dims& padding, const Dims& output_padding,
                    int64_t groups, const Dims& dilation) const {
    return convolve_any_batch(kNames[count - 1], count, input, weight, bias,
                              {stride, padding, dilation, groups, &output_padding});
  }
};

const auto conv_transpose1d_entry =
    define(conv_transpose1d, "Transposed convolution over one spatial dimension.",
           ConvTranspose<1>{})
        .samples([] {
          return Samples{{{sample({2, 2, 3}), sample({2, 2, 3}), sample({2})}},
                         {{sample({1, 2, 3}), sample({2, 1, 2}), sample({2}), Dims{1}, Dims{0},
                           Dims{1}, Scalar(2), Dims{2}},
                          "output_padding below dilation, groups"}};
        });
const auto conv_transpose2d_entry =
    define(conv_transpose2d, "Transposed convolution over two spatial dimensions.",
           ConvTranspose<2>{})
        .samples([] {
          return Samples{{{sample({1, 2, 2, 3}), sample({2, 2, 2, 2}), sample({2})}},
                         {{sample({1, 2, 2, 3}), sample({2, 1, 3, 2}), sample({1}), Dims{2, 1},
                           Dims{1, 0}, Dims{1, 0}},
                          "stride, padding, output_padding"},
                         {{sample({2, 2, 3}), sample({2, 1, 2, 2})}, "no batch, no bias"}};
        });
const auto conv_transpose3d_entry =
    define(conv_transpose3d, "Transposed convolution over three spatial dimensions.",
           ConvTranspose<3>{})
        .samples([] {
          return Samples{{{sample({1, 1, 2, 1, 2}), sample({1, 1, 2, 2, 2}), sample({1})}}};
        });

// ---- padding by name

// 'same' pads so that the sizes stay; an odd total pads one more at the end, in a copy.
Tensor convolve_same(const char* who, size_t count, const Tensor& input, const Tensor& weight,
                     const Tensor& bias, const Dims& dilation, int64_t groups) {
  Dims spread = per_dimension(who, "dilation", dilation, count, 1), padding, more(2 * count, 0);
  if (weight.sizes().size() != count + 2) {
    fail("{}: expects a weight of {} dimensions, got sizes {}", who, count + 2,
         text(weight.sizes()));
  }
  bool uneven = false;
  for (size_t i = 0; i < count; i++) {
    Dim total = spread[i] * (weight.sizes()[i + 2] - 1);
    padding.push_back(total / 2);
    bool odd = !(total % 2 == 0);
    if (odd) more[2 * (count - i) - 1] = 1;  // pairs from the last dimension on: before, after
    uneven |= odd;
  }
  return convolve_any_batch(who, count, uneven ? constant_pad_nd(input, more) : input, weight, bias,
                            {Dims{1}, padding, spread, groups});
}

template <size_t count>
struct ConvPadding {
  Tensor operator()(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    const Dims& stride, const std::string& padding, const Dims& dilation,
                    int64_t groups) const {
    const char* who = Conv<count>::kNames[count - 1];
    if (padding == "valid") {
      return convolve_any_batch(who, count, input, weight, bias,
                                {stride, Dims{0}, dilation, groups});
    }
    if (padding != "same") {
      fail("{}: padding '{}' is not known; use 'valid', 'same' or numbers", who, padding);
    }
    for (Dim step : stride) {
      if (!(step == 1)) {
        fail("{}: padding 'same' needs a stride of 1, got {}; give the padding as numbers", who,
             text(stride));
      }
    }
    return convolve_same(who, count, input, weight, bias, dilation, groups);
  }
};

const auto conv1d_padding_entry =
    define(conv1d_padding, "As conv1d, with the padding by name: 'valid' or 'same'.",
           ConvPadding<1>{})
        .samples([] {
          return Samples{
              {{sample({1, 2, 5}), sample({2, 2, 4}), sample({2}), Dims{1}, std::string("same")}},
              {{sample({1, 2, 5}), sample({2, 2, 3})}, "valid"}};
        });
const auto conv2d_padding_entry =
    define(conv2d_padding, "As conv2d, with the padding by name: 'valid' or 'same'.",
           ConvPadding<2>{})
        .samples([] {
          return Samples{{{sample({1, 1, 3, 4}), sample({1, 1, 3, 2}), sample({1}), Dims{1},
                           std::string("same"), Dims{1, 2}}}};
        });
const auto conv3d_padding_entry =
    define(conv3d_padding, "As conv3d, with the padding by name: 'valid' or 'same'.",
           ConvPadding<3>{})
        .samples([] {
          return Samples{{{sample({1, 1, 2, 2, 2}), sample({1, 1, 1, 2, 1}), sample({1}), Dims{1},
                           std::string("same")}}};
        });

}  // namespace
}  // namespace fg
