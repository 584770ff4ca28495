#include "tensor/dim.h"

#include <gtest/gtest.h>

#include "tensor/geometry.h"
#include "tests/error_of.h"

namespace fg {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max(),
                  kMin = std::numeric_limits<int64_t>::min(), kLowest = kMin + (1LL << 32);

TEST(DimTest, numbers_in_the_range_of_symbols_are_refused) {
  for (int64_t value : {kMin, kMin + 100, kLowest - 1}) {
    EXPECT_HAS(error_of([&] { Dim{value}; }), "is out of range");
    EXPECT_HAS(error_of([&] { Dims{value}; }), std::to_string(value));
    EXPECT_HAS(error_of([&] { Dims(std::vector<int64_t>{1, value}); }), "is out of range");
    EXPECT_EQ(Dim::bound(value).value(), kLowest);
  }
  EXPECT_HAS(error_of([&] { Dim{~uint64_t{0}}; }), "18446744073709551615 is out of range");
  EXPECT_EQ(Dim(kLowest).value(), kLowest);
  EXPECT_EQ(Dim(kMax).value(), kMax);
  static_assert(Dim(int32_t{-5}).value() == -5);
}

TEST(DimTest, arithmetic_of_constants_is_checked) {
  EXPECT_EQ(
      error_of([] { Dim(kMax) + 1; }),
      "the sum of 9223372036854775807 and 1 needs more than 64 bits; use smaller sizes, steps "
      "or offsets");
  EXPECT_HAS(error_of([] { Dim(kLowest) - kMax; }), "the difference of");
  EXPECT_HAS(error_of([] { Dim(1LL << 62) * 2; }), "the product of");
  EXPECT_HAS(error_of([] { Dim(kLowest) - 1; }), "out of range");
  EXPECT_HAS(error_of([] { Dim(-2) * (1LL << 62); }), "out of range");
  EXPECT_HAS(error_of([] { Dim(5) / 0; }), "by zero");
  EXPECT_HAS(error_of([] { Dim(5) % 0; }), "by zero");
  EXPECT_EQ((-Dim(kLowest)).value(), kMax - (1LL << 32) + 1);
  EXPECT_EQ((Dim(kLowest) / -1).value(), kMax - (1LL << 32) + 1);
  // The multiple below it would need more than 64 bits.
  EXPECT_EQ((Dim(kLowest) % (3LL << 61)).value(), (1LL << 61) * 2 + (1LL << 32));
  EXPECT_EQ((Dim(-7) % 3).value(), 2);
  EXPECT_EQ((Dim(7) % -3).value(), -2);
}

TEST(DimTest, products_strides_and_reaches_do_not_wrap) {
  EXPECT_HAS(error_of([] { product({1LL << 62, 4}); }), "more elements than 2^63");
  EXPECT_HAS(error_of([] { contiguous_strides({0, 1LL << 62, 4}); }), "a stride of more than 2^63");
  EXPECT_EQ(text(contiguous_strides({0, kMax})), "[9223372036854775807, 1]");
  EXPECT_EQ(text(contiguous_strides({kMax, 0, kMax})),
            "[9223372036854775807, 9223372036854775807, 1]");
  EXPECT_EQ(reach({2, 1LL << 32}, {kMax - 4, 1}).value(), kMax);
  EXPECT_EQ(reach({1LL << 40, 1LL << 40}, {1LL << 40, 1LL << 40}).value(), kMax);
  EXPECT_EQ(reach({2, 3}, {3, 1}).value(), 6);
  EXPECT_FALSE(overlaps_itself({2, 2}, {1LL << 62, kMax}));
}

TEST(DimTest, lists_longer_than_any_memory_are_refused) {
  EXPECT_HAS(error_of([] { Dims(size_t{1} << 62, 0); }), "too long");
  EXPECT_HAS(error_of([] { Dims((size_t{1} << 32) + 1, 0); }), "too long");
}

}  // namespace
}  // namespace fg
