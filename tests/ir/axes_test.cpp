// Axes in parameters: shifting by the types of the fields, text as for plain numbers, and the rule
// that a field with the name of an axis has the type of one.
#include "ir/axes.h"

#include <gtest/gtest.h>

#include "ir/params.h"
#include "tests/error_of.h"

namespace fg::ir {
namespace {

struct Inner {
  Axis dim;
  bool operator==(const Inner&) const = default;
};
struct Every {
  Shape sizes;
  Axis dim0, dim1;
  Axes dims;
  OptAxes reduced_dim;
  AxisOrder axes;
  Inner inner;
  int64_t offset;
  bool operator==(const Every&) const = default;
};
const Every kEvery{{4, 5, 6}, 1, -1, {0, -2}, {}, {2, 0, 1}, {2}, 7};

struct Untyped {
  int64_t dim;
};
struct UntypedList {
  Dims axes;
};
struct OnlyFixed {
  FixedAxes axes;
  bool operator==(const OnlyFixed&) const = default;
};
struct NoAxes {
  Dims size;
  bool keepdim;
  bool operator==(const NoAxes&) const = default;
};
static_assert(axes_are_typed<Every>() && axes_are_typed<OnlyFixed>() && axes_are_typed<NoAxes>());
static_assert(!axes_are_typed<Untyped>() && !axes_are_typed<UntypedList>());

template <class P>
std::string printed(const void* params) {
  std::string out;
  ParamsOf<P>::type.print(out, params);
  return out;
}

TEST(AxesTest, a_shift_moves_axes_from_the_front_and_adds_sizes) {
  ParamsRef shifted = ParamsOf<Every>::type.shift_axes(&kEvery, {9, 8}, 3);
  EXPECT_EQ(printed<Every>(shifted.get()),
            "sizes=[9, 8, 4, 5, 6], dim0=3, dim1=-1, dims=[2, -2], reduced_dim=[2, 3, 4], "
            "axes=[0, 1, 4, 2, 3], inner={dim=4}, offset=7");
}

TEST(AxesTest, text_is_that_of_plain_numbers_and_comes_back) {
  std::string text = printed<Every>(&kEvery);
  EXPECT_EQ(text,
            "sizes=[4, 5, 6], dim0=1, dim1=-1, dims=[0, -2], reduced_dim=none, axes=[2, 0, 1], "
            "inner={dim=2}, offset=7");
  TextReader in(text);
  ParamsRef parsed = ParamsOf<Every>::type.parse(in);
  EXPECT_EQ(ParamsOf<Every>::get(parsed.get()), kEvery);
}

TEST(AxesTest, a_zero_dim_tensor_has_no_axis_to_shift) {
  Inner inner{-1};
  EXPECT_EQ(error_of([&] { ParamsOf<Inner>::type.shift_axes(&inner, {2}, 0); }),
            "shift_axes: a zero-dim tensor has no axis to shift; give it a dimension of size one "
            "first");
}

TEST(AxesTest, parameters_without_axes_and_with_fixed_ones_have_no_shift) {
  EXPECT_EQ(ParamsOf<NoAxes>::type.shift_axes, nullptr);
  EXPECT_EQ(ParamsOf<OnlyFixed>::type.shift_axes, nullptr);
  EXPECT_NE(ParamsOf<Inner>::type.shift_axes, nullptr);
}

TEST(AxesTest, names_of_axes_are_known) {
  for (const char* name : {"dim", "dims", "dim0", "axis", "axes", "dimension", "start_dim"}) {
    EXPECT_TRUE(names_axis(name)) << name;
  }
  for (const char* name : {"keepdim", "size", "offset", "index", "dimmed", ""}) {
    EXPECT_FALSE(names_axis(name)) << name;
  }
}

}  // namespace
}  // namespace fg::ir
