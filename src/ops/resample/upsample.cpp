// Images at other sizes: one dimension after the other, the last first.
#include <limits>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/resample/resample.h"
#include "ops/resample/resample_kernel.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ops::entry;
using kernels::Filter;

namespace {

// ---- the primitives: along one dimension, linear, each the other's gradient

struct ResampleParams {
  ir::Axis axis;
  Filter filter = Filter::nearest;
  bool align_corners = false;
  double scale = 0;  // results per input; 0: the ratio of the sizes
  Dim input, output;
  bool operator==(const ResampleParams&) const = default;
};

void infer(const Tensor& from, Dim size, const ResampleParams& p, Meta* out) {
  out[0].sizes = from.sizes();
  out[0].sizes[static_cast<size_t>(int64_t{p.axis})] = size;
  out[0].dtype = from.dtype();
}
template <bool transposed>
void infer_resample(Operands inputs, const ResampleParams& p, Meta* out) {
  infer(*inputs[0], transposed ? p.input : p.output, p, out);
}

template <bool transposed>
void evaluate_resample(Operands inputs, const ResampleParams& p, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor from = kernels::as_contiguous(*inputs[0]);
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < from.dim(); i++) {
    if (i != p.axis) (i < p.axis ? outer : inner) *= from.sizes()[i].value();
  }
  kernels::Sampling sampling{p.filter, p.align_corners, p.scale, p.input.value(), p.output.value()};
  (transposed ? kernels::resample_transposed : kernels::resample)(
      from.dtype(), sampling, outer, inner, from.data_ptr(), out[0].data_ptr());
}

// Demands of graphs that come as text, which the functions below meet.
template <bool transposed>
void require_resample(Operands inputs, const ResampleParams& p) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const Dims& sizes = inputs[0]->sizes();
  bool usable = p.axis >= 0 && p.axis < static_cast<int64_t>(sizes.size()) && p.input >= 1 &&
                p.output >= 1 && p.input <= kMost && p.output <= kMost && p.scale >= 0 &&
                p.scale <= kMost && (p.scale == 0 || p.scale * kMost >= 1);
  usable =
      usable && sizes[static_cast<size_t>(int64_t{p.axis})] == (transposed ? p.output : p.input);
  DType dtype = inputs[0]->dtype();
  bool copies = !transposed && p.filter < Filter::linear;
  ops::demand(usable && (copies || dtype == kFloat32 || dtype == kFloat64), "resample",
              "a dimension of the sizes given, of float32 or float64");
}

Tensor back(const ResampleParams& p, const Tensor& grad);
const Registered resample_p =
    ops::plain_primitive<ResampleParams, infer_resample<false>, evaluate_resample<false>>(
        "resample", Kind::gather, "t")
        .requiring<require_resample<false>>()
        .linear_in({0})
        .vjp("ResampleBackward0", wrt(0, saves::nothing, [](const Vjp& v, const ResampleParams& p) {
               return back(p, v.grad());
             }));
const Registered resample_transposed_p =
    ops::plain_primitive<ResampleParams, infer_resample<true>, evaluate_resample<true>>(
        "resample_transposed", Kind::scatter, "t")
        .requiring<require_resample<true>>()
        .linear_in({0})
        .vjp("ResampleTransposedBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, const ResampleParams& p) {
               return resample_p.with(p, v.grad());
             }));
// Sums of 16-bit floats are rounded once, at the end.
Tensor wide(const Tensor& x) {
  return x.dtype() == kFloat32 || x.dtype() == kFloat64 ? x : to(x, kFloat32);
}
Tensor back(const ResampleParams& p, const Tensor& grad) {
  return to(resample_transposed_p.with(p, wide(grad)), grad.dtype());
}

// ---- functions

struct How {
  Filter filter;
  bool align_corners;
  std::array<OptFloat, 3> scales;
};

template <size_t spatial>
void check_sizes(const char* who, const Dims& input, const Dims& output) {
  if (output.size() != spatial) {
    fail("{}: output_size must be {} numbers, got {}", who, spatial, text(output));
  }
  bool usable = input.size() == spatial + 2 && !(input[1] == 0);
  for (size_t i = 0; usable && i < spatial; i++) {
    if (input[i + 2] < 1 || output[i] < 1) {
      fail("{}: sizes must be greater than 0, got an input of sizes {} and the output size {}", who,
           text(input), text(output));
    }
  }
  if (!usable) {
    fail(
        "{}: the input has sizes {}; expected a batch, channels and {} dimensions, where only the "
        "batch may be empty",
        who, text(input), spatial);
  }
}
void check_dtype(const char* who, DType dtype, Filter filter) {
  bool half = dtype == kFloat16 || dtype == kBFloat16;
  bool known = filter < Filter::wide_linear || !half;
  if (known && (is_floating(dtype) || dtype == kUInt8)) return;
  fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to float32", who,
       name(dtype));
}

template <size_t spatial>
ResampleParams params_of(const How& how, const Dims& input, const Dims& output, size_t d) {
  return {.axis = static_cast<int64_t>(d + 2),
          .filter = how.filter,
          .align_corners = how.align_corners,
          .scale = std::max(how.scales[d].value_or(0), 0.0),
          .input = input[d + 2],
          .output = output[d]};
}

template <size_t spatial>
Tensor resampled(const char* who, const Tensor& self, const Dims& output, const How& how) {
  check_sizes<spatial>(who, self.sizes(), output);
  check_dtype(who, self.dtype(), how.filter);
  bool copies = how.filter < Filter::linear;
  Tensor x = copies ? self : wide(self);
  for (size_t d = spatial; d-- > 0;) {
    x = resample_p.with(params_of<spatial>(how, self.sizes(), output, d), x);
  }
  if (self.dtype() == kUInt8 && !copies) x = clamp(round(x), 0, 255);
  return to(x, self.dtype());
}
template <size_t spatial>
Tensor handed_back(const Vjp& v, const Dims& output, const How& how) {
  Tensor grad = wide(v.grad());
  for (size_t d = 0; d < spatial; d++) {
    grad = resample_transposed_p.with(params_of<spatial>(how, v.sizes(0), output, d), grad);
  }
  return grad;
}

// The body and the rule of a function: nearest ones have no align_corners.
template <size_t spatial, Filter filter, Text who>
struct Upsample {
  template <class... Scales>
  static How how(bool align_corners, const Scales&... scales) {
    return {filter, align_corners, {scales...}};
  }
  struct Body {
    template <class... Scales>
    Tensor operator()(const Tensor& self, const Dims& size, const Scales&... scales) const {
      return resampled<spatial>(who.chars, self, size, how(false, scales...));
    }
    template <class... Scales>
    Tensor operator()(const Tensor& self, const Dims& size, bool align_corners,
                      const Scales&... scales) const {
      return resampled<spatial>(who.chars, self, size, how(align_corners, scales...));
    }
  };
  struct Rule {
    template <class... Scales>
    Tensor operator()(const Vjp& v, const Dims& size, const Scales&... scales) const
      requires(sizeof...(Scales) == spatial)
    {
      return handed_back<spatial>(v, size, how(false, scales...));
    }
    template <class... Scales>
    Tensor operator()(const Vjp& v, const Dims& size, const bool& align_corners,
                      const Scales&... scales) const
      requires(sizeof...(Scales) == spatial)
    {
      return handed_back<spatial>(v, size, how(align_corners, scales...));
    }
  };
};

template <size_t spatial, Filter filter, Text who, Text S>
auto define_upsample(Function<S> function, const char* documentation, const char* node) {
  using Parts = Upsample<spatial, filter, who>;
  return define(function, documentation, typename Parts::Body{})
      .shown(Shown::nowhere)
      .vjp(node, wrt(0, saves::shape(0), typename Parts::Rule{}))
      .out();
}

Tensor image(size_t spatial) {
  if (spatial == 1) return sample({1, 2, 5});
  return spatial == 2 ? sample({1, 2, 3, 4}) : sample({1, 1, 2, 3, 2});
}
Dims larger(size_t spatial) {
  if (spatial == 1) return {7};
  return spatial == 2 ? Dims{5, 7} : Dims{3, 5, 4};
}
template <size_t spatial>
Samples nearest_samples() {
  Dims smaller = larger(spatial);
  for (Dim& size : smaller) size = size - 3 > 1 ? size - 3 : Dim(2);
  return {{{image(spatial), larger(spatial)}}, {{image(spatial), smaller}, "smaller"}};
}
template <size_t spatial>
Samples smooth_samples() {
  Samples all;
  for (bool align : {false, true}) {
    all.push_back({{image(spatial), larger(spatial), Scalar(align)}, align ? "corners" : ""});
  }
  Dims smaller(spatial, 2);
  std::vector<ir::Value> scaled{image(spatial), smaller, Scalar(false)};
  const ir::Value ratio(Scalar(0.6));
  scaled.insert(scaled.end(), spatial, ratio);
  all.push_back({scaled, "scales"});
  return all;
}

const auto nearest1d_entry =
    define_upsample<1, Filter::nearest, "upsample_nearest1d">(
        upsample_nearest1d, "The elements nearest to each place.", "UpsampleNearest1DBackward0")
        .samples(nearest_samples<1>);
const auto nearest2d_entry =
    define_upsample<2, Filter::nearest, "upsample_nearest2d">(
        upsample_nearest2d, "The elements nearest to each place.", "UpsampleNearest2DBackward0")
        .samples(nearest_samples<2>);
const auto nearest3d_entry =
    define_upsample<3, Filter::nearest, "upsample_nearest3d">(
        upsample_nearest3d, "The elements nearest to each place.", "UpsampleNearest3DBackward0")
        .samples(nearest_samples<3>);
const auto nearest_exact1d_entry =
    define_upsample<1, Filter::nearest_exact, "_upsample_nearest_exact1d">(
        _upsample_nearest_exact1d, "The elements nearest to the centre of each place.",
        "UpsampleNearestExact1DBackward0")
        .samples(nearest_samples<1>);
const auto nearest_exact2d_entry =
    define_upsample<2, Filter::nearest_exact, "_upsample_nearest_exact2d">(
        _upsample_nearest_exact2d, "The elements nearest to the centre of each place.",
        "UpsampleNearestExact2DBackward0")
        .samples(nearest_samples<2>);
const auto nearest_exact3d_entry =
    define_upsample<3, Filter::nearest_exact, "_upsample_nearest_exact3d">(
        _upsample_nearest_exact3d, "The elements nearest to the centre of each place.",
        "UpsampleNearestExact3DBackward0")
        .samples(nearest_samples<3>);
const auto linear1d_entry =
    define_upsample<1, Filter::linear, "upsample_linear1d">(
        upsample_linear1d, "Straight lines between elements.", "UpsampleLinear1DBackward0")
        .samples(smooth_samples<1>);
const auto bilinear2d_entry =
    define_upsample<2, Filter::linear, "upsample_bilinear2d">(
        upsample_bilinear2d, "Straight lines between elements.", "UpsampleBilinear2DBackward0")
        .samples(smooth_samples<2>);
const auto trilinear3d_entry =
    define_upsample<3, Filter::linear, "upsample_trilinear3d">(
        upsample_trilinear3d, "Straight lines between elements.", "UpsampleTrilinear3DBackward0")
        .samples(smooth_samples<3>);
const auto bicubic2d_entry =
    define_upsample<2, Filter::cubic, "upsample_bicubic2d">(
        upsample_bicubic2d, "Cubic curves between elements.", "UpsampleBicubic2DBackward0")
        .samples(smooth_samples<2>);
const auto bilinear2d_aa_entry = define_upsample<2, Filter::wide_linear, "_upsample_bilinear2d_aa">(
                                     _upsample_bilinear2d_aa, "Means with triangles as weights.",
                                     "UpsampleBilinear2DAaBackward0")
                                     .samples(smooth_samples<2>);
const auto bicubic2d_aa_entry = define_upsample<2, Filter::wide_cubic, "_upsample_bicubic2d_aa">(
                                    _upsample_bicubic2d_aa, "Means with cubic curves as weights.",
                                    "UpsampleBicubic2DAaBackward0")
                                    .samples(smooth_samples<2>);
const auto lanczos2d_aa_entry =
    define_upsample<2, Filter::wide_lanczos, "_upsample_lanczos2d_aa">(
        _upsample_lanczos2d_aa, "Means with windowed sinc functions as weights.",
        "UpsampleLanczos2DAaBackward0")
        .samples(smooth_samples<2>);

}  // namespace
}  // namespace fg
