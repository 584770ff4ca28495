#include "nn/init.h"

#include <cmath>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/random/random.h"

namespace fg::nn::init {

Tensor uniform_(const Tensor& tensor, double low, double high) {
  NoGradGuard no_grad;
  return fg::uniform_(tensor, low, high);
}

Tensor normal_(const Tensor& tensor, double mean, double std) {
  NoGradGuard no_grad;
  return fg::normal_(tensor, mean, std);
}

Tensor constant_(const Tensor& tensor, double value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}

Tensor ones_(const Tensor& tensor) { return constant_(tensor, 1); }
Tensor zeros_(const Tensor& tensor) { return constant_(tensor, 0); }

Fans fans_of(const Tensor& tensor) {
  if (tensor.dim() < 2) {
    fail(ErrorKind::value,
         "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  }
  int64_t field = 1;
  for (int64_t i = 2; i < tensor.dim(); i++) field *= tensor.size(i);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

Tensor xavier_uniform_(const Tensor& tensor, double gain) {
  Fans fans = fans_of(tensor);
  double bound = gain * std::sqrt(6.0 / static_cast<double>(fans.in + fans.out));
  return uniform_(tensor, -bound, bound);
}

Tensor xavier_normal_(const Tensor& tensor, double gain) {
  Fans fans = fans_of(tensor);
  return normal_(tensor, 0, gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out)));
}

static double kaiming(const Tensor& tensor, double a) {
  double gain = std::sqrt(2.0 / (1 + a * a));
  return gain / std::sqrt(static_cast<double>(fans_of(tensor).in));
}

Tensor kaiming_uniform_(const Tensor& tensor, double a) {
  if (tensor.numel() == 0) return tensor;
  double bound = std::sqrt(3.0) * kaiming(tensor, a);
  return uniform_(tensor, -bound, bound);
}

Tensor kaiming_normal_(const Tensor& tensor, double a) {
  if (tensor.numel() == 0) return tensor;
  return normal_(tensor, 0, kaiming(tensor, a));
}

void fill_affine(const Tensor& weight, const Tensor& bias) {
  kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  int64_t inputs = fans_of(weight).in;
  double bound = inputs > 0 ? 1 / std::sqrt(static_cast<double>(inputs)) : 0;
  uniform_(bias, -bound, bound);
}

}  // namespace fg::nn::init
