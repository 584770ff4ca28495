// Element types, their C++ types, and PyTorch's promotion rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/half.h"

namespace fg {

enum class DType : uint8_t { u8, i8, i16, i32, i64, f16, f32, f64, boolean, bf16 };
inline constexpr int kDTypeCount = 10;

inline constexpr DType kUInt8 = DType::u8, kInt8 = DType::i8, kInt16 = DType::i16,
                       kInt32 = DType::i32, kInt64 = DType::i64, kFloat16 = DType::f16,
                       kFloat32 = DType::f32, kFloat64 = DType::f64, kBool = DType::boolean,
                       kBFloat16 = DType::bf16;
inline constexpr DType kByte = kUInt8, kChar = kInt8, kShort = kInt16, kInt = kInt32,
                       kLong = kInt64, kHalf = kFloat16, kFloat = kFloat32, kDouble = kFloat64;

using OptDType = std::optional<DType>;

size_t item_size(DType dtype);
std::string_view name(DType dtype);  // PyTorch's: "float32", "bool" ...
std::optional<DType> dtype_of_name(std::string_view name);

bool is_floating(DType dtype);
bool is_integral(DType dtype);  // bool is not
bool is_signed(DType dtype);

// The dtype both operands are converted to when both are tensors with dimensions.
DType promote(DType a, DType b);
// Whether a result of `from` may be written into a tensor of `to` in place.
bool can_cast(DType from, DType to);

DType default_dtype();
void set_default_dtype(DType dtype);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::i8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::i16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};

// Calls f with a value of the C++ element type: visit(dtype, [](auto zero) { using T =
// decltype(zero); ... }).
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::u8:
      return f(uint8_t{});
    case DType::i8:
      return f(int8_t{});
    case DType::i16:
      return f(int16_t{});
    case DType::i32:
      return f(int32_t{});
    case DType::i64:
      return f(int64_t{});
    case DType::f16:
      return f(Half{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::boolean:
      return f(bool{});
    case DType::bf16:
      return f(BFloat16{});
  }
  __builtin_unreachable();
}

}  // namespace fg
