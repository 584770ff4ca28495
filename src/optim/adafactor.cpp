// Adafactor: the means of squares of a matrix as the product of those of its rows and columns.
#include <cmath>
#include <limits>

#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_spread.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor row_var, col_var, variance;
};
struct Numbers {
  Number sign, keep, part, rate, least, least_square, least_size, clip;
};

Numbers numbers_of(const fg::Adafactor& settings, int64_t step, NoMemory&) {
  auto time = static_cast<double>(step);
  double least = settings.eps[0].value_or(0);
  return {.sign = given(settings.maximize, -1),
          .keep = given(settings.weight_decay != 0, 1 - settings.lr * settings.weight_decay),
          .part = std::pow(time, settings.beta2_decay),
          .rate = -std::min(settings.lr, 1 / std::sqrt(time)),
          .least = given(settings.eps[0].has_value(), least),
          .least_square = given(settings.eps[0].has_value(), least * least),
          .least_size = settings.eps[1].value_or(0),
          .clip = 1 / settings.d};
}

// Matrices keep means of their last two dimensions, vectors one for each element.
std::optional<Dims> sizes_of(std::string_view state, const Dims& sizes) {
  bool is_matrix = sizes.size() > 1;
  if (is_matrix == (state == "variance")) return std::nullopt;
  Dims result = sizes;
  if (state == "row_var") result[sizes.size() - 1] = 1;
  if (state == "col_var") result[sizes.size() - 2] = 1;
  return result;
}

double epsilon_of(DType dtype) {
  if (dtype == kFloat64) return std::numeric_limits<double>::epsilon();
  if (dtype == kFloat32) return std::numeric_limits<float>::epsilon();
  return dtype == kFloat16 ? 0x1p-10 : 0x1p-7;
}

Tensor root_of_mean_square(const Tensor& x) {
  return linalg_vector_norm(x, 2) * (1 / std::sqrt(static_cast<double>(x.numel())));
}
Tensor mean_square(const Tensor& x, int64_t dim) { return mean(x * x, Dims{dim}, true); }

// v += part (g^2 - v), or the same of the means of rows r and of columns c and v = r c / mean(r)
// u = g / sqrt(max(v, least^2));  p += rate max(least_size, rms(p)) u / max(1, clip rms(u))
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  double epsilon = epsilon_of(parameter.dtype());
  Tensor least = number.least ? *number.least : Tensor(Scalar(epsilon));
  Tensor least_square = number.least ? *number.least_square : Tensor(Scalar(epsilon * epsilon));
  Tensor rate = maximum(root_of_mean_square(parameter), *number.least_size) * *number.rate;
  if (number.keep) parameter = parameter * *number.keep;
  Tensor square;
  if (gradient.dim() > 1) {
    state.row_var = state.row_var.lerp(mean_square(gradient, -1), *number.part);
    state.col_var = state.col_var.lerp(mean_square(gradient, -2), *number.part);
    Tensor among_rows = maximum(mean(state.row_var, Dims{-2}, true), least);
    square = state.row_var * state.col_var / among_rows;
  } else {
    square = state.variance = state.variance.lerp(gradient * gradient, *number.part);
  }
  Tensor step = maximum(square, least_square).rsqrt() * gradient;
  Tensor shrink = maximum(root_of_mean_square(step) * *number.clip, Tensor(Scalar(1.0)));
  return parameter + step * (rate / shrink);
}

const Described adafactor = describe<fg::Adafactor, State, Numbers>(
    {.name = "Adafactor",
     .documentation = "Adaptive steps whose state has the size of rows and columns alone.",
     .python = "lr, beta2_decay, eps, d, weight_decay, *, foreach, maximize",
     .by_elements = false,
     .linear_in_rate = false,
     .sizes = sizes_of,
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
