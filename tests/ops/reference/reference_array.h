// Tools to write the references with: dense arrays of doubles, loops over indices, and the
// arguments of a call by name.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>

#include "tests/ops/table/table_cases.h"

namespace fg::table {

using Sizes = std::vector<int64_t>;

inline int64_t count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// A dense array in logical order.
struct Array {
  Sizes sizes;
  std::vector<double> data;

  Array() = default;
  explicit Array(Sizes s) : sizes(std::move(s)), data(static_cast<size_t>(count(sizes))) {}
  explicit Array(const Tensor& tensor)
      : sizes(values(tensor.sizes())), data(tensor.to_vector<double>()) {}
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  double& operator[](const Sizes& index) { return data[static_cast<size_t>(offset(index))]; }
  double operator[](const Sizes& index) const { return data[static_cast<size_t>(offset(index))]; }
  // The element that broadcasting puts at an index of higher rank.
  double broadcast(const Sizes& index) const {
    Sizes own(index.end() - rank(), index.end());
    for (size_t d = 0; d < own.size(); d++) {
      if (sizes[d] == 1) own[d] = 0;
    }
    return (*this)[own];
  }
  Tensor tensor() const {
    Tensor result = empty_tensor(Dims(sizes), kFloat64);
    std::copy(data.begin(), data.end(), result.data_ptr<double>());
    return result;
  }

 private:
  int64_t offset(const Sizes& index) const {
    int64_t at = 0;
    for (size_t d = 0; d < sizes.size(); d++) at = at * sizes[d] + index[d];
    return at;
  }
};

template <class F>
void each_index(const Sizes& sizes, F f) {
  Sizes index(sizes.size());
  for (int64_t i = 0, n = count(sizes); i < n; i++) {
    f(index);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

// The arguments of a call by name; what the call leaves out has the given fallback.
class Call {
 public:
  Call(const ir::Schema& schema, const Arguments& arguments)
      : schema_(schema), arguments_(arguments) {}

  Array array(std::string_view name) const {
    const Value* value = find(name);
    if (auto* number = value ? std::get_if<Scalar>(value) : nullptr) {
      Array single{Sizes{}};
      single.data[0] = number->to_double();
      return single;
    }
    return value ? Array(std::get<Tensor>(*value)) : Array();
  }
  bool has(std::string_view name) const {
    const Value* value = find(name);
    auto* tensor = value ? std::get_if<Tensor>(value) : nullptr;
    return value && (!tensor || tensor->defined());
  }
  double number(std::string_view name, double fallback) const {
    const Value* value = find(name);
    return value ? std::get<Scalar>(*value).to_double() : fallback;
  }
  int64_t integer(std::string_view name, int64_t fallback) const {
    return static_cast<int64_t>(number(name, static_cast<double>(fallback)));
  }
  // A list of ints, or one int.
  Sizes list(std::string_view name, Sizes fallback) const {
    const Value* value = find(name);
    if (!value) return fallback;
    if (auto* dims = std::get_if<Dims>(value)) return values(*dims);
    return {std::get<Scalar>(*value).to_int()};
  }
  std::string word(std::string_view name, const char* fallback) const {
    const Value* value = find(name);
    return value ? std::get<std::string>(*value) : fallback;
  }
  Array first() const { return array(schema_.arguments[0].name); }
  Array second() const { return array(schema_.arguments[1].name); }

 private:
  const Value* find(std::string_view name) const {
    for (size_t i = 0; i < arguments_.size(); i++) {
      if (schema_.arguments[i].name == name && !arguments_[i].is_none()) return &arguments_[i];
    }
    return nullptr;
  }

  const ir::Schema& schema_;
  const Arguments& arguments_;
};

using Compute = std::function<Array(const Call&)>;

// f(a, b) with broadcasting.
template <class F>
Array combine(const Array& a, const Array& b, F f) {
  Sizes sizes(static_cast<size_t>(std::max(a.rank(), b.rank())), 1);
  for (const Array* x : {&a, &b}) {
    for (int64_t d = 0; d < x->rank(); d++) {
      int64_t& size = sizes[sizes.size() - static_cast<size_t>(d) - 1];
      int64_t own = x->sizes[static_cast<size_t>(x->rank() - d - 1)];
      if (own != 1) size = own;
    }
  }
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) { out[i] = f(a.broadcast(i), b.broadcast(i)); });
  return out;
}

// In reference_special.cpp: by the name of the function.
const std::map<std::string, Compute>& special_references();
// In reference_products.cpp.
Array multiply(Array a, Array b);
Array linear(const Call& call);
Compute add_product(const char* left, const char* right);
Array convolve(const Call& call);

}  // namespace fg::table
