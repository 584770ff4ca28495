// Negative log likelihoods of counts and of normal values, and cross entropy of features.
#include <cmath>
#include <numbers>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ops::check_reduction;
using ops::reduced;

namespace {

// ---- poisson_nll_loss

// Stirling's approximation of log(target!), for targets above 1.
Tensor log_factorial(const Tensor& target) {
  Tensor value = target * log(target) - target + log(target * (2 * std::numbers::pi)) * 0.5;
  return masked_fill(value, target <= 1, 0);
}
const auto poisson_nll_entry =
    define(poisson_nll_loss,
           "Rate - target * log(rate), where the rate is exp(input), or the input itself.",
           [](const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
              const std::string& reduction) {
             check_reduction("poisson_nll_loss", reduction);
             Tensor losses =
                 log_input ? exp(input) - target * input : input - target * log(input + eps);
             if (full) losses = losses + log_factorial(target);
             return reduced(losses, reduction);
           })
        .shown(Shown::as_function)
        .samples([] {
          Samples all;
          for (const char* reduction : {"none", "mean", "sum"}) {
            all.push_back({{sample({2, 3}), sample({2, 3}, 1.5, 4), Scalar(true), Scalar(false),
                            Scalar(1e-8), std::string(reduction)},
                           reduction});
          }
          all.push_back(
              {{sample({2, 3}, 0.5, 3), sample({2, 3}, 1.5, 4), Scalar(false), Scalar(true)},
               "rates, full"});
          return all;
        });

// ---- gaussian_nll_loss

// The variance has the sizes of the input, with 1 in one place, or without the last one.
Tensor fitting_variance(const Tensor& input, const Tensor& var) {
  if (var.dim() == 0 || var.sizes() == input.sizes()) return var;
  const Dims& sizes = input.sizes();
  Dims leading = sizes;
  if (!leading.empty()) leading.pop_back();
  if (var.sizes() == leading) return unsqueeze(var, -1);
  size_t apart = 0;
  bool single = var.sizes().size() == sizes.size();
  for (size_t i = 0; single && i < sizes.size(); i++) {
    if (var.sizes()[i] == sizes[i]) continue;
    apart++;
    single = var.sizes()[i] == 1;
  }
  if (single && apart == 1) return var;
  fail(ErrorKind::value,
       "gaussian_nll_loss: var has sizes {} and the input {}; expected the same, with 1 in the "
       "place of one dimension or without the last",
       text(var.sizes()), text(sizes));
}
void check_variance(const Tensor& var) {
  if (sum(var < 0).item<int64_t>() == 0) return;
  fail(ErrorKind::value, "gaussian_nll_loss: var has negative entries; expected variances");
}
const Registered checked_variance_p =
    ops::checked<ir::NoParams, [](const Tensor& var, const ir::NoParams&) { check_variance(var); }>(
        "checked_variance");
Tensor checked_variance(const Tensor& var) {
  if (!var.is_known()) return checked_variance_p(var);
  check_variance(var);
  return var;
}
// At least eps; as in PyTorch the gradient passes as if nothing were limited.
Tensor at_least(const Tensor& var, double eps) {
  return where(var < eps, var - var.detach() + eps, var);
}
const auto gaussian_nll_entry =
    define(gaussian_nll_loss, "(log(var) + (input - target)^2 / var) / 2, var at least eps.",
           [](const Tensor& input, const Tensor& target, const Tensor& var, bool full, double eps,
              const std::string& reduction) {
             check_reduction("gaussian_nll_loss", reduction);
             Tensor variance = at_least(checked_variance(fitting_variance(input, var)), eps);
             Tensor losses = (log(variance) + square(input - target) / variance) * 0.5;
             if (full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
             return reduced(losses, reduction);
           })
        .shown(Shown::in_nn)
        .samples([] {
          Samples all;
          for (const char* reduction : {"none", "mean", "sum"}) {
            all.push_back({{sample({2, 3}), sample({2, 3}, -1, 3), sample({2, 3}, 0.5, 2),
                            Scalar(true), Scalar(1e-6), std::string(reduction)},
                           reduction});
          }
          all.push_back(
              {{sample({2, 3}), sample({2, 3}, -1, 3), sample({2}, 0.5, 2)}, "one per row"});
          return all;
        });

// ---- linear_cross_entropy

void check_linear_entropy(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (input.dim() != 1 && input.dim() != 2) {
    fail("linear_cross_entropy: the input has sizes {}; expected [features] or [N, features]",
         text(input.sizes()));
  }
  if (weight.dim() < 2 || !(weight.sizes().back() == input.sizes().back())) {
    fail("linear_cross_entropy: linear_weight has sizes {}; expected [classes, ..., {}]",
         text(weight.sizes()), input.sizes().back().text());
  }
  Dims outputs = weight.sizes();
  outputs.pop_back();
  if (bias.defined() && !(bias.sizes() == outputs)) {
    fail("linear_cross_entropy: linear_bias has sizes {}; expected {}", text(bias.sizes()),
         text(outputs));
  }
  if (outputs.size() > 1 && input.dim() == 1) {
    fail("linear_cross_entropy: linear_weight of sizes {} needs an input [N, features], got {}",
         text(weight.sizes()), text(input.sizes()));
  }
}
const auto linear_cross_entropy_entry =
    define(linear_cross_entropy, "cross_entropy of linear(input, linear_weight, linear_bias).",
           [](const Tensor& input, const Tensor& linear_weight, const Tensor& target,
              const Tensor& bias, const Tensor& weight, const std::string& reduction,
              OptInt ignore_index, double smoothing) {
             check_linear_entropy(input, linear_weight, bias);
             Dims scores = input.sizes(), outputs = linear_weight.sizes();
             scores.pop_back();
             outputs.pop_back();
             for (Dim size : outputs) scores.push_back(size);
             if (target.sizes() == scores && ignore_index) {
               fail(
                   "linear_cross_entropy: ignore_index is {}, which probabilities as targets do "
                   "not have; leave it out",
                   *ignore_index);
             }
             Tensor table =
                 reshape(linear_weight, {product(outputs), linear_weight.sizes().back()});
             Tensor offset = bias.defined() ? reshape(bias, {product(outputs)}) : bias;
             return cross_entropy(reshape(linear(input, table, offset), scores), target, weight,
                                  ignore_index.value_or(-100), reduction, smoothing);
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{
              {{sample({4, 2}), sample({3, 2}), sample_indices({4}, 3)}},
              {{sample({4, 2}), sample({3, 2}, -1, 1), sample_indices({4}, 3), sample({3})},
               "bias"}};
        });

}  // namespace
}  // namespace fg
