// Arguments and results as flat lists of tensors: tensors, numbers and texts in vectors, arrays,
// tuples, pairs, maps and optionals, nested at will.
#pragma once

#include <string>
#include <tuple>

#include "tensor/tensor.h"

namespace fg::compiler {

template <class T>
concept HasParameters = requires(const T& t) {
  { t.parameters() } -> std::convertible_to<Tensors>;
};

// The text that an object adds to the key of a call: a module says whether it is in training.
template <class T>
std::string capture_key_of(const T& value) {
  if constexpr (requires { std::string(value.capture_key()); }) return value.capture_key();
  return {};
}

// Floating numbers of a call: inputs of the graph, as tensors; or constants, once the function has
// asked for the value of one.
enum class Numbers : uint8_t { inputs, constants };

template <class T>
constexpr bool is_leaf =
    std::is_same_v<T, Tensor> || std::is_same_v<T, Scalar> || std::is_enum_v<T> ||
    std::is_arithmetic_v<T> || std::is_convertible_v<const T&, std::string>;

// Walks through a value in order: `visitor.leaf` gets tensors, numbers, enumerators and texts,
// `visitor.name` the keys of maps, `visitor.mark` a character for containers. An object of a type
// that is not listed here adds nothing: its type alone counts.
template <class T, class Visitor>
void visit_leaves(T& value, Visitor& visitor) {
  using Plain = std::remove_const_t<T>;
  auto visit = [&](auto& part) { visit_leaves(part, visitor); };
  if constexpr (is_leaf<Plain>) {
    visitor.leaf(value);
  } else if constexpr (requires { value.has_value(); }) {
    visitor.mark(value ? 's' : 'n');
    if (value) visit(*value);
  } else if constexpr (requires { typename Plain::mapped_type; }) {
    visitor.mark('{');
    for (auto& [name, part] : value) {
      visitor.name(name);
      visit(part);
    }
    visitor.mark('}');
  } else if constexpr (requires { std::begin(value), std::end(value); }) {
    visitor.mark('[');
    for (auto&& part : value) visit(part);
    visitor.mark(']');
  } else if constexpr (requires { std::tuple_size<Plain>::value; }) {
    std::apply([&](auto&... part) { (visit(part), ...); }, value);
  }
}

// A floating number is handed over as a tensor, and replaced by the number in that tensor.
template <class F>
struct TensorVisitor {
  Numbers numbers;
  const F& on_tensor;

  void mark(char) {}
  void name(const auto&) {}
  template <class T>
  void leaf(T& value) {
    if constexpr (std::is_same_v<std::remove_const_t<T>, Tensor>) {
      if (value.defined()) on_tensor(value);
    } else if constexpr (std::is_same_v<std::remove_const_t<T>, Scalar>) {
      if (!value.is_floating() || numbers == Numbers::constants) return;
      // A result that was a symbol is one no more: only its place counts.
      Tensor number = value.is_known() || modes.capturing ? Tensor(value) : Tensor();
      on_tensor(number);
      if constexpr (!std::is_const_v<T>) value = number_in(number);
    }
  }
};

// Calls `on_tensor(Tensor&)` for every tensor, in order.
template <class T, class F>
void visit_tensors(T& value, Numbers numbers, const F& on_tensor) {
  TensorVisitor<F> visitor{numbers, on_tensor};
  visit_leaves(value, visitor);
}

struct KeyWriter {
  Numbers numbers;
  std::string& key;

  void mark(char text) { key += text; }
  void name(const auto& value) { visit_leaves(value, *this); }
  template <class T>
  void leaf(const T& value) {
    if constexpr (std::is_same_v<T, Tensor>) {
      key += value.defined() ? 't' : 'u';
    } else if constexpr (std::is_same_v<T, Scalar>) {
      bool input = value.is_floating() && numbers == Numbers::inputs;
      key += input ? "f" : value.text() + fg::name(value.dtype()).front();
    } else if constexpr (std::is_enum_v<T>) {
      key += std::to_string(static_cast<int64_t>(value)) + ';';
    } else if constexpr (std::is_arithmetic_v<T>) {
      key += Scalar(value).text() + ';';
    } else {
      std::string text = value;
      key += std::to_string(text.size()) + ':' + text;
    }
  }
};

// Adds the structure of a value and all that it holds besides tensors to the key of a call.
template <class T>
void add_to_key(std::string& key, const T& value, Numbers numbers) {
  KeyWriter writer{numbers, key};
  visit_leaves(value, writer);
}

}  // namespace fg::compiler
