#include "autograd/saved_data.h"

#include "base/fail.h"

namespace fg::autograd {

[[noreturn]] static void refuse(const SavedData& data, const char* wanted) {
  if (!data.has_value()) {
    fail(ErrorKind::type, "saved_data: asked for {} but nothing was kept under this name", wanted);
  }
  fail(ErrorKind::type,
       "saved_data: asked for {} but a value of the C++ type {} was kept; ask for what was stored",
       wanted, data.type().name());
}

// The value if it is of one of the types.
template <class To, class... From>
static std::optional<To> find(const SavedData& data) {
  std::optional<To> found;
  auto look = [&](const auto* value) {
    if (value) found = static_cast<To>(*value);
  };
  (look(std::any_cast<From>(&data)), ...);
  return found;
}

template <class T>
static const T& read(const SavedData& data, const char* wanted) {
  const T* found = std::any_cast<T>(&data);
  if (!found) refuse(data, wanted);
  return *found;
}

double SavedData::toDouble() const {
  auto found = find<double, double, float>(*this);
  if (!found) refuse(*this, "a floating number");
  return *found;
}

int64_t SavedData::toInt() const {
  auto found = find<int64_t, int, long, long long, unsigned, unsigned long, unsigned long long,
                    short, signed char, unsigned char>(*this);
  if (!found) refuse(*this, "an integer");
  return *found;
}

std::string SavedData::toStringRef() const {
  auto found = find<std::string, std::string, const char*>(*this);
  if (!found) refuse(*this, "a string");
  return *found;
}

bool SavedData::toBool() const { return read<bool>(*this, "a bool"); }
const Tensor& SavedData::toTensor() const { return read<Tensor>(*this, "a tensor"); }
const Tensors& SavedData::toTensorVector() const { return read<Tensors>(*this, "tensors"); }
const std::vector<int64_t>& SavedData::toIntVector() const {
  return read<std::vector<int64_t>>(*this, "a vector of int64_t");
}
const std::vector<double>& SavedData::toDoubleVector() const {
  return read<std::vector<double>>(*this, "a vector of double");
}

}  // namespace fg::autograd
