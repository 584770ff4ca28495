// Expressions: every operation gives the same bits as vector lanes; sharing, printing, errors; and
// the operations' own values against C++ and PyTorch's rules.
#include "base/error.h"
#include "ir/both_worlds.h"

namespace fg::ir {
namespace {

TEST(Operations, ArithmeticAgrees) {
  check_numbers("add", [](auto x, auto y, auto) { return x + y; });
  check_numbers("sub", [](auto x, auto y, auto) { return x - y; });
  check_numbers("mul", [](auto x, auto y, auto) { return x * y; });
  check_numbers("div", [](auto x, auto y, auto) { return x / y; });
  check_numbers("neg", [](auto x, auto, auto) { return -x; });
  check_numbers("mad", [](auto x, auto y, auto z) { return mad(x, y, z); });
  check_floats("sqrt", [](auto x, auto, auto) { return sqrt(x); });
  check_floats("numbers", [](auto x, auto, auto) { return 1 / (1 + x * 0.5) - 3; });
  check_both_worlds<bool>("bool", [](auto x, auto y, auto z) { return (x + y) * z ^ !x; });
  check_both_worlds<Half>("half", [](auto x, auto y, auto z) { return x * y + z; });
  check_both_worlds<BFloat16>("bfloat16", [](auto x, auto y, auto z) { return x * y + z; });
}

TEST(Operations, ComparisonsAndChoicesAgree) {
  check_numbers("lt", [](auto x, auto y, auto) { return x < y; });
  check_numbers("le", [](auto x, auto y, auto) { return x <= y; });
  check_numbers("gt", [](auto x, auto y, auto) { return x > y; });
  check_numbers("ge", [](auto x, auto y, auto) { return x >= y; });
  check_numbers("eq", [](auto x, auto y, auto) { return x == y; });
  check_numbers("ne", [](auto x, auto y, auto) { return x != y; });
  check_numbers("logic",
                [](auto x, auto y, auto z) { return ((x < y) & !(y < z)) | ((x == z) ^ (y > 1)); });
  check_numbers("select",
                [](auto x, auto y, auto z) { return select(x < y, z, select(y > 2, 5, x)); });
  check_numbers("maximum", [](auto x, auto y, auto) { return maximum(x, y); });
  check_numbers("minimum", [](auto x, auto y, auto) { return minimum(x, y); });
  check_both_worlds<Half>("lt", [](auto x, auto y, auto) { return x < y; });
}

TEST(Operations, SignsAndRoundingAgree) {
  check_numbers("abs", [](auto x, auto, auto) { return abs(x); });
  check_numbers("sign", [](auto x, auto, auto) { return sign(x); });
  check_floats("copysign", [](auto x, auto y, auto) { return copysign(x, y); });
  check_floats("signbit", [](auto x, auto, auto) { return signbit(x); });
  check_floats("isnan", [](auto x, auto, auto) { return isnan(x); });
  check_floats("isinf", [](auto x, auto, auto) { return isinf(x); });
  check_floats("isfinite", [](auto x, auto, auto) { return isfinite(x); });
  check_floats("round", [](auto x, auto, auto) { return round(x); });
  check_floats("floor", [](auto x, auto, auto) { return floor(x); });
  check_floats("ceil", [](auto x, auto, auto) { return ceil(x); });
  check_floats("trunc", [](auto x, auto, auto) { return trunc(x); });
}

TEST(Operations, DivisionsAndBitsAgree) {
  check_numbers("fmod", [](auto x, auto y, auto) { return fmod(x, y); });
  check_numbers("remainder", [](auto x, auto y, auto) { return remainder(x, y); });
  check_numbers("floor_div", [](auto x, auto y, auto) { return floor_div(x, y); });
  check_numbers("trunc_div", [](auto x, auto y, auto) { return trunc_div(x, y); });
  check_integers("bits", [](auto x, auto y, auto z) { return ((x & y) | ~z) ^ 5; });
  check_integers("shl", [](auto x, auto y, auto) { return x << y; });
  check_integers("sar", [](auto x, auto y, auto) { return x >> y; });
  check_integers("shr", [](auto x, auto y, auto) { return shift_right_logical(x, y); });
  check_integers("shl by 3", [](auto x, auto, auto) { return x << 3; });
  check_integers("sar by 3", [](auto x, auto, auto) { return x >> 3; });
  check_integers("shr by 3", [](auto x, auto, auto) { return shift_right_logical(x, 3); });
  check_integers("left_shift", [](auto x, auto y, auto) { return left_shift(x, y); });
  check_integers("right_shift", [](auto x, auto y, auto) { return right_shift(x, y); });
  check_floats("bit casts", [](auto x, auto, auto) { return float_of_bits(bits(x) ^ 1); });
}

template <class To>
void check_conversions() {
  auto to = [](auto x, auto, auto) { return convert<To>(x); };
  check_numbers("convert", to);
  check_both_worlds<bool>("convert", to);
  check_both_worlds<Half>("convert",
                          [](auto x, auto, auto) { return convert<To>(x) == convert<To>(x); });
}

TEST(Operations, ConversionsAgreeForEveryPair) {
  check_conversions<float>();
  check_conversions<double>();
  check_conversions<uint8_t>();
  check_conversions<int8_t>();
  check_conversions<int16_t>();
  check_conversions<int32_t>();
  check_conversions<int64_t>();
  check_conversions<bool>();
}

// A mask of one lane size chooses between lanes of another.
TEST(Operations, MasksOfOtherSizesAgree) {
  auto through = []<class U>(U) {
    return [](auto x, auto y, auto z) {
      auto a = convert<U>(x), b = convert<U>(y);
      return select((a < b) & (x < z), y, select(bool_of(a == b), x, z));
    };
  };
  check_numbers("mask of double", through(double{}));
  check_numbers("mask of float", through(float{}));
  check_numbers("mask of int8", through(int8_t{}));
  check_numbers("mask of int16", through(int16_t{}));
}

// The 16-bit formats in vector form equal their scalar form in half.h.
template <class S, Level L>
FG_INLINE void round_trip(const float* in, S* rounded, float* widened) {
  for (int i = 0; i < kCount; i += kLanes) {
    store(rounded + i, load<float, L>(in + i));
    store(widened + i, load<S, L>(rounded + i));
  }
}
template <class S>
FG_KERNEL_V3 void round_trip_v3(const float* in, S* rounded, float* widened) {
  round_trip<S, kBestLevel>(in, rounded, widened);
}
template <class S>
FG_KERNEL_BASELINE void round_trip_baseline(const float* in, S* rounded, float* widened) {
  round_trip<S, Level::baseline>(in, rounded, widened);
}
template <class S>
void check_sixteen_bits(uint32_t first) {
  float in[kCount], widened[kCount];
  S rounded[kCount];
  for (Level at : {Level::baseline, kBestLevel}) {
    if (at > level()) continue;
    for (int i = 0; i < kCount; ++i) in[i] = lane_value<float>(first + 0x400u * uint32_t(i));
    (at == kBestLevel ? round_trip_v3<S> : round_trip_baseline<S>)(in, rounded, widened);
    for (int i = 0; i < kCount; ++i) {
      EXPECT_TRUE(same(rounded[i], S(in[i]))) << in[i];
      EXPECT_TRUE(same<float>(widened[i], rounded[i])) << in[i];
    }
  }
}

TEST(Operations, SixteenBitFloatsRoundLikeTheirScalarForm) {
  for (uint32_t first = 0; first != 0xfff00000; first += 0x100000) {
    check_sixteen_bits<Half>(first + 0xfff * (first >> 20 & 1));
    check_sixteen_bits<BFloat16>(first + 0x7fff * (first >> 20 & 1));
  }
}

template <class T, class F>
T value(F formula, T x, T y) {
  constexpr DType dtype = DTypeOf<T>::value;
  Expr result = formula(Expr::input(0, dtype), Expr::input(1, dtype));
  uint64_t arguments[] = {lane_bits(x), lane_bits(y)};
  return lane_value<T>(evaluate(result, {arguments}, Level::baseline));
}

TEST(Operations, FollowPyTorchsRules) {
  auto floor_div_of = [](auto x, auto y) { return floor_div(x, y); };
  auto remainder_of = [](auto x, auto y) { return remainder(x, y); };
  auto left = [](auto x, auto y) { return left_shift(x, y); };
  auto right = [](auto x, auto y) { return right_shift(x, y); };
  EXPECT_EQ(value<int32_t>(floor_div_of, -7, 2), -4);
  EXPECT_EQ(value<int32_t>(floor_div_of, 7, 0), 0);
  EXPECT_EQ(value<int8_t>(floor_div_of, -128, -1), -128);
  EXPECT_EQ(value<double>(floor_div_of, -7, 2), -4);
  EXPECT_EQ(value<float>(floor_div_of, 1, 0), INFINITY);
  EXPECT_TRUE(std::signbit(value<float>(floor_div_of, -0.f, 3)));
  EXPECT_EQ(value<int64_t>(remainder_of, -7, 3), 2);
  EXPECT_EQ(value<double>(remainder_of, -7, 3), 2);
  EXPECT_EQ(value<float>(remainder_of, 7, -3), -2);
  EXPECT_EQ(value<int32_t>(left, 1, 40), 0);
  EXPECT_EQ(value<int32_t>(left, 1, -1), 0);
  EXPECT_EQ(value<int32_t>(right, -5, 40), -1);
  EXPECT_EQ(value<uint8_t>(right, 200, 8), 0);
}

TEST(Operations, RoundLikeC) {
  for (double x : column<double>(7)) {
    auto rounded = [&](auto formula) {
      return value<double>([&](auto a, auto) { return formula(a); }, x, 0);
    };
    EXPECT_TRUE(same(rounded([](auto a) { return floor(a); }), std::floor(x))) << x;
    EXPECT_TRUE(same(rounded([](auto a) { return ceil(a); }), std::ceil(x))) << x;
    EXPECT_TRUE(same(rounded([](auto a) { return trunc(a); }), std::trunc(x))) << x;
    EXPECT_TRUE(same(rounded([](auto a) { return round(a); }), std::nearbyint(x))) << x;
    EXPECT_TRUE(same(value<double>([](auto a, auto b) { return fmod(a, b); }, x, 0.75),
                     std::fmod(x, 0.75)));
    float single = static_cast<float>(x);
    EXPECT_TRUE(same(value<float>([](auto a, auto b) { return fmod(a, b); }, single, 0.3f),
                     std::fmod(single, 0.3f)));
  }
}

TEST(Operations, FuseMultiplyAddByLevel) {
  Expr e = mad(Expr::input(0, DType::f64), Expr::input(0, DType::f64), Expr::input(1, DType::f64));
  double x = 1 + 0x1p-30, c = -(1 + 0x1p-29);
  uint64_t arguments[] = {lane_bits(x), lane_bits(c)};
  EXPECT_EQ(lane_value<double>(evaluate(e, {arguments}, Level::baseline)), 0);
  EXPECT_EQ(lane_value<double>(evaluate(e, {arguments}, Level::v3)), 0x1p-60);
}

TEST(Expressions, PrintOneLinePerValueAndMergeEqualOnes) {
  Expr x = Expr::input(0, DType::f32), alpha = Expr::parameter(0, DType::f32);
  Expr e = select(x < 0, alpha * x, alpha * x + 1);
  EXPECT_EQ(to_text(Program(e)),
            "%0 = f32 input 0\n%1 = f32 constant 0x0p+0\n%2 = bool lt %0 %1\n"
            "%3 = f32 parameter 0\n%4 = f32 mul %3 %0\n%5 = f32 constant 0x1p+0\n"
            "%6 = f32 add %4 %5\n%7 = f32 select %2 %4 %6\nreturn %7\n");
  EXPECT_EQ(node_count(e), 8);
}

TEST(Expressions, KeepSixteenBitFloatsAtTheEdges) {
  Expr x = Expr::loaded(0, DType::f16);
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(to_text(Program(convert(x + 1, DType::f16))),
            "%0 = f16 input 0\n%1 = f32 convert %0\n%2 = f32 constant 0x1p+0\n"
            "%3 = f32 add %1 %2\n%4 = f16 convert %3\nreturn %4\n");
  EXPECT_THROW(Expr::input(0, DType::f16) + Expr::input(1, DType::f16), Error);
  EXPECT_THROW(x + Expr::input(1, DType::f64), Error);
}

TEST(Expressions, ReleaseLongChainsWithoutRecursion) {
  Expr e = Expr::input(0, DType::f64);
  for (int i = 0; i < 100000; ++i) e = e + 1;
  uint64_t argument = lane_bits(0.0);
  EXPECT_EQ(lane_value<double>(evaluate(e, {{&argument, 1}}, Level::baseline)), 1e5);
}

}  // namespace
}  // namespace fg::ir
