// Ways to fill parameters, as torch::nn::init. Values come from our own random numbers.
#pragma once

#include "tensor/tensor.h"

namespace fg::nn::init {

Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
Tensor constant_(const Tensor& tensor, double value);
Tensor ones_(const Tensor& tensor);
Tensor zeros_(const Tensor& tensor);
Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
Tensor xavier_normal_(const Tensor& tensor, double gain = 1);
// Uniform values for leaky_relu of slope a; fan-in mode.
Tensor kaiming_uniform_(const Tensor& tensor, double a = 0);
Tensor kaiming_normal_(const Tensor& tensor, double a = 0);

struct Fans {
  int64_t in, out;
};
Fans fans_of(const Tensor& tensor);  // inputs of an output, outputs of an input

// The initial values of Linear and Conv: weight and bias within 1 / sqrt(inputs of an output).
void fill_affine(const Tensor& weight, const Tensor& bias);

}  // namespace fg::nn::init
