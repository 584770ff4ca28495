#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace fg {
namespace {

DType dtype(int i) { return static_cast<DType>(i); }

// torch.promote_types of every pair, rows and columns in the order of the enum (torch 2.13).
const char* const kPromotion[kDTypeCount] = {
    "uint8 int16 int16 int32 int64 float16 float32 float64 uint8 bfloat16",
    "int16 int8 int16 int32 int64 float16 float32 float64 int8 bfloat16",
    "int16 int16 int16 int32 int64 float16 float32 float64 int16 bfloat16",
    "int32 int32 int32 int32 int64 float16 float32 float64 int32 bfloat16",
    "int64 int64 int64 int64 int64 float16 float32 float64 int64 bfloat16",
    "float16 float16 float16 float16 float16 float16 float32 float64 float16 float32",
    "float32 float32 float32 float32 float32 float32 float32 float64 float32 float32",
    "float64 float64 float64 float64 float64 float64 float64 float64 float64 float64",
    "uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16",
    "bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float32 float32 float64 bfloat16 bfloat16",
};

// torch.can_cast of every pair: row = from, column = to.
const char* const kCanCast[kDTypeCount] = {
    "1111111101", "1111111101", "1111111101", "1111111101", "1111111101",
    "0000011101", "0000011101", "0000011101", "1111111111", "0000011101",
};

TEST(DTypeTest, promotes_every_pair_as_pytorch) {
  for (int a = 0; a < kDTypeCount; a++) {
    std::istringstream row(kPromotion[a]);
    for (int b = 0; b < kDTypeCount; b++) {
      std::string expected;
      row >> expected;
      EXPECT_EQ(name(promote(dtype(a), dtype(b))), expected)
          << name(dtype(a)) << " with " << name(dtype(b));
    }
  }
}

TEST(DTypeTest, casts_every_pair_as_pytorch) {
  for (int from = 0; from < kDTypeCount; from++) {
    for (int to = 0; to < kDTypeCount; to++) {
      EXPECT_EQ(can_cast(dtype(from), dtype(to)), kCanCast[from][to] == '1')
          << name(dtype(from)) << " to " << name(dtype(to));
    }
  }
}

// The sets by name, one letter per dtype in the order of the enum: what complex numbers will not
// belong to unless a row says so.
TEST(DTypeTest, sets_hold_the_dtypes_that_they_name) {
  auto set = [](bool (*holds)(DType)) {
    std::string text;
    for (int i = 0; i < kDTypeCount; i++) text += holds(dtype(i)) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(set(is_floating), "0000011101");
  EXPECT_EQ(set(is_differentiable), "0000011101");
  EXPECT_EQ(set(is_integral), "1111100000");
  EXPECT_EQ(set(is_integral_or_bool), "1111100010");
  EXPECT_EQ(set(is_real), "1111111101");
  EXPECT_EQ(set(is_half), "0000010001");
  EXPECT_EQ(set(is_signed), "0111111101");
}

TEST(DTypeTest, every_dtype_has_one_name_in_files_and_at_most_one_letter_in_buffers) {
  std::set<std::string> names, letters;
  for (int i = 0; i < kDTypeCount; i++) {
    EXPECT_TRUE(names.insert(safetensors_name(dtype(i))).second);
    const char* letter = buffer_format(dtype(i));
    EXPECT_TRUE(!letter || letters.insert(letter).second);
    EXPECT_EQ(letter == nullptr, dtype(i) == kBFloat16);
  }
}

TEST(DTypeTest, names_lead_back_to_their_dtype) {
  for (int i = 0; i < kDTypeCount; i++) EXPECT_EQ(dtype_of_name(name(dtype(i))), dtype(i));
  EXPECT_EQ(name(kBool), "bool");
  EXPECT_EQ(name(kBFloat16), "bfloat16");
  EXPECT_EQ(dtype_of_name("complex64"), std::nullopt);
  EXPECT_EQ(dtype_of_name(""), std::nullopt);
}

TEST(DTypeTest, sizes_are_those_of_the_element_types) {
  for (int i = 0; i < kDTypeCount; i++) {
    visit(dtype(i), [&](auto zero) {
      EXPECT_EQ(item_size(dtype(i)), sizeof(zero));
      EXPECT_EQ(DTypeOf<decltype(zero)>::value, dtype(i));
    });
  }
}

TEST(DTypeTest, categories_are_disjoint) {
  std::string floating, integral, is_unsigned;
  for (int i = 0; i < kDTypeCount; i++) {
    if (is_floating(dtype(i))) floating += std::string(name(dtype(i))) + " ";
    if (is_integral(dtype(i))) integral += std::string(name(dtype(i))) + " ";
    if (!is_signed(dtype(i))) is_unsigned += std::string(name(dtype(i))) + " ";
  }
  EXPECT_EQ(floating, "float16 float32 float64 bfloat16 ");
  EXPECT_EQ(integral, "uint8 int8 int16 int32 int64 ");
  EXPECT_EQ(is_unsigned, "uint8 bool ");
}

TEST(DTypeTest, default_is_float32_and_can_be_any_floating_dtype) {
  EXPECT_EQ(default_dtype(), kFloat32);
  for (DType dtype : {kFloat64, kFloat16, kBFloat16, kFloat32}) {
    set_default_dtype(dtype);
    EXPECT_EQ(default_dtype(), dtype);
  }
}

TEST(DTypeTest, default_refuses_other_dtypes) {
  for (DType dtype : {kUInt8, kInt64, kBool}) {
    try {
      set_default_dtype(dtype);
      FAIL() << name(dtype) << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::type);
      EXPECT_EQ(std::string(error.what()),
                "set_default_dtype: got " + std::string(name(dtype)) +
                    "; only floating dtypes can be the default: use float16, bfloat16, float32 or "
                    "float64");
    }
  }
  EXPECT_EQ(default_dtype(), kFloat32);
}

}  // namespace
}  // namespace fg
