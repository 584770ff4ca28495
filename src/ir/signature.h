// From a schema to C++: the type of each argument and result, and the value of each default.
#pragma once

#include <tuple>

#include "ir/schema.h"
#include "tensor/tensor.h"

namespace fg::ir {

// Stored: the type that a node or a boxed call keeps. Passed: the type that the C++ function takes.
template <Type type>
struct TypeOf;
template <class T>
struct ByValue {
  using Stored = T;
  using Passed = T;
};
template <class T>
struct ByReference {
  using Stored = T;
  using Passed = const T&;
};
template <>
struct TypeOf<Type::tensor> : ByReference<Tensor> {};
template <>
struct TypeOf<Type::opt_tensor> : ByReference<Tensor> {};
template <>
struct TypeOf<Type::tensors> : ByReference<Tensors> {};
template <>
struct TypeOf<Type::opt_tensors> : ByReference<Tensors> {};
template <>
struct TypeOf<Type::scalar> : ByReference<Scalar> {};
template <>
struct TypeOf<Type::opt_scalar> : ByReference<OptScalar> {};
template <>
struct TypeOf<Type::integer> : ByValue<int64_t> {};
template <>
struct TypeOf<Type::opt_integer> : ByValue<OptInt> {};
template <>
struct TypeOf<Type::dim> : ByValue<Dim> {};
template <>
struct TypeOf<Type::opt_dim> : ByValue<std::optional<Dim>> {};
template <>
struct TypeOf<Type::dims> : ByReference<Dims> {};
template <>
struct TypeOf<Type::opt_dims> : ByReference<OptDims> {};
template <>
struct TypeOf<Type::real> : ByValue<double> {};
template <>
struct TypeOf<Type::opt_real> : ByValue<OptFloat> {};
template <>
struct TypeOf<Type::boolean> : ByValue<bool> {};
template <>
struct TypeOf<Type::opt_boolean> : ByValue<OptBool> {};
template <>
struct TypeOf<Type::string> : ByReference<std::string> {};
template <>
struct TypeOf<Type::opt_string> : ByReference<std::optional<std::string>> {};
template <>
struct TypeOf<Type::dtype> : ByValue<DType> {};
template <>
struct TypeOf<Type::opt_dtype> : ByValue<OptDType> {};
template <>
struct TypeOf<Type::generator> : ByReference<std::optional<Generator>> {};

constexpr bool is_tensor_type(Type type) { return type <= Type::opt_tensors; }

// (No string_view::find: with -fsanitize=undefined g++ 12 does not fold it.)
constexpr bool is_fractional(std::string_view text) {
  for (char c : text) {
    if (c == '.' || c == 'e') return true;
  }
  return false;
}
constexpr bool is_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

template <Type type>
typename TypeOf<type>::Stored default_of(std::string_view text) {
  using T = typename TypeOf<type>::Stored;
  if (text == "None") return T{};
  if constexpr (type == Type::scalar || type == Type::opt_scalar) {
    if (text == "True" || text == "False") return Scalar(text == "True");
    double number = parse_number(text);
    return !is_fractional(text) ? Scalar(static_cast<int64_t>(number)) : Scalar(number);
  } else if constexpr (type == Type::boolean || type == Type::opt_boolean) {
    return text == "True";
  } else if constexpr (type == Type::string || type == Type::opt_string) {
    return std::string(text.substr(1, text.size() - 2));
  } else if constexpr (type == Type::dims || type == Type::opt_dims) {
    Dims dims;
    if (text == "[]") return dims;
    if (text[0] == '[') text = text.substr(1, text.size() - 2);
    for (size_t begin = 0; begin < text.size();) {
      size_t comma = text.find(',', begin), end = comma < text.size() ? comma : text.size();
      std::string_view part = text.substr(begin, end - begin);
      while (part[0] == ' ') part.remove_prefix(1);
      dims.push_back(static_cast<int64_t>(parse_number(part)));
      begin = end + 1;
    }
    return dims;
  } else if constexpr (type == Type::integer || type == Type::opt_integer || type == Type::dim ||
                       type == Type::opt_dim) {
    return static_cast<int64_t>(parse_number(text));
  } else if constexpr (type == Type::real || type == Type::opt_real) {
    return parse_number(text);
  } else {
    return T{};
  }
}

// The types of some arguments or results. Functions of the same types share everything that is
// derived from this.
template <Type... T>
struct TypeList {
  using Tuple = std::tuple<typename TypeOf<T>::Stored...>;
  template <class R>
  using Pointer = R (*)(typename TypeOf<T>::Passed...);
};
template <class Sig, class Places>
struct ArgumentTypes;
template <class Sig, size_t... I>
struct ArgumentTypes<Sig, std::index_sequence<I...>> {
  using List = TypeList<Sig::outline.arguments[I]...>;
};
template <class Sig, size_t N>
using FirstOf = typename ArgumentTypes<Sig, std::make_index_sequence<N>>::List;
template <class Sig, size_t count, class Places = std::make_index_sequence<count>>
struct ResultTypes;
template <class Sig, size_t count, size_t... I>
struct ResultTypes<Sig, count, std::index_sequence<I...>> {
  using Result = typename TypeList<Sig::outline.returns[I]...>::Tuple;
};
template <class Sig>
struct ResultTypes<Sig, 1, std::index_sequence<0>> {
  using Result = typename TypeOf<Sig::outline.returns[0]>::Stored;
};

// Functions that make a tensor like another one: "zeros_like(...", "new_full(...".
constexpr bool is_like_another(std::string_view schema) {
  constexpr std::string_view begin = "new_", end = "_like(";
  auto is_at = [&](size_t at, std::string_view part) {
    return at + part.size() <= schema.size() && is_equal(schema.substr(at, part.size()), part);
  };
  if (is_at(0, begin)) return true;
  for (size_t at = 0; at < schema.size() && schema[at] != '('; at++) {
    if (is_at(at, end)) return true;
  }
  return false;
}

// A function makes a new tensor when a dtype is the last of its arguments; one that draws its
// elements has a generator before that.
enum class Makes : uint8_t { nothing, tensor, tensor_at_random };
constexpr Makes made_by(const Outline& outline, std::string_view schema) {
  size_t last = outline.argument_count - 1;
  if (outline.argument_count == 0 || outline.arguments[last] != Type::opt_dtype)
    return Makes::nothing;
  if (last > 0 && outline.arguments[last - 1] == Type::generator) return Makes::tensor_at_random;
  return is_tensor_type(outline.arguments[0]) && !is_like_another(schema) ? Makes::nothing
                                                                          : Makes::tensor;
}

// Everything compile-time about one schema. Other templates take this type, not the text: comparing
// types is comparing addresses, comparing texts is not.
template <Text S>
struct Signature {
  static constexpr Outline outline{S.view()};
  static constexpr std::string_view text = S.view();
  static constexpr size_t count = outline.argument_count, required = outline.required;
  static constexpr Makes makes = made_by(outline, S.view());

  using Result = typename ResultTypes<Signature, outline.return_count>::Result;
  using Entry = typename FirstOf<Signature, count>::template Pointer<Result>;
};

// Types of single arguments stand beside the signature: members would be made anew for every schema
// in every file of a user.
template <class Sig, size_t I>
inline constexpr Type type_at = Sig::outline.arguments[I];
template <class Sig, size_t I>
using StoredAt = typename TypeOf<Sig::outline.arguments[I]>::Stored;

// The default of argument I of a schema; numbers are read at compile time.
template <class Sig, size_t I>
StoredAt<Sig, I> default_at() {
  constexpr TextRange part = Sig::outline.defaults[I];
  constexpr std::string_view text(Sig::text.data() + part.begin, part.size);
  constexpr Type type = type_at<Sig, I>;
  if constexpr (is_equal(text, "None") || is_equal(text, "[]")) {
    return {};
  } else if constexpr (type == Type::scalar || type == Type::integer || type == Type::dim ||
                       type == Type::real) {
    constexpr double number = parse_number(text);
    if constexpr (type == Type::real || is_fractional(text))
      return number;
    else
      return static_cast<int64_t>(number);
  } else {
    return default_of<type>(text);
  }
}

}  // namespace fg::ir
