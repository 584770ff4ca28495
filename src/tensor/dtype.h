// Element types, their C++ types, and PyTorch's promotion rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/half.h"

namespace fg {

// A dtype's numbers, in PyTorch's order of categories: results of a later kind are never written
// into tensors of an earlier one.
enum class NumberKind : uint8_t { boolean, integer, floating };

// The table of dtypes: a row has all that is said of one. Text, keys and entries hold the position,
// so new rows come last. Columns: enumerator, long name, C++ type, PyTorch's name, kind of numbers,
// letter in the buffer protocol (null: none), name in safetensors files.
// clang-format off
#define FG_DTYPES(row)                                                    \
  row(u8,      kUInt8,    uint8_t,  "uint8",    integer,  "B",     "U8")   \
  row(i8,      kInt8,     int8_t,   "int8",     integer,  "b",     "I8")   \
  row(i16,     kInt16,    int16_t,  "int16",    integer,  "h",     "I16")  \
  row(i32,     kInt32,    int32_t,  "int32",    integer,  "i",     "I32")  \
  row(i64,     kInt64,    int64_t,  "int64",    integer,  "l",     "I64")  \
  row(f16,     kFloat16,  Half,     "float16",  floating, "e",     "F16")  \
  row(f32,     kFloat32,  float,    "float32",  floating, "f",     "F32")  \
  row(f64,     kFloat64,  double,   "float64",  floating, "d",     "F64")  \
  row(boolean, kBool,     bool,     "bool",     boolean,  "?",     "BOOL") \
  row(bf16,    kBFloat16, BFloat16, "bfloat16", floating, nullptr, "BF16")
// clang-format on

#define FG_ROW(id, ...) id,
enum class DType : uint8_t { FG_DTYPES(FG_ROW) };
#undef FG_ROW
#define FG_ROW(...) +1
inline constexpr int kDTypeCount = 0 FG_DTYPES(FG_ROW);
#undef FG_ROW
#define FG_ROW(id, long_name, ...) inline constexpr DType long_name = DType::id;
FG_DTYPES(FG_ROW)
#undef FG_ROW
inline constexpr DType kByte = kUInt8, kChar = kInt8, kShort = kInt16, kInt = kInt32,
                       kLong = kInt64, kHalf = kFloat16, kFloat = kFloat32, kDouble = kFloat64;

using OptDType = std::optional<DType>;

size_t item_size(DType dtype);
std::string_view name(DType dtype);  // PyTorch's: "float32", "bool" ...
std::optional<DType> dtype_of_name(std::string_view name);
const char* buffer_format(DType dtype);
const char* safetensors_name(DType dtype);

#define FG_ROW(id, long_name, type, text, kind, ...) NumberKind::kind,
inline constexpr NumberKind kNumberKinds[] = {FG_DTYPES(FG_ROW)};
#undef FG_ROW
constexpr NumberKind number_kind(DType dtype) { return kNumberKinds[static_cast<int>(dtype)]; }

// Sets of dtypes say what they hold, so that a new kind of numbers is in none of them by itself.
constexpr bool is_floating(DType dtype) { return number_kind(dtype) == NumberKind::floating; }
constexpr bool is_integral(DType dtype) { return number_kind(dtype) == NumberKind::integer; }
constexpr bool is_integral_or_bool(DType dtype) {
  return is_integral(dtype) || dtype == DType::boolean;
}
constexpr bool is_real(DType dtype) { return is_integral(dtype) || is_floating(dtype); }
// Tensors of these dtypes may require gradients.
constexpr bool is_differentiable(DType dtype) { return number_kind(dtype) == NumberKind::floating; }
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }
bool is_signed(DType dtype);

// The dtype both operands are converted to when both are tensors with dimensions.
DType promote(DType a, DType b);
// Whether a result of `from` may be written into a tensor of `to` in place.
bool can_cast(DType from, DType to);

DType default_dtype();
void set_default_dtype(DType dtype);

template <class T>
struct DTypeOf;
#define FG_ROW(id, long_name, type, ...)      \
  template <>                                 \
  struct DTypeOf<type> {                      \
    static constexpr DType value = DType::id; \
  };
FG_DTYPES(FG_ROW)
#undef FG_ROW

// Calls f with a value of the C++ element type: visit(dtype, [](auto zero) { using T =
// decltype(zero); ... }).
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
#define FG_ROW(id, long_name, type, ...) \
  case DType::id:                        \
    return f(type{});
  switch (dtype) { FG_DTYPES(FG_ROW) }
#undef FG_ROW
  __builtin_unreachable();
}

}  // namespace fg
