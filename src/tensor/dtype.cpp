#include "tensor/dtype.h"

#include <array>
#include <atomic>

#include "base/fail.h"

namespace fg {

namespace {

// In the order of the enum.
constexpr std::array<std::string_view, kDTypeCount> kNames = {
    "uint8",   "int8",    "int16",   "int32", "int64",
    "float16", "float32", "float64", "bool",  "bfloat16"};
constexpr std::array<uint8_t, kDTypeCount> kItemSizes = {1, 1, 2, 4, 8, 2, 4, 8, 1, 2};

enum class Category : uint8_t { boolean, integral, floating };

constexpr Category category(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return Category::boolean;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return Category::floating;
    default:
      return Category::integral;
  }
}

// The higher category wins whatever its size; within one, the larger size. Two different dtypes of
// the same size have no larger one among them: the next that holds both is taken.
constexpr DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  size_t size_a = kItemSizes[static_cast<size_t>(a)], size_b = kItemSizes[static_cast<size_t>(b)];
  if (size_a != size_b) return size_a > size_b ? a : b;
  return category(a) == Category::floating ? DType::f32 : DType::i16;
}

constexpr auto kPromotion = [] {
  std::array<std::array<DType, kDTypeCount>, kDTypeCount> table{};
  for (int a = 0; a < kDTypeCount; a++) {
    for (int b = 0; b < kDTypeCount; b++) {
      table[a][b] = promoted(static_cast<DType>(a), static_cast<DType>(b));
    }
  }
  return table;
}();

std::atomic<DType> default_dtype_{DType::f32};

}  // namespace

size_t item_size(DType dtype) { return kItemSizes[static_cast<size_t>(dtype)]; }

std::string_view name(DType dtype) { return kNames[static_cast<size_t>(dtype)]; }

std::optional<DType> dtype_of_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); i++) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool is_floating(DType dtype) { return category(dtype) == Category::floating; }

bool is_integral(DType dtype) { return category(dtype) == Category::integral; }

bool is_signed(DType dtype) { return dtype != DType::u8 && dtype != DType::boolean; }

DType promote(DType a, DType b) {
  return kPromotion[static_cast<size_t>(a)][static_cast<size_t>(b)];
}

// Values may lose precision or range on the way, but never their category.
bool can_cast(DType from, DType to) { return category(from) <= category(to); }

DType default_dtype() { return default_dtype_.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  if (!is_floating(dtype)) {
    fail(ErrorKind::type,
         "set_default_dtype: got {}; only floating dtypes can be the default: use float16, "
         "bfloat16, float32 or float64",
         name(dtype));
  }
  default_dtype_.store(dtype, std::memory_order_relaxed);
}

}  // namespace fg
