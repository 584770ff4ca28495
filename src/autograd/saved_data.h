// A value of any kind that a custom function keeps from forward to backward by name. libtorch's
// names read the common ones; std::any_cast reads the rest.
#pragma once

#include <any>

#include "tensor/tensor.h"

namespace fg::autograd {

class SavedData : public std::any {
 public:
  SavedData() = default;
  template <class T>
    requires(!std::is_base_of_v<std::any, std::decay_t<T>>)
  SavedData(T&& value) : std::any(std::forward<T>(value)) {}  // NOLINT: saved_data["k"] = 2.0;

  // Each refuses a value of another kind.
  double toDouble() const;  // of a float or double
  int64_t toInt() const;    // of any integer but bool
  bool toBool() const;
  std::string toStringRef() const;
  const Tensor& toTensor() const;
  const Tensors& toTensorVector() const;
  const std::vector<int64_t>& toIntVector() const;
  const std::vector<double>& toDoubleVector() const;
};

}  // namespace fg::autograd
