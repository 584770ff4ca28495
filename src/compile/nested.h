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

// What else an object decides: of modules, whether they are in training.
template <class T>
std::string capture_key_of(const T& value) {
  if constexpr (requires { std::string(value.capture_key()); }) return value.capture_key();
  return {};
}

// Everything besides tensors that decides what a call does.
struct Key : std::string {
  bool constant_numbers = false;  // the function asks for the values of floating numbers
};

// A floating number is handed over as a tensor.
template <class T, class F>
void visit_number(T& value, Key& key, const F& on_tensor) {
  if (!value.is_floating() || key.constant_numbers) {
    key += value.text() + name(value.dtype()).front();
    return;
  }
  // A result that was a symbol is one no more: only its place counts.
  Tensor number = value.is_known() || modes.capturing ? Tensor(value) : Tensor();
  key += 'f';
  on_tensor(number);
  if constexpr (!std::is_const_v<T>) value = number_in(number);
}

// Calls `on_tensor(Tensor&)` for every tensor, in order, and writes everything else that decides
// what a call does to `key`. What it does not know is part of the type alone.
template <class T, class F>
void visit_tensors(T& value, Key& key, const F& on_tensor) {
  using Plain = std::remove_const_t<T>;
  auto visit = [&](auto& part) { visit_tensors(part, key, on_tensor); };
  if constexpr (std::is_same_v<Plain, Tensor>) {
    key += value.defined() ? 't' : 'u';
    if (value.defined()) on_tensor(value);
  } else if constexpr (std::is_same_v<Plain, Scalar>) {
    visit_number(value, key, on_tensor);
  } else if constexpr (std::is_enum_v<Plain>) {
    key += std::to_string(static_cast<int64_t>(value)) + ';';
  } else if constexpr (std::is_arithmetic_v<Plain>) {
    key += Scalar(value).text() + ';';
  } else if constexpr (std::is_convertible_v<const Plain&, std::string>) {
    std::string text = value;
    key += std::to_string(text.size()) + ':' + text;
  } else if constexpr (requires { value.has_value(); }) {
    key += value ? 's' : 'n';
    if (value) visit(*value);
  } else if constexpr (requires { typename Plain::mapped_type; }) {
    key += '{';
    for (auto& [name, part] : value) {
      visit_tensors(name, key, [](const auto&) {});
      visit(part);
    }
    key += '}';
  } else if constexpr (requires { std::begin(value), std::end(value); }) {
    key += '[';
    for (auto&& part : value) visit(part);
    key += ']';
  } else if constexpr (requires { std::tuple_size<Plain>::value; }) {
    std::apply([&](auto&... part) { (visit(part), ...); }, value);
  }
}

}  // namespace fg::compiler
