// Muon: a momentum whose matrix is made orthogonal by a few Newton-Schulz steps.
#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/views.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor momentum_buffer;
};
struct Numbers {
  Number part, look_ahead, keep, a, b, c, eps;
  Number size, size_of_largest;  // one of the two: rules for the rate by the sizes of a matrix
};

bool matches_adamw(const fg::Muon& settings) {
  return settings.adjust_lr_fn == OptText("match_rms_adamw");
}

Numbers numbers_of(const fg::Muon& settings, int64_t, NoMemory&) {
  auto [a, b, c] = settings.ns_coefficients;
  return {.part = 1 - settings.momentum,
          .look_ahead = given(settings.nesterov, settings.momentum),
          .keep = 1 - settings.lr * settings.weight_decay,
          .a = a,
          .b = b,
          .c = c,
          .eps = settings.eps,
          .size = given(!matches_adamw(settings), -settings.lr),
          .size_of_largest = given(matches_adamw(settings), -0.2 * settings.lr)};
}

// Values that bfloat16 has, in float32: products are summed there and rounded once.
Tensor rounded(const Tensor& x) { return to(to(x, kBFloat16), kFloat32); }

// X = U f(S) V^T with f near 1:  A = X X^T;  X = a X + (b A + c A A) X
Tensor orthogonal(const Tensor& momentum, const Numbers& number, int64_t turns) {
  bool is_tall = momentum.size(0) > momentum.size(1);
  Tensor x = rounded(is_tall ? t(momentum) : momentum);
  x = rounded(x / maximum(rounded(linalg_vector_norm(x, 2)), *number.eps));
  for (int64_t i = 0; i < turns; i++) {
    Tensor gram = rounded(matmul(x, t(x)));
    Tensor change = rounded(gram * *number.b + matmul(gram, gram) * *number.c);
    x = rounded(x * *number.a + matmul(change, x));
  }
  return is_tall ? t(x) : x;
}

// m += part (g - m);  p = keep p + size sqrt(max(1, rows / columns)) X, where X is the orthogonal
// matrix of m, or of g + look_ahead (m - g)
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number,
              int64_t turns) {
  Tensor& mean = state.momentum_buffer;
  mean = mean.lerp(gradient, *number.part);
  Tensor momentum = number.look_ahead ? gradient.lerp(mean, *number.look_ahead) : mean;
  Tensor step = to(orthogonal(momentum, number, turns), parameter.dtype());
  auto rows = static_cast<double>(parameter.size(0));
  auto columns = static_cast<double>(parameter.size(1));
  Tensor size = number.size ? *number.size * std::sqrt(std::max(1.0, rows / columns))
                            : *number.size_of_largest * std::sqrt(std::max(rows, columns));
  return parameter * *number.keep + step * size;
}

void check_rule(const fg::Muon& settings) {
  if (settings.ns_steps >= 100 || settings.ns_steps < 0) {
    fail(ErrorKind::value, "Muon: ns_steps is {}; expected a number of steps less than 100",
         settings.ns_steps);
  }
  const OptText& rule = settings.adjust_lr_fn;
  if (!rule || *rule == "original" || *rule == "match_rms_adamw") return;
  fail(ErrorKind::value,
       "Muon: Adjust learning rate function {} is not supported; expected original or "
       "match_rms_adamw",
       *rule);
}
void check_matrix(const Tensor& parameter) {
  if (parameter.dim() == 2) return;
  fail(ErrorKind::value,
       "Muon only supports 2D parameters whereas we found a parameter with size: {}; give the "
       "others to AdamW",
       text(parameter.sizes()));
}

const Described muon = describe<fg::Muon, State, Numbers>(
    {.name = "Muon",
     .documentation = "Steps along the orthogonal matrix that is next to the momentum.",
     .python = "lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, "
               "adjust_lr_fn",
     .keeps_step = false,
     .by_elements = false,
     .own_numbers = OwnNumbers::none,
     .check = check_rule,
     .check_parameter = check_matrix,
     .numbers = numbers_of,
     .repeated = update,
     .turns = [](const fg::Muon& settings) { return settings.ns_steps; }});

}  // namespace

}  // namespace fg::optim
