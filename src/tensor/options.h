// The dtype of a new tensor and whether it requires grad, as libtorch writes them:
// fg::ones({2}, fg::dtype(fg::kFloat64).requires_grad(true)).
#pragma once

#include "tensor/dtype.h"

namespace fg {

class TensorOptions {
 public:
  TensorOptions() = default;
  explicit TensorOptions(OptDType dtype) : dtype_(dtype) {}

  TensorOptions dtype(OptDType dtype) const {
    TensorOptions result = *this;
    result.dtype_ = dtype;
    return result;
  }
  TensorOptions requires_grad(bool on) const {
    TensorOptions result = *this;
    result.requires_grad_ = on;
    return result;
  }
  OptDType dtype_opt() const { return dtype_; }
  DType dtype() const { return dtype_.value_or(default_dtype()); }
  bool requires_grad() const { return requires_grad_; }

 private:
  OptDType dtype_{};
  bool requires_grad_ = false;
};

inline TensorOptions dtype(DType dtype) { return TensorOptions(dtype); }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }

}  // namespace fg
