// Images at the places of a grid: coordinates become indices and weights, which are tensors, and
// the values are weighted sums.
#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/matmul/matmul.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/resample/resample.h"
#include "ops/resample/taps.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace {

enum Interpolation : int64_t { kLinear, kNearest, kCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

struct Sampler {
  int64_t interpolation, padding;
  bool align_corners;
};

// ---- coordinates of one dimension

// From [-1, 1] to indices: the ends are the centres of the outer elements, or their edges.
Tensor as_index(const Tensor& coordinate, const Tensor& size, bool align_corners) {
  if (align_corners) return (coordinate + 1) / 2 * (size - 1);
  return ((coordinate + 1) * size - 1) / 2;
}
// Limits have no gradient, as in PyTorch.
Tensor clipped(const Tensor& x, const Tensor& size) {
  return where(x >= size - 1, size - 1, where(x > 0, x, 0));
}
// Mirrored between the centres of the outer elements, or between their edges.
Tensor reflected(const Tensor& x, const Tensor& size, bool align_corners) {
  Tensor low = align_corners ? zeros_like(size) : zeros_like(size) - 0.5;
  Tensor span = align_corners ? size - 1 : size, away = abs(x - low);
  Tensor rest = fmod(away, span), flips = floor(away / span);
  Tensor mirrored = where(remainder(flips, 2) == 0, rest + low, span - rest + low);
  return where(span == 0, 0, mirrored);
}
Tensor padded(const Tensor& x, const Tensor& size, const Sampler& s) {
  if (s.padding == kZeros) return x;
  return clipped(s.padding == kBorder ? x : reflected(x, size, s.align_corners), size);
}

// Indices along one dimension, and their weights. What is outside of the image, or no number, has
// the index -1.
struct Tap {
  Tensor index, weight;
};
Tensor inside(const Tensor& index, const Tensor& size) {
  return to(where(logical_and(index >= 0, index < size), index, -1), kInt64);
}

// The weights of a cubic convolution with slope -0.75 for taps -1, 0, 1, 2 at distance t from 0.
std::array<Tensor, 4> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  auto near = [](const Tensor& x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [](const Tensor& x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

std::vector<Tap> taps_of(const Tensor& coordinate, const Tensor& size, const Sampler& s) {
  Tensor x = as_index(coordinate, size, s.align_corners);
  if (s.interpolation == kCubic) {
    Tensor low = floor(x);
    std::array<Tensor, 4> weights = cubic_weights(x - low);
    std::vector<Tap> taps;
    for (int64_t k = 0; k < 4; k++) {
      taps.push_back({inside(padded(low - 1 + k, size, s), size), weights[k]});
    }
    return taps;
  }
  x = padded(x, size, s);
  if (s.interpolation == kNearest) {
    Tensor at = round(x);
    // A weight of one whose gradient is zero, not absent.
    return {{inside(at, size), where(isfinite(at), at, 0) * 0 + 1}};
  }
  Tensor low = floor(x);
  return {{inside(low, size), low + 1 - x}, {inside(low + 1, size), x - low}};
}

// ---- the image

// All combinations of one tap per dimension, the first dimension outermost.
std::vector<Tap> combined(const std::vector<std::vector<Tap>>& taps, const Dims& sizes) {
  std::vector<Tap> all = taps[0];
  for (size_t d = 1; d < taps.size(); d++) {
    Tensor size = to(ops::number_of(sizes[d + 2]), kInt64, true);
    std::vector<Tap> next;
    for (const Tap& outer : all) {
      for (const Tap& inner : taps[d]) {
        Tensor outside = logical_or(outer.index < 0, inner.index < 0);
        next.push_back(
            {where(outside, -1, outer.index * size + inner.index), outer.weight * inner.weight});
      }
    }
    all = std::move(next);
  }
  return all;
}

void check_grid(const char* who, const Tensor& input, const Tensor& grid, size_t spatial,
                const Sampler& s) {
  if (input.dtype() != grid.dtype()) {
    fail("{}: the input is {} and the grid {}; expected one dtype", who, name(input.dtype()),
         name(grid.dtype()));
  }
  if (!is_floating(input.dtype())) {
    fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to float32", who,
         name(input.dtype()));
  }
  const Dims &x = input.sizes(), &g = grid.sizes();
  bool usable = x.size() == spatial + 2 && g.size() == spatial + 2 && x[0] == g[0] &&
                g.back() == static_cast<int64_t>(spatial);
  for (size_t i = 0; usable && i < spatial; i++) usable = !(x[i + 2] == 0);
  if (!usable) {
    fail(
        "{}: got an input of sizes {} and a grid of sizes {}; expected [n, c, ...] with {} sizes "
        "that are not 0, and [n, ..., {}]",
        who, text(x), text(g), spatial, spatial);
  }
  if (s.interpolation < kLinear || s.interpolation > kCubic || s.padding < kZeros ||
      s.padding > kReflection) {
    fail("{}: got the modes {} and {}; expected 0, 1 or 2", who, s.interpolation, s.padding);
  }
  if (s.interpolation == kCubic && spatial == 3) {
    fail("{}: bicubic interpolation is for images; use a linear one for volumes", who);
  }
}

Tensor sampled(const char* who, const Tensor& input, const Tensor& grid, size_t spatial,
               const Sampler& s) {
  check_grid(who, input, grid, spatial, s);
  bool half = input.dtype() == kFloat16 || input.dtype() == kBFloat16;
  Tensor places = half ? to(grid, kFloat32) : grid;
  std::vector<std::vector<Tap>> taps;
  for (size_t d = 0; d < spatial; d++) {
    // The last coordinate belongs to the first dimension.
    Tensor coordinate = select(places, -1, static_cast<int64_t>(spatial - 1 - d));
    Tensor size = to(ops::number_of(input.sizes()[d + 2]), places.dtype(), true);
    taps.push_back(taps_of(coordinate, size, s));
  }
  Tensors indices, weights;
  for (const Tap& tap : combined(taps, input.sizes())) {
    indices.push_back(tap.index);
    weights.push_back(tap.weight);
  }
  Tensor image = half ? to(input, kFloat32) : input;
  return to(ops::sum_taps(image, stack(weights), stack(indices)), input.dtype());
}

Samples grid_samples(const Dims& image, const Dims& grid, bool cubic) {
  Samples all;
  for (int64_t padding : {kZeros, kBorder, kReflection}) {
    for (int64_t mode : {kLinear, kNearest, kCubic}) {
      if (mode == kCubic && !cubic) continue;
      all.push_back({{sample(image), sample(grid, -1.2, 1.3), Scalar(mode), Scalar(padding),
                      Scalar(padding == kBorder)},
                     "mode " + std::to_string(mode) + ", padding " + std::to_string(padding),
                     mode != kNearest});
    }
  }
  return all;
}

const auto grid_sampler_2d_entry =
    define(grid_sampler_2d, "The values of images at the places of a grid.",
           [](const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
              bool align_corners) {
             return sampled("grid_sampler_2d", input, grid, 2,
                            {interpolation, padding, align_corners});
           })
        .shown(Shown::as_function)
        .samples([] { return grid_samples({1, 2, 3, 4}, {1, 2, 3, 2}, true); });
const auto grid_sampler_3d_entry =
    define(grid_sampler_3d, "The values of volumes at the places of a grid.",
           [](const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
              bool align_corners) {
             return sampled("grid_sampler_3d", input, grid, 3,
                            {interpolation, padding, align_corners});
           })
        .shown(Shown::as_function)
        .samples([] { return grid_samples({1, 2, 2, 3, 2}, {1, 1, 2, 2, 3}, false); });
const auto grid_sampler_entry =
    define(grid_sampler, "The values of images or volumes at the places of a grid.",
           [](const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
              bool align_corners) {
             return sampled("grid_sampler", input, grid, input.dim() == 5 ? 3 : 2,
                            {interpolation, padding, align_corners});
           })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{{{sample({1, 2, 3, 4}), sample({1, 2, 3, 2}, -1.2, 1.3), Scalar(0),
                           Scalar(0), Scalar(false)}}};
        });

// ---- affine grids

Dims spatial_of(const Dims& size) {
  return Dims(std::span<const Dim>(size.begin() + 2, size.end()));
}

// The homogeneous coordinates of all places of an image: [places, spatial + 1].
Tensor places_of(const Dims& size, DType dtype, bool align_corners) {
  size_t spatial = size.size() - 2;
  Dims sizes = spatial_of(size);
  Tensors columns;
  for (size_t d = spatial; d-- > 0;) {
    Tensor along = size[d + 2] > 1 ? linspace(-1, 1, size[d + 2], dtype) : zeros({1}, dtype);
    if (!align_corners) {
      Tensor count = to(ops::number_of(size[d + 2]), dtype, true);
      along = along * ((count - 1) / count);
    }
    Dims shape(spatial, 1);
    shape[d] = size[d + 2];
    columns.push_back(flatten(expand(reshape(along, shape), sizes)));
  }
  columns.push_back(ones({product(sizes)}, dtype));
  return stack(columns, 1);
}

void check_affine(const Tensor& theta, const Dims& size) {
  size_t spatial = size.size() - 2;
  Dims expected{size[0], Dim(spatial), Dim(spatial + 1)};
  if (theta.sizes() == expected && is_floating(theta.dtype())) return;
  fail("affine_grid_generator: theta is {} of sizes {}; expected floats of sizes {}",
       name(theta.dtype()), text(theta.sizes()), text(expected));
}
const auto affine_grid_entry =
    define(affine_grid_generator, "The places to which affine maps send the elements of images.",
           [](const Tensor& theta, const Dims& size, bool align_corners) {
             if (size.size() != 4 && size.size() != 5) {
               fail("affine_grid_generator: size is {}; expected [n, c, h, w] or [n, c, d, h, w]",
                    text(size));
             }
             check_affine(theta, size);
             Tensor places = places_of(size, theta.dtype(), align_corners);
             Dims result = spatial_of(size);
             result.insert(0, size[0]);
             result.push_back(static_cast<int64_t>(size.size()) - 2);
             return reshape(matmul(places, transpose(theta, 1, 2)), result);
           })
        .shown(Shown::as_function)
        .vjp("AffineGridGeneratorBackward0",
             wrt(0, saves::shape(0),
                 [](const Vjp& v, const Dims& size, bool align_corners) {
                   Tensor places = places_of(size, v.dtype(0), align_corners);
                   Dim axes = static_cast<int64_t>(size.size()) - 2;
                   Dims flat{size[0], product(spatial_of(size)), axes};
                   return matmul(transpose(reshape(v.grad(), flat), 1, 2), places);
                 }))
        .samples([] {
          return Samples{
              {{sample({2, 2, 3}), Dims{2, 1, 2, 3}, Scalar(false)}},
              {{sample({1, 3, 4}), Dims{1, 1, 2, 1, 3}, Scalar(true)}, "volume, corners"}};
        });

}  // namespace
}  // namespace fg
