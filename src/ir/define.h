// Defining functions: one entry holds documentation, body, gradient, forms and samples.
//
//   static const auto sum_entry =
//       define(sum, "Sum of all elements, or over the given dimensions.",
//              [](const Tensor& self, const OptDims& dim, bool keepdim, OptDType dtype) { ... })
//           .vjp("SumBackward1", wrt(0, saves::shape(0), [](const Vjp& v, ...) { ... }))
//           .samples([] { return Samples{...}; });
#pragma once

#include "ir/function.h"
#include "ir/record.h"
#include "ir/registry.h"

namespace fg::ir {

namespace detail {

template <Text S>
struct Defined {
  // Constant initialisation: entries of other files may be defined before dynamic initialisation.
  constinit inline static FunctionInfo info{};
};

// Tensor arguments become operands, the others are kept as copies.
template <class T>
constexpr bool is_operand = std::is_same_v<T, Tensor> || std::is_same_v<T, Tensors>;

template <class T>
auto operand_of(const T& argument) {
  if constexpr (is_operand<T>)
    return std::tuple<Operand>(argument);
  else
    return std::tuple<>();
}
template <class... Args>
auto operands_of(const Args&... args) {
  return std::apply(
      [](auto... operand) { return std::array<Operand, sizeof...(operand)>{operand...}; },
      std::tuple_cat(operand_of(args)...));
}
template <class T>
auto other_of(const T& argument) {
  if constexpr (is_operand<T>)
    return std::tuple<>();
  else
    return std::tuple<T>(argument);
}
template <class... Args>
auto others_of(const Args&... args) {
  return std::tuple_cat(other_of(args)...);
}

template <class T>
Value box_argument(const T& argument) {
  if constexpr (requires { argument.has_value(); })
    return argument ? box_argument(*argument) : Value();
  else if constexpr (std::is_same_v<T, Dim>)
    return argument.is_constant() ? Value(Scalar(argument.value())) : Value();
  else
    return box(argument);
}
// A tuple of arguments as values.
template <class Args>
std::vector<Value> box_arguments(const void* arguments) {
  return std::apply(
      [](const auto&... argument) { return std::vector<Value>{box_argument(argument)...}; },
      *static_cast<const Args*>(arguments));
}

// A call of a function on its way through the choke point: F computes the result.
template <class F, class Invoke, class R, class... Args>
class FunctionBody final : public Body {
 public:
  explicit FunctionBody(Args... args) : args_(args...) {}

  Returned<R> result;

  std::span<Tensor> run() override {
    result.value = std::apply(F{}, args_);
    return result.outputs();
  }
  std::span<Tensor> take(Tensors outputs) override { return result.take(std::move(outputs)); }
  Arguments arguments() const override { return std::apply(Invoke::arguments, args_); }

 private:
  std::tuple<Args...> args_;
};

// The call that users make: runs the body, below autograd when the function has its own gradient.
template <Text S, class Body, class Entry>
struct Invoke;
template <Text S, class Body, class R, class... Args>
struct Invoke<S, Body, R (*)(Args...)> {
  using Sig = Signature<S>;

  static Arguments arguments(const std::decay_t<Args>&... args) {
    if constexpr (requires { Body::arguments(args...); }) return Body::arguments(args...);
    auto kept = others_of(args...);
    if constexpr (std::tuple_size_v<decltype(kept)> == 0)
      return Arguments();
    else
      return Arguments(std::move(kept));
  }

  // Tensors that are not optional must be there.
  template <Type type, class T>
  static void check_argument(const T& argument, size_t position) {
    if constexpr (type == Type::tensor) {
      if (!argument.defined()) [[unlikely]]
        refuse_undefined(Defined<S>::info, position);
    } else if constexpr (type == Type::tensors) {
      for (const Tensor& element : argument) check_argument<Type::tensor>(element, position);
    }
  }
  static void check_arguments(const std::decay_t<Args>&... args) {
    if constexpr (requires { Body::skips_undefined; }) return;
    [&]<size_t... I>(std::index_sequence<I...>) {
      (check_argument<type_at<Sig, I>>(args, I), ...);
    }(std::index_sequence_for<Args...>());
  }

  static R call(Args... args) {
    check_arguments(args...);
    return Body{}(args...);
  }

  // One branch in the common case: nothing interprets or records the call.
  static R call_recording(Args... args) {
    check_arguments(args...);
    auto operands = operands_of(args...);
    const FunctionInfo& info = Defined<S>::info;
    bool recording = autograd::should_record(operands);
    if (!recording && !modes.interpreter) [[likely]] {
      Returned<R> result(Body{}(args...));
      forget_views(info, result.outputs());
      return std::move(result.value);
    }
    FunctionBody<Body, Invoke, R, Args...> body(args...);
    Call call{.function = &info,
              .gradient = info.gradient,
              .recording = recording,
              .inputs = operands,
              .body = &body};
    ir::call(call);
    return std::move(body.result.value);
  }

  static R call_inplace(Args... args) {
    check_arguments(args...);
    auto operands = operands_of(args...);
    FunctionBody<Body, Invoke, R, Args...> body(args...);
    const FunctionInfo& info = Defined<S>::info;
    Call call{.function = &info, .gradient = info.gradient, .inputs = operands, .body = &body};
    ir::call_inplace(call);
    return *operands[0];
  }

  template <size_t... I>
  static auto unbox_all(const FunctionInfo& info, std::span<const Value> values,
                        std::index_sequence<I...>) {
    auto one = [&]<size_t J>(std::integral_constant<size_t, J>) {
      const Argument& argument = info.schema.arguments[J];
      if (J >= values.size() && argument.has_default) {
        return default_of<type_at<Sig, J>>(argument.default_text);
      }
      return unbox_argument<type_at<Sig, J>>(J < values.size() ? values[J] : Value(), info.schema,
                                             J);
    };
    return std::tuple<StoredAt<Sig, I>...>{one(std::integral_constant<size_t, I>{})...};
  }
  template <Type type>
  static typename TypeOf<type>::Stored unbox_argument(const Value& value, const Schema& schema,
                                                      size_t i) {
    using T = typename TypeOf<type>::Stored;
    if constexpr (requires(T t) { t.has_value(); }) {
      if (value.is_none()) return T{};
      return unbox<typename T::value_type>(value, schema, i);
    } else {
      return unbox<T>(value, schema, i);
    }
  }
  static Value boxed(const FunctionInfo& info, std::span<const Value> values) {
    auto args = unbox_all(info, values, std::index_sequence_for<Args...>{});
    return box(std::apply([](const auto&... a) { return Slot<S>::call(a...); }, args));
  }
  static Value boxed_inplace(const FunctionInfo& info, std::span<const Value> values) {
    auto args = unbox_all(info, values, std::index_sequence_for<Args...>{});
    return box(std::apply([](const auto&... a) { return Slot<S>::call_inplace(a...); }, args));
  }
};

}  // namespace detail

template <Text S, class Body>
class Definition {
 public:
  using Invoke = detail::Invoke<S, Body, typename Slot<S>::Entry>;

  explicit Definition(const char* documentation) {
    info().schema = parse_schema(Signature<S>::text);
    info().documentation = documentation;
    info().call = Invoke::boxed;
    Slot<S>::call = Invoke::call;
    Slot<S>::info = &info();
    register_function(&info());
  }
  template <class... F>
  Definition vjp(const char* node_name, RuleText<F>... rules) const {
    using Args = decltype(arguments_type(static_cast<typename Slot<S>::Entry>(nullptr)));
    info().own_gradient = {node_name, bind_rules<Args>(rules...), read_arguments<F...>,
                           &info().schema, detail::box_arguments<Args>};
    info().gradient = &info().own_gradient;
    Slot<S>::call = Invoke::call_recording;
    return *this;
  }
  // The function is this primitive: its gradient serves the in-place form.
  Definition stands_for(const PrimitiveInfo& primitive) const {
    info().primitive = &primitive;
    if (primitive.has_gradient) info().gradient = &primitive.gradient;
    if (!primitive.gradient.schema) primitive.gradient.schema = &info().schema;
    return *this;
  }
  Definition inplace() const {
    info().has_inplace = true;
    info().call_inplace = Invoke::boxed_inplace;
    Slot<S>::call_inplace = Invoke::call_inplace;
    return *this;
  }
  Definition out() const { return info().has_out = true, *this; }
  // Other names, the places where Python shows it, and a function for its in-place form.
  Definition also_named(std::initializer_list<const char*> names) const {
    return info().python.aliases = names, *this;
  }
  Definition shown(Shown where) const { return info().python.shown = where, *this; }
  Definition inplace_as_function() const { return info().python.inplace_function = true, *this; }
  Definition random() const { return info().deterministic = false, *this; }
  Definition samples(Samples (*samples)()) const { return info().samples = samples, *this; }

 private:
  static FunctionInfo& info() { return detail::Defined<S>::info; }
  template <class R, class... A>
  static auto arguments_type(R (*)(A...)) -> decltype(detail::others_of(std::declval<A>()...));
};

// The body of a function that is a primitive: its other arguments, in order, are the parameters.
template <const auto& primitive>
struct StandsFor {
  using P = typename std::decay_t<decltype(primitive)>::Params;

  template <class... Args>
  static P params(const Args&... args) {
    return std::apply([](const auto&... other) { return P{other...}; }, detail::others_of(args...));
  }
  template <class... Args>
  static Arguments arguments(const Args&... args) {
    P kept = params(args...);
    return ParamsOf<P>::copy(&kept);
  }
  template <class... Args>
  Tensor operator()(const Args&... args) const {
    auto operands = detail::operands_of(args...);
    P params = StandsFor::params(args...);
    Tensor output;
    ir::bind(primitive, operands, &params, &output);
    return output;
  }
};

template <const auto& primitive, Text S>
auto define_as(Function<S>, const char* documentation) {
  return Definition<S, StandsFor<primitive>>(documentation).stands_for(primitive);
}

// The same with a body that looks at the arguments first.
template <const auto& primitive, Text S, class Body>
auto define_as(Function<S>, const char* documentation, Body) {
  return Definition<S, Body>(documentation).stands_for(primitive);
}

template <Text S, class Body>
Definition<S, Body> define(Single<S>, const char* documentation, Body) {
  return Definition<S, Body>(documentation);
}
template <Text S, class Body>
Definition<S, Body> define(Function<S>, const char* documentation, Body) {
  return Definition<S, Body>(documentation);
}

}  // namespace fg::ir
