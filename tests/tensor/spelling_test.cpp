// Lines as libtorch programs have them: they compile, and mean what they mean there.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/error_of.h"

// A program that says `using namespace fg` still has the functions of the C library.
namespace program {
using namespace fg;
double root_of_two() { return sqrt(2.0); }
bool works() {
  Tensor x = tensor({4., 9.});
  bool numbers_too = abs(-3) == 3 && pow(2.0, 3) == 8 && floor(2.5) == 2 && sin(0.0) == 0 &&
                     exp(0.f) == 1 && round(2.6) == 3 && fmod(5.0, 3) == 2;
  return numbers_too && equal(sqrt(x), tensor({2., 3.})) && equal(abs(-x), x) &&
         equal(pow(x, 0.5), sqrt(x)) && equal(pow(2, tensor({3.})), tensor({8.})) &&
         equal(div(x, 2, "floor"), tensor({2., 4.})) && equal(select(x, 0, 1), tensor(9.)) &&
         equal(index(x, {tensor({1})}), tensor({9.})) && rand({2}).size(0) == 2;
}
}  // namespace program

namespace fg {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& tensor) { return tensor.to_vector<double>(); }
template <class... T>
std::string printed(const T&... values) {
  std::ostringstream out;
  (out << ... << values);
  return out.str();
}
Tensor example() { return tensor({{{0., 1., 2.}, {3., 5., 4.}}, {{6., 7., 9.}, {11., 10., 8.}}}); }

TEST(Spelling, AFlagAloneIsUnbiasedAndANumberADimension) {
  Tensor x = tensor({{1., 2., 4.}, {0., 5., 7.}}, kFloat64);
  double unbiased = x.var().item<double>(), biased = unbiased * 5 / 6;
  EXPECT_DOUBLE_EQ(x.var(true).item<double>(), unbiased);
  EXPECT_DOUBLE_EQ(x.var(false).item<double>(), biased);
  EXPECT_DOUBLE_EQ(x.std(false).item<double>(), std::sqrt(biased));
  EXPECT_DOUBLE_EQ(fg::var(x, false).item<double>(), biased);
  EXPECT_DOUBLE_EQ(fg::std(x, true).item<double>(), std::sqrt(unbiased));
  auto [spread, mean] = fg::std_mean(x, false);
  EXPECT_DOUBLE_EQ(spread.item<double>(), std::sqrt(biased));
  EXPECT_DOUBLE_EQ(std::get<0>(fg::var_mean(x, false)).item<double>(), biased);
  EXPECT_DOUBLE_EQ(mean.item<double>(), 19. / 6);
  EXPECT_EQ(x.var(1).sizes(), Dims{2});
  EXPECT_EQ(x.std({1}).sizes(), Dims{2});
  EXPECT_EQ(fg::var(x, 1).sizes(), Dims{2});
  EXPECT_EQ(fg::var(x, int64_t{1}).sizes(), Dims{2});
  EXPECT_EQ(std::get<0>(fg::var_mean(x, 1)).sizes(), Dims{2});
  EXPECT_EQ(x.var({0, 1}, false, true).sizes(), (Dims{1, 1}));
  EXPECT_TRUE(equal(x.var({1}, false), x.var({1}, 0)));
  EXPECT_TRUE(equal(x.var(OptDims(), Scalar(2)), x.var() * 5 / 4));
}

TEST(Spelling, BracesAreListsOfDimensions) {
  Tensor x = example();
  EXPECT_EQ(numbers(x.mean({1, 2})), (Numbers{2.5, 8.5}));
  EXPECT_EQ(x.sum({0, 1}, true).sizes(), (Dims{1, 1, 3}));
  EXPECT_EQ(numbers(sum(x, {0, 2})), (Numbers{25, 41}));
  EXPECT_EQ(x.sum({1}).sizes(), (Dims{2, 3}));
  EXPECT_EQ(x.sum(1).sizes(), (Dims{2, 3}));
  EXPECT_EQ(x.norm(2, {0, 1}).sizes(), Dims{3});
  EXPECT_EQ(x.sum(std::nullopt, true).sizes(), (Dims{1, 1, 1}));
  EXPECT_EQ(x.sum({0, 1}, true, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(x.sum(kFloat64).dtype(), kFloat64);
  EXPECT_EQ(x.mean(kFloat64).dtype(), kFloat64);
  EXPECT_EQ(x.prod(kFloat64).dtype(), kFloat64);
}

TEST(Spelling, OtherMethodsTakeWhatLibtorchsTake) {
  Tensor x = example();
  EXPECT_TRUE(equal(x.argsort(true), x.argsort(-1)));  // a flag is `stable`
  EXPECT_TRUE(equal(argsort(x, false), argsort(x, -1)));
  EXPECT_TRUE(equal(argsort(x, true, 0), argsort(x, 0)));
  EXPECT_TRUE(equal(std::get<1>(x.sort(true, 0, true)), x.argsort(0, true)));
  EXPECT_EQ(x.any({0, 1}).sizes(), Dims{3});
  EXPECT_EQ(x.all({0, 2}, true).sizes(), (Dims{1, 2, 1}));
  EXPECT_EQ(x.any(1).sizes(), (Dims{2, 3}));
  EXPECT_EQ(x.count_nonzero().item<int>(), 11);
  EXPECT_EQ(x.softmax(1, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(x.log_softmax(-1).dtype(), kFloat32);
  EXPECT_EQ(x.cumsum(1, kFloat64).dtype(), kFloat64);
}

TEST(Spelling, ADtypeMayFollowTheSizesOfRandomTensors) {
  EXPECT_EQ(randn({2}, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(rand({2, 3}, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(randint(5, {2}, kInt32).dtype(), kInt32);
  EXPECT_EQ(randint(0, 5, {2}, kFloat32).dtype(), kFloat32);
  EXPECT_EQ(randperm(4, kInt32).dtype(), kInt32);
  EXPECT_EQ(rand_like(ones({2}), kFloat64).dtype(), kFloat64);
  Generator generator(7);
  EXPECT_EQ(randn({2}, generator, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(randn({2}, generator).dtype(), kFloat32);
}

TEST(Spelling, OptionsSayTheDtypeAndWhetherGradIsRequired) {
  auto options = TensorOptions().dtype(kFloat64).requires_grad(true);
  for (const Tensor& x :
       {ones({2}, options), full({2}, 1.5, options), arange(0, 3, options), randn({2, 3}, options),
        rand({2}, options), eye(2, options), tensor({1., 2.}, options),
        tensor(std::vector<float>{1}, options), zeros_like(ones({2}), options),
        new_zeros(ones({1}), {2}, options), linspace(0, 1, 3, options), empty({2}, options)}) {
    EXPECT_TRUE(x.requires_grad() && x.is_leaf() && x.dtype() == kFloat64);
  }
  EXPECT_EQ(zeros({2}, dtype(kInt32)).dtype(), kInt32);
  EXPECT_TRUE(ones({2, 2}, requires_grad()).requires_grad());
  EXPECT_EQ(zeros({2}, ones({1}, kFloat64).options()).dtype(), kFloat64);
  EXPECT_NE(error_of([] { (void)zeros({2}, dtype(kInt64).requires_grad(true)); }), "no error");
  Tensor x = ones({2});
  EXPECT_EQ(x.to(dtype(kInt64)).dtype(), kInt64);
  EXPECT_EQ(error_of([&] { (void)x.to(requires_grad()); }),
            "to: got options with requires_grad, which a conversion does not set; call "
            "requires_grad_() on the result");
  float memory[2] = {1, 2};
  EXPECT_EQ(from_blob(memory, {2}).dtype(), kFloat32);
}

TEST(Spelling, SizesAreIntegersToAProgram) {
  Tensor x = example();
  int64_t n = x.sizes()[0];
  int last = x.sizes().back();
  double half = x.sizes()[0] * 0.5, mean = x.sum().item<double>() / x.sizes()[2];
  EXPECT_EQ(n, 2);
  EXPECT_EQ(last, 3);
  EXPECT_EQ(half, 1);
  EXPECT_EQ(mean, 22);
  int64_t total = 1;
  for (int64_t size : x.sizes()) total *= size;
  for (auto size : x.sizes()) total += size - 1;
  EXPECT_EQ(total, 12 + 4);
  std::vector<float> row(x.sizes()[2]);
  std::vector<int64_t> copied(x.sizes().begin(), x.sizes().end());
  EXPECT_EQ(row.size(), 3u);
  EXPECT_EQ(copied, x.sizes().vec());
  int count = 0;
  for (int i = 0; i < x.sizes()[0]; i++) count++;
  for (size_t i = 0; i < x.sizes().size(); i++) count++;
  EXPECT_EQ(count, 5);
  EXPECT_TRUE(x.sizes()[0] == 2 && 2 == x.sizes()[0] && x.sizes()[1] != 3 && x.sizes()[1] + 1 > 2);
  EXPECT_EQ(printed(x.sizes(), " ", x.sizes()[2], " ", x.strides()), "[2, 2, 3] 3 [6, 3, 1]");
  EXPECT_EQ(numbers((x * x.sizes()[0])[0][0]), (Numbers{0, 2, 4}));
  EXPECT_EQ(full({1}, x.sizes()[2]).dtype(), kInt64);
  EXPECT_EQ(x.view({x.sizes()[0], -1}).sizes(), (Dims{2, 6}));
  EXPECT_EQ(x.index({x.sizes()[0] - 1}).sizes(), (Dims{2, 3}));
  EXPECT_EQ(x.slice(2, 0, x.sizes()[2] - 1).sizes(), (Dims{2, 2, 2}));
}

TEST(Spelling, UsingTheNamespaceLeavesTheCLibraryUsable) {
  EXPECT_EQ(program::root_of_two(), std::sqrt(2.0));
  EXPECT_TRUE(program::works());
  Tensor result = empty({2});
  out(result, entries::sqrt)(tensor({4., 9.}));
  EXPECT_EQ(numbers(result), (Numbers{2, 3}));
}

TEST(Spelling, NumbersInBracesAndVectorsHaveTheDtypesOfLibtorch) {
  EXPECT_EQ(tensor(1).dtype(), kInt64);
  EXPECT_EQ(tensor({1, 2}).dtype(), kInt64);
  EXPECT_EQ(tensor({int64_t{1}, int64_t{2}}).dtype(), kInt64);
  EXPECT_EQ(tensor({uint8_t{1}, uint8_t{2}}).dtype(), kUInt8);
  EXPECT_EQ(tensor(int16_t{1}).dtype(), kInt16);
  EXPECT_EQ(tensor({true, false}).dtype(), kBool);
  EXPECT_EQ(tensor({{true, false}, {true, true}}).dtype(), kBool);
  EXPECT_EQ(tensor({1.f, 2.f}).dtype(), kFloat32);
  EXPECT_EQ(tensor({1., 2.}).dtype(), kFloat32);
  EXPECT_EQ(tensor({{}, {}}).sizes(), (Dims{2, 0}));
  EXPECT_EQ(tensor({}).dtype(), kFloat32);
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kInt64);
  EXPECT_EQ(tensor(std::vector<int64_t>{}).dtype(), kInt64);
  EXPECT_EQ(tensor(std::vector<uint8_t>{1, 255}).to_vector<int>(), (std::vector<int>{1, 255}));
  EXPECT_EQ(tensor(std::vector<uint8_t>{1}).dtype(), kUInt8);
  EXPECT_EQ(tensor(std::vector<int8_t>{1}).dtype(), kInt8);
  EXPECT_EQ(tensor(std::vector<int16_t>{1}).dtype(), kInt16);
  EXPECT_EQ(tensor(std::vector<bool>{true, false}).dtype(), kBool);
  EXPECT_EQ(tensor(std::vector<float>{1}).dtype(), kFloat32);
  EXPECT_EQ(tensor(std::vector<double>{1}).dtype(), kFloat32);
  EXPECT_EQ(tensor(std::vector<Half>{Half(1.5f)}).dtype(), kFloat16);
  EXPECT_EQ(tensor(std::vector<int>{1, 2}, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(tensor({1, 2}, kInt32).dtype(), kInt32);
  set_default_dtype(kFloat64);
  EXPECT_EQ(tensor({1.f}).dtype(), kFloat64);
  EXPECT_EQ(tensor(std::vector<float>{1}).dtype(), kFloat64);
  set_default_dtype(kFloat32);
}

TEST(Spelling, NumbersOfDifferentKindsInBracesAreRefused) {
  EXPECT_EQ(error_of([] { tensor({1, 2.5}); }),
            "tensor: expected numbers of one type, got int32 and float64; write all of them alike, "
            "or give a dtype");
  EXPECT_NE(error_of([] {
              tensor({true, false});
              tensor({{1}, {true}});
            }),
            "no error");
  EXPECT_EQ(numbers(tensor({1, 2.5}, kFloat64)), (Numbers{1, 2.5}));
}

TEST(Spelling, ElementsComeAsAnyKindOfNumber) {
  Tensor x = tensor({0., 1.5, 2.});
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(x.to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(x.to_vector<size_t>(), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(x[1].item().toDouble(), 1.5);
}

TEST(Spelling, AnEmptySliceIsContiguous) {
  Tensor x = ones({3, 4});
  EXPECT_TRUE(x.t().slice(0, 0, 0).is_contiguous());
  EXPECT_TRUE(x.slice(1, 1, 1).is_contiguous());
  EXPECT_TRUE(x.t().slice(1, 2, 2).t().is_contiguous());
  EXPECT_FALSE(x.t().is_contiguous());
}

TEST(Spelling, AnIndexOutOfBoundsNamesTheDimensionOfTheTensor) {
  Tensor x = zeros({2, 3, 4});
  auto error = [&](const std::vector<TensorIndex>& index) {
    return error_of([&] { (void)x.index(index); });
  };
  EXPECT_EQ(error({0, 5}), "index: index 5 is out of bounds for dimension 1 with size 3");
  EXPECT_EQ(error({2}), "index: index 2 is out of bounds for dimension 0 with size 2");
  EXPECT_EQ(error({indexing::Slice(), -4}),
            "index: index -4 is out of bounds for dimension 1 with size 3");
  EXPECT_EQ(error({0, 0, 4}), "index: index 4 is out of bounds for dimension 2 with size 4");
  EXPECT_EQ(error({"...", 9}), "index: index 9 is out of bounds for dimension 2 with size 4");
  EXPECT_EQ(error({indexing::None, 0, 7}),
            "index: index 7 is out of bounds for dimension 1 with size 3");
}

}  // namespace
}  // namespace fg
