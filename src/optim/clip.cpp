#include "optim/clip.h"

#include <cmath>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/number.h"
#include "ops/elementwise/unary.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/view_kind.h"

namespace fg::optim {

namespace {

struct NormOrder {
  double order;
  bool operator==(const NormOrder&) const = default;
};
const ir::Registered finite_p = ops::checked<NormOrder, [](const Tensor& norm, const auto& p) {
  if (std::isfinite(norm.item().to_double())) return;
  fail(
      "The total norm of order {:.1f} for gradients from `parameters` is non-finite, so it cannot "
      "be "
      "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
      "`error_if_nonfinite=False`",
      p.order);
}>("finite_norm");

}  // namespace

Tensor norm_of(const Tensors& tensors, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  Tensors norms;
  for (const Tensor& tensor : tensors) norms.push_back(linalg_vector_norm(tensor, norm_type));
  Tensor norm = linalg_vector_norm(stack(norms), norm_type);
  return error_if_nonfinite ? finite_p.with({norm_type}, norm) : norm;
}

Tensor scale_for(const Tensor& norm, const Scalar& max_norm) {
  return ((norm + 1e-6).reciprocal() * max_norm).clamp({}, 1.0);
}

Tensor clip_norm(Tensors& gradients, const Scalar& max_norm, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  Tensors there;
  for (const Tensor& gradient : gradients) {
    if (gradient.defined()) there.push_back(gradient);
  }
  Tensor norm = norm_of(there, 2, error_if_nonfinite);
  if (there.empty()) return norm;
  Tensor scale = scale_for(norm, max_norm);
  for (Tensor& gradient : gradients) {
    if (gradient.defined()) gradient = gradient * scale;
  }
  return norm;
}

void clip_value(Tensors& gradients, const Scalar& limit) {
  NoGradGuard no_grad;
  Tensor high = limit, low = ops::negative(limit);
  for (Tensor& gradient : gradients) {
    if (gradient.defined()) gradient = minimum(maximum(gradient, low), high);
  }
}

}  // namespace fg::optim
