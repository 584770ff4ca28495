#include "ir/value.h"

#include "base/fail.h"

namespace fg::ir {

static constexpr const char* kHeld[] = {"None",   "Tensor",       "list of Tensors",
                                        "number", "list of ints", "str",
                                        "dtype",  "Generator",    "tuple"};

[[noreturn]] static void wrong(const Value& value, const Schema& schema, size_t i,
                               const char* expected) {
  fail(ErrorKind::type, "{}(): argument '{}' (position {}) must be {}, not {}", schema.name,
       schema.arguments[i].name, i + 1, expected, kHeld[value.index()]);
}

// Numbers that no size, stride or offset can be are refused here, where their names are known.
static Dim in_range(int64_t number, const Schema& schema, size_t i) {
  Dim dim = Dim::bound(number);
  if (dim.value() != number) {
    fail("{}(): argument '{}' (position {}) is {}, which is out of range; expected {} or more",
         schema.name, schema.arguments[i].name, i + 1, number, dim.text());
  }
  return dim;
}

template <>
Tensor unbox(const Value& value, const Schema& schema, size_t i) {
  if (auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (auto* number = std::get_if<Scalar>(&value)) return Tensor(*number);
  if (value.is_none() && schema.arguments[i].type == Type::opt_tensor) return {};
  wrong(value, schema, i, "Tensor");
}

template <>
Tensors unbox(const Value& value, const Schema& schema, size_t i) {
  if (auto* tensors = std::get_if<Tensors>(&value)) return *tensors;
  if (auto* list = std::get_if<std::vector<Value>>(&value)) {
    Tensors out;
    for (const Value& element : *list) {
      bool none = element.is_none() && schema.arguments[i].type == Type::opt_tensors;
      if (!none && !std::holds_alternative<Tensor>(element)) wrong(element, schema, i, "Tensors");
      out.push_back(none ? Tensor() : std::get<Tensor>(element));
    }
    return out;
  }
  if (auto* dims = std::get_if<Dims>(&value); dims && dims->empty()) return {};
  wrong(value, schema, i, "a list of Tensors");
}

template <>
Scalar unbox(const Value& value, const Schema& schema, size_t i) {
  if (auto* number = std::get_if<Scalar>(&value)) return *number;
  if (auto* tensor = std::get_if<Tensor>(&value); tensor && tensor->dim() == 0)
    return tensor->item();
  wrong(value, schema, i, "a number");
}

template <>
int64_t unbox(const Value& value, const Schema& schema, size_t i) {
  auto* number = std::get_if<Scalar>(&value);
  if (!number || number->is_floating()) wrong(value, schema, i, "int");
  return number->to_int();
}

template <>
Dim unbox(const Value& value, const Schema& schema, size_t i) {
  if (auto* dims = std::get_if<Dims>(&value); dims && dims->size() == 1) return dims->front();
  return in_range(unbox<int64_t>(value, schema, i), schema, i);
}

template <>
Dims unbox(const Value& value, const Schema& schema, size_t i) {
  if (auto* dims = std::get_if<Dims>(&value)) return *dims;
  if (auto* number = std::get_if<Scalar>(&value); number && !number->is_floating()) {
    return Dims{in_range(number->to_int(), schema, i)};
  }
  wrong(value, schema, i, "int or a list of ints");
}

template <>
double unbox(const Value& value, const Schema& schema, size_t i) {
  auto* number = std::get_if<Scalar>(&value);
  if (!number) wrong(value, schema, i, "float");
  return number->to_double();
}

template <>
bool unbox(const Value& value, const Schema& schema, size_t i) {
  auto* number = std::get_if<Scalar>(&value);
  if (!number || number->dtype() != DType::boolean) wrong(value, schema, i, "bool");
  return number->to_bool();
}

template <>
std::string unbox(const Value& value, const Schema& schema, size_t i) {
  auto* string = std::get_if<std::string>(&value);
  if (!string) wrong(value, schema, i, "str");
  return *string;
}

template <>
DType unbox(const Value& value, const Schema& schema, size_t i) {
  auto* dtype = std::get_if<DType>(&value);
  if (!dtype) wrong(value, schema, i, "dtype");
  return *dtype;
}

template <>
Generator unbox(const Value& value, const Schema& schema, size_t i) {
  auto* generator = std::get_if<Generator>(&value);
  if (!generator) wrong(value, schema, i, "Generator");
  return *generator;
}

}  // namespace fg::ir
