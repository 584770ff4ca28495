// The library as a JSON-lines program: one request per line of standard input, one answer per line
// of standard output. tests/oracle/wire.py speaks the other side. Whatever a request does, it is
// answered: errors of the library and of the request alike.
//
//   {"list": true}                                   every function with its schema
//   {"function": "max.dim", "args": [...], "form": "plain" | "inplace" | "out", "out": [...],
//    "weights": [[...], ...]}                        a call, and backward when weights are given
#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "autograd/autograd.h"
#include "base/fail.h"
#include "ir/registry.h"
#include "tensor/tensor.h"

namespace {

using fg::DType, fg::Dims, fg::Scalar, fg::Tensor, fg::Tensors;
using fg::ir::FunctionInfo, fg::ir::Value;
using Json = nlohmann::json;

constexpr const char* kKinds[] = {"runtime",         "value",  "type",    "index",
                                  "not_implemented", "memory", "internal"};
// In the order of fg::ir::Type.
constexpr const char* kTypes[] = {
    "tensor",  "opt_tensor",  "tensors",   "opt_tensors", "scalar", "opt_scalar",
    "integer", "opt_integer", "dim",       "opt_dim",     "dims",   "opt_dims",
    "real",    "opt_real",    "boolean",   "opt_boolean", "string", "opt_string",
    "dtype",   "opt_dtype",   "generator", "none"};

// ---- reading

double number_of(const Json& json) {
  if (!json.is_string()) return json.is_boolean() ? json.get<bool>() : json.get<double>();
  if (json == "nan") return std::nan("");
  double inf = std::numeric_limits<double>::infinity();
  return json == "inf" ? inf : -inf;
}

DType dtype_of(const Json& name) {
  auto dtype = fg::dtype_of_name(name.get<std::string>());
  if (!dtype) fg::fail(fg::ErrorKind::internal, "driver: unknown dtype {}", name.dump());
  return *dtype;
}

template <class T>
T element_of(const Json& json) {
  if constexpr (std::is_integral_v<T>)
    return json.is_boolean() ? T(json.get<bool>()) : static_cast<T>(json.get<int64_t>());
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(number_of(json));
  else
    return T(static_cast<float>(number_of(json)));
}

// Calls f with the place of every element, in logical order.
template <class F>
void each_place(const Dims& sizes, const Dims& strides, F f) {
  std::vector<int64_t> index(sizes.size());
  int64_t count = 1, place = 0;
  for (fg::Dim size : sizes) count *= size.value();
  for (int64_t n = 0; n < count; n++) {
    f(place);
    for (size_t d = sizes.size(); d-- > 0;) {
      place += strides[d].value();
      if (++index[d] < sizes[d].value()) break;
      place -= index[d] * strides[d].value();
      index[d] = 0;
    }
  }
}

Tensor tensor_of(const Json& json) {
  Dims sizes(json.at("sizes").get<std::vector<int64_t>>());
  Dims strides = json.contains("strides") ? Dims(json["strides"].get<std::vector<int64_t>>())
                                          : fg::contiguous_strides(sizes);
  Tensor tensor = fg::empty_strided_tensor(sizes, strides, dtype_of(json.at("dtype")));
  const Json& data = json.at("data");
  fg::visit(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* memory = static_cast<T*>(tensor.data_ptr());
    size_t n = 0;
    each_place(sizes, strides, [&](int64_t place) { memory[place] = element_of<T>(data.at(n++)); });
  });
  if (json.value("requires_grad", false)) tensor.requires_grad_();
  return tensor;
}

Value value_of(const Json& json, Tensors& leaves);

Value list_of(const Json& json, Tensors& leaves) {
  bool integers = true;
  for (const Json& element : json) integers = integers && element.is_number_integer();
  if (integers) return Dims(json.get<std::vector<int64_t>>());
  std::vector<Value> values;
  for (const Json& element : json) values.push_back(value_of(element, leaves));
  return values;
}

Value value_of(const Json& json, Tensors& leaves) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return Scalar(json.get<bool>());
  if (json.is_number_integer()) return Scalar(json.get<int64_t>());
  if (json.is_number_float()) return Scalar(json.get<double>());
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return list_of(json, leaves);
  if (json.contains("float")) return Scalar(number_of(json["float"]));
  if (!json.contains("data")) return dtype_of(json.at("dtype"));
  leaves.push_back(tensor_of(json));
  return leaves.back();
}

// ---- answering

Json data_of(const Tensor& tensor) {
  if (!tensor.is_floating_point()) return tensor.to_vector<int64_t>();
  Json data = Json::array();
  for (double x : tensor.to_vector<double>()) {
    if (std::isfinite(x))
      data.push_back(x);
    else
      data.push_back(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
  }
  return data;
}

Json json_of(const Tensor& tensor, const Tensors& leaves) {
  if (!tensor.defined()) return nullptr;
  Json json = {{"dtype", fg::name(tensor.dtype())},
               {"sizes", fg::values(tensor.sizes())},
               {"strides", fg::values(tensor.strides())},
               {"offset", tensor.storage_offset()},
               {"requires_grad", tensor.requires_grad()},
               {"data", data_of(tensor)},
               {"node", nullptr},
               {"alias", nullptr}};
  if (auto node = tensor.grad_fn()) json["node"] = node->name();
  for (size_t i = 0; i < leaves.size(); i++) {
    if (leaves[i].impl()->storage == tensor.impl()->storage) json["alias"] = i;
  }
  return json;
}

void flatten(const Value& value, const Tensors& leaves, Json& outputs, Tensors& tensors) {
  if (auto* tensor = std::get_if<Tensor>(&value)) {
    outputs.push_back(json_of(*tensor, leaves));
    tensors.push_back(*tensor);
  } else if (auto* several = std::get_if<Tensors>(&value)) {
    for (const Tensor& part : *several) flatten(part, leaves, outputs, tensors);
  } else if (auto* values = std::get_if<std::vector<Value>>(&value)) {
    for (const Value& part : *values) flatten(part, leaves, outputs, tensors);
  } else if (auto* number = std::get_if<Scalar>(&value)) {
    Json json = number->is_floating() ? Json(number->to_double()) : Json(number->to_int());
    outputs.push_back(number->dtype() == DType::boolean ? Json(number->to_bool()) : json);
  }
}

// The gradients of the leaves when each output is weighted as the request says.
Json gradients(const Json& weights, const Tensors& outputs, const Tensors& leaves) {
  fg::autograd::GraphPoints points;
  Tensors seeds;
  for (size_t i = 0; i < outputs.size() && i < weights.size(); i++) {
    if (weights[i].is_null() || !outputs[i].requires_grad()) continue;
    Json seed = {{"dtype", fg::name(outputs[i].dtype())},
                 {"sizes", fg::values(outputs[i].sizes())},
                 {"data", weights[i]}};
    points.push_back(outputs[i]);
    seeds.push_back(tensor_of(seed));
  }
  fg::autograd::backward(points, seeds);
  Json grads = Json::array();
  for (const Tensor& leaf : leaves) grads.push_back(json_of(leaf.grad(), {}));
  return grads;
}

Json list_functions() {
  Json functions = Json::array();
  for (const FunctionInfo* f : fg::ir::functions()) {
    Json arguments = Json::array();
    for (size_t i = 0; i < f->schema.argument_count; i++) {
      const fg::ir::Argument& a = f->schema.arguments[i];
      arguments.push_back({{"name", a.name},
                           {"type", kTypes[static_cast<size_t>(a.type)]},
                           {"default", a.has_default ? Json(a.default_text) : Json()},
                           {"keyword_only", a.keyword_only}});
    }
    functions.push_back({{"name", f->full_name()},
                         {"arguments", arguments},
                         {"inplace", f->has_inplace},
                         {"out", f->has_out},
                         {"deterministic", f->deterministic}});
  }
  return {{"ok", true}, {"functions", functions}};
}

Value call(const FunctionInfo& info, const Json& request, std::vector<Value> args,
           Tensors& leaves) {
  std::string form = request.value("form", "plain");
  if (form == "plain") return info.call(info, args);
  if (form == "out") {
    Tensors outs;
    for (const Json& out : request.at("out")) outs.push_back(tensor_of(out));
    return fg::ir::call_out(info, args, outs);
  }
  if (!info.call_inplace) fg::fail("{}: has no in-place form", info.full_name());
  Tensor& self = std::get<Tensor>(args.at(0));
  if (self.requires_grad()) self = self.clone();  // a leaf cannot be written to
  leaves.push_back(self);
  return info.call_inplace(info, args);
}

std::vector<std::vector<double>> contents(const Tensors& tensors) {
  std::vector<std::vector<double>> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.to_vector<double>());
  return result;
}

// Bits, because NaN is equal to NaN here.
Json changed(const std::vector<std::vector<double>>& before, const Tensors& leaves) {
  Json indices = Json::array();
  for (size_t i = 0; i < before.size(); i++) {
    std::vector<double> now = leaves[i].to_vector<double>();
    bool same = now.size() == before[i].size() &&
                std::memcmp(now.data(), before[i].data(), now.size() * sizeof(double)) == 0;
    if (!same) indices.push_back(i);
  }
  return indices;
}

Json failure(const char* kind, const std::string& message) {
  return {{"ok", false}, {"kind", kind}, {"message", message}};
}

template <class F>
Json guarded(F f) {
  try {
    return f();
  } catch (const fg::Error& error) {
    return failure(kKinds[static_cast<size_t>(error.kind())], error.what());
  } catch (const std::bad_alloc&) {
    return failure("memory", "std::bad_alloc");
  } catch (const std::exception& error) {
    return failure("foreign", error.what());
  } catch (...) {
    return failure("foreign", "not a std::exception");
  }
}

Json answer(const Json& request) {
  if (request.contains("list")) return list_functions();
  std::string name = request.at("function");
  const FunctionInfo* info = fg::ir::find_function(name);
  if (!info) fg::fail(fg::ErrorKind::internal, "driver: no function {}", name);
  Tensors leaves;
  std::vector<Value> args;
  for (const Json& argument : request.at("args")) args.push_back(value_of(argument, leaves));
  auto before = contents(leaves);
  Json result = guarded([&]() -> Json {
    Json outputs = Json::array();
    Tensors tensors, inputs = leaves;
    flatten(call(*info, request, args, inputs), inputs, outputs, tensors);
    Json done = {{"ok", true}, {"outputs", outputs}};
    if (request.contains("weights"))
      done["grads"] = guarded([&] { return gradients(request["weights"], tensors, leaves); });
    return done;
  });
  result["changed"] = changed(before, leaves);
  return result;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    Json result = guarded([&] { return answer(Json::parse(line)); });
    // Messages may hold any bytes.
    std::cout << result.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
}
