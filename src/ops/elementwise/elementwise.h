// The elementwise kind: from a formula to a primitive with shape rule, kernels and expression.
//
//   static const auto sigmoid_p =
//       elementwise<Types::floating>("sigmoid", [](auto x) { return 1 / (1 + exp(-x)); })
//           .vjp("SigmoidBackward0", wrt(0, saves::out(), ...));
//
// Inputs broadcast and are converted to a common dtype: promotion is part of the primitive.
#pragma once

#include <atomic>

#include "ir/math.h"
#include "ir/primitive.h"
#include "ir/scalar.h"
#include "ops/kernels/row.h"

namespace fg::ops {

// The dtypes in which a formula computes. `floating`: others are converted to the default float.
enum class Types : uint8_t { floating, numeric, integral, all, floating_only, integral_or_bool };

struct ElementwiseInfo {
  const char* name;
  int arity;
  Types types;
  bool mask_first, bool_result;
  kernels::RowKernel (*find_kernel)(DType compute);  // null for a dtype that the formula has not
  std::atomic<kernels::RowKernel> found[kDTypeCount]{};

  DType dtype_of_input(int i, DType compute) const {
    return mask_first && i == 0 ? kBool : compute;
  }
  kernels::RowKernel kernel(DType compute) {
    auto& place = found[static_cast<int>(compute)];
    kernels::RowKernel kernel = place.load(std::memory_order_relaxed);
    if (!kernel) place.store(kernel = find_kernel(compute), std::memory_order_relaxed);
    return kernel;
  }
};

DType input_dtype(const ElementwiseInfo& info, ir::Operands inputs, int i);
void infer_elementwise(const ElementwiseInfo& info, ir::Operands inputs, ir::Meta& output);
void evaluate_elementwise(ElementwiseInfo& info, ir::Operands inputs, const void* params,
                          const Tensor& output);

constexpr bool computes_in(Types types, DType dtype) {
  switch (types) {
    case Types::floating:
    case Types::floating_only:
      return is_floating(dtype);
    case Types::numeric:
      return is_real(dtype);
    case Types::integral:
      return is_integral(dtype);
    case Types::integral_or_bool:
      return is_integral_or_bool(dtype);
    case Types::all:
      return is_real(dtype) || dtype == DType::boolean;
  }
  return false;
}

template <class F, class P, Types types, int arity, bool mask_first>
struct Elementwise {
  static kernels::RowKernel kernel(DType compute) {
    return visit(compute, [](auto zero) -> kernels::RowKernel {
      using S = decltype(zero);
      if constexpr (computes_in(types, DTypeOf<S>::value)) {
        return kernels::row_kernel<F, P, S, arity, mask_first>(level());
      } else {
        return nullptr;
      }
    });
  }
  static ir::Expr formula(std::span<const ir::Expr> in, const void* params) {
    return [&]<size_t... I>(std::index_sequence<I...>) -> ir::Expr {
      return kernels::apply_formula<F, P>(params, in[I]...);
    }(std::make_index_sequence<arity>{});
  }
  static inline ElementwiseInfo info{};

  static DType input_dtype(ir::Operands inputs, int i) { return ops::input_dtype(info, inputs, i); }
  static void infer(ir::Operands inputs, const void*, ir::Meta* outputs) {
    infer_elementwise(info, inputs, outputs[0]);
  }
  static void evaluate(ir::Operands inputs, const void* params, Tensor* outputs) {
    evaluate_elementwise(info, inputs, params, outputs[0]);
  }
};

// The number of values that a generic lambda takes, found by trying.
template <class F, class P>
constexpr int arity_of() {
  using V = ir::Expr;
  if constexpr (std::is_invocable_v<F, V> || std::is_invocable_v<F, V, const P&>)
    return 1;
  else if constexpr (std::is_invocable_v<F, V, V> || std::is_invocable_v<F, V, V, const P&>)
    return 2;
  else if constexpr (std::is_invocable_v<F, V, V, V> || std::is_invocable_v<F, V, V, V, const P&>)
    return 3;
  else
    return 4;
}

struct ElementwiseOptions {
  bool bool_result = false;  // comparisons and tests
};

template <Types types, class P, bool mask_first = false, int arity, class F>
ir::Primitive<P> make_elementwise(const char* name, F, ElementwiseOptions options) {
  using E = Elementwise<F, P, types, arity, mask_first>;
  E::info.name = name;
  E::info.arity = arity;
  E::info.types = types;
  E::info.mask_first = mask_first;
  E::info.bool_result = options.bool_result;
  E::info.find_kernel = E::kernel;
  ir::Primitive<P> primitive;
  primitive.name = name;
  primitive.kind = ir::Kind::elementwise;
  static_assert(arity <= 4);
  primitive.operands = "tttt" + (4 - arity);
  primitive.infer = E::infer;
  primitive.evaluate = E::evaluate;
  primitive.formula = E::formula;
  primitive.input_dtype = E::input_dtype;
  if (options.bool_result) primitive.no_gradient = "its results are bools";
  if (!computes_in(types, DType::f32)) primitive.no_gradient = "its results are integers";
  return primitive;
}

// A formula of `arity` values of one type, and parameters P if it takes them.
template <Types types, int arity, class P = ir::NoParams, class F>
ir::Primitive<P> elementwise(const char* name, F f, ElementwiseOptions options = {}) {
  return make_elementwise<types, P, false, arity>(name, f, options);
}
// The first value is a bool that chooses; the others have one type.
template <Types types, int arity, class P = ir::NoParams, class F>
ir::Primitive<P> masked_elementwise(const char* name, F f) {
  return make_elementwise<types, P, true, arity>(name, f, {});
}

// The dtype in which the inputs are computed, before the formula's own restrictions.
DType common_dtype(ir::Operands inputs);

// A parameter as a value of the formula: exact for integers, rounded to the type of floats. Lanes
// are those of kernels, which get numbers; for an expression it may be a symbol.
template <ir::FormulaValue V>
FG_INLINE V number(const V& like_this, const Scalar& value) {
  if constexpr (std::is_same_v<V, ir::Expr>) {
    if (!value.is_known()) return convert(ir::symbol_expression(value), like_this.dtype());
  }
  return if_float([&](const auto& x) FG_INLINED { return like(x, value.real()); },
                  [&](const auto& x) FG_INLINED { return like(x, value.integer()); }, like_this);
}

}  // namespace fg::ops
