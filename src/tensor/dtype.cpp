#include "tensor/dtype.h"

#include <array>
#include <atomic>

#include "base/fail.h"

namespace fg {

namespace {

struct Row {
  std::string_view name;
  uint8_t item_size;
  const char *buffer_format, *safetensors_name;
};
#define FG_ROW(id, long_name, type, text, kind, letter, file_name) \
  Row{text, sizeof(type), letter, file_name},
constexpr std::array<Row, kDTypeCount> kRows = {FG_DTYPES(FG_ROW)};
#undef FG_ROW

constexpr const Row& row_of(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

// The later kind wins whatever its size; within one, the larger size. Two different dtypes of
// the same size have no larger one among them: the next that holds both is taken.
constexpr DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (number_kind(a) != number_kind(b)) return number_kind(a) > number_kind(b) ? a : b;
  size_t size_a = row_of(a).item_size, size_b = row_of(b).item_size;
  if (size_a != size_b) return size_a > size_b ? a : b;
  return is_floating(a) ? DType::f32 : DType::i16;
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

size_t item_size(DType dtype) { return row_of(dtype).item_size; }

std::string_view name(DType dtype) { return row_of(dtype).name; }

std::optional<DType> dtype_of_name(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); i++) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

const char* buffer_format(DType dtype) { return row_of(dtype).buffer_format; }

const char* safetensors_name(DType dtype) { return row_of(dtype).safetensors_name; }

bool is_signed(DType dtype) { return dtype != DType::u8 && dtype != DType::boolean; }

DType promote(DType a, DType b) {
  return kPromotion[static_cast<size_t>(a)][static_cast<size_t>(b)];
}

// Values may lose precision or range on the way, but never their kind.
bool can_cast(DType from, DType to) { return number_kind(from) <= number_kind(to); }

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
