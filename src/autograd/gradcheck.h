// Checks gradients against finite differences. `f` takes the inputs and returns the outputs; inputs
// that require grad are moved element by element (in place, put back afterwards), so they should be
// float64 with well separated values. Outputs that are not floating do not count.
#pragma once

#include "tensor/tensor.h"

namespace fg::autograd {

struct GradcheckOptions {
  double eps = 1e-6;  // half the distance of the central difference
  double atol = 1e-5, rtol = 1e-3;
  bool raise_exception = true;       // otherwise a mismatch returns false
  double nondet_tol = 0;             // how far two runs of backward may differ
  bool check_undefined_grad = true;  // an output without gradient must act as one with zeros
};

using TensorFunction = Callback<Tensors(const Tensors& inputs)>;

// First derivatives of f. A mismatch is an Error that names output and input and shows both
// Jacobians (one row per input element, one column per output element).
bool gradcheck(const TensorFunction& f, const Tensors& inputs,
               const GradcheckOptions& options = {});

// Second derivatives: gradcheck of the gradient as a function of inputs and grad_outputs, which
// are made up where none are given.
bool gradgradcheck(const TensorFunction& f, const Tensors& inputs, const Tensors& grad_outputs = {},
                   const GradcheckOptions& options = {});

}  // namespace fg::autograd
