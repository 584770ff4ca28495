// Boxed values: any argument or result as one type, for callers that know a function by name (the
// command line, Python's argument parser, the oracle, the tests over all functions).
#pragma once

#include <variant>

#include "ir/schema.h"
#include "tensor/tensor.h"

namespace fg::ir {

struct Value : std::variant<std::monostate, Tensor, Tensors, Scalar, Dims, std::string, DType,
                            Generator, std::vector<Value>> {
  using variant::variant;
  bool is_none() const { return index() == 0; }
};

// Converts an argument; a wrong type is an Error of kind `type` that names function and argument.
template <class T>
T unbox(const Value& value, const Schema& schema, size_t argument);

template <class T>
Value box(T result) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                std::is_same_v<T, double>) {
    return Value(Scalar(result));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](auto&... part) { return Value(std::vector<Value>{box(part)...}); },
                      result);
  } else {
    return Value(std::move(result));
  }
}

}  // namespace fg::ir
