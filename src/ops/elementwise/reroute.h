// Some calls of a function are another function in PyTorch, with a node of its own: pow with a
// number as exponent, div with a rounding mode. One name serves both here, which also keeps a
// number in C++ from being ambiguous; the calls in question are handed over.
#pragma once

#include <optional>

#include "ir/function.h"

namespace fg::ops {

template <Text From, Text To, class Choose, class Entry>
struct Reroute;
template <Text From, Text To, class Choose, class R, class... Args>
struct Reroute<From, To, Choose, R (*)(Args...)> {
  inline static R (*stay)(Args...) = nullptr;
  inline static R (*stay_inplace)(Args...) = nullptr;

  static R call(Args... args) {
    if (auto other = Choose{}(args...)) return std::apply(ir::Slot<To>::call, *other);
    return stay(args...);
  }
  static R call_inplace(Args... args) {
    if (auto other = Choose{}(args...)) return std::apply(ir::Slot<To>::call_inplace, *other);
    return stay_inplace(args...);
  }
};

// `choose` takes the arguments of `from` and returns the optional tuple of arguments for `to`. Both
// must be defined before, in the same file.
template <Text From, Text To, class Choose>
bool reroute(ir::Function<From>, ir::Function<To>, Choose) {
  using Slot = ir::Slot<From>;
  using R = Reroute<From, To, Choose, typename Slot::Entry>;
  R::stay = std::exchange(Slot::call, R::call);
  if (Slot::call_inplace) R::stay_inplace = std::exchange(Slot::call_inplace, R::call_inplace);
  return true;
}

inline bool is_number(const Tensor& tensor) { return tensor.impl()->wrapped_number; }

// A number as an ordinary tensor: by themselves, numbers are computed in the default dtype.
inline Tensor without_number(const Tensor& operand, DType dtype) {
  return is_number(operand) ? operand.to(dtype, true) : operand;
}

// For the usual case: (self, number) where (self, tensor) was declared.
inline std::optional<std::tuple<const Tensor&, Scalar>> with_number(const Tensor& self,
                                                                    const Tensor& other) {
  if (!is_number(other)) return std::nullopt;
  return std::tuple<const Tensor&, Scalar>(self, number_in(other));
}

}  // namespace fg::ops
