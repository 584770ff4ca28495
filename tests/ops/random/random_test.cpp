#include "ops/random/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/pool.h"
#include "ops/create/create.h"

namespace fg {
namespace {

struct Moments {
  double mean = 0, std = 0, low = HUGE_VAL, high = -HUGE_VAL;
};
Moments moments(const Tensor& tensor) {
  Moments m;
  auto values = tensor.to_vector<double>();
  for (double x : values) {
    m.mean += x / static_cast<double>(values.size());
    m.low = std::min(m.low, x);
    m.high = std::max(m.high, x);
  }
  for (double x : values) {
    m.std += (x - m.mean) * (x - m.mean) / static_cast<double>(values.size());
  }
  m.std = std::sqrt(m.std);
  return m;
}
constexpr int64_t kMany = 100000;

template <class F>
void expect_error(F call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "expected an error with: " << part;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Random, element_i_draws_from_the_block_of_its_own_counter) {
  Generator generator(5);
  rand({3}, generator);  // takes three counters
  Tensor u = rand({40}, generator, kFloat64), f = rand({40}, generator);
  Tensor z = randn({40}, generator, kFloat64), k = randint(-3, 9, {40}, generator);
  for (uint64_t i = 0; i < 40; i++) {
    auto at = [&](const Tensor& t) { return t.to_vector<double>()[i]; };
    EXPECT_EQ(at(u), uniform<double>(philox(5, 3 + i)));
    EXPECT_EQ(at(f), uniform<float>(philox(5, 43 + i)));
    auto [radius, angle] = uniform_pair<double>(philox(5, 83 + i));
    EXPECT_NEAR(at(z), std::sqrt(-2 * std::log(radius)) * std::cos(2 * M_PI * angle), 1e-14);
    EXPECT_EQ(at(k), static_cast<double>(uniform_integer(philox(5, 123 + i), -3, 9)));
  }
  EXPECT_EQ(generator.get_offset(), 163u);
}

TEST(Random, a_seed_gives_the_same_values_on_any_number_of_threads) {
  int threads = pool::num_threads();
  std::vector<double> first;
  for (int count : {1, 3}) {
    pool::set_num_threads(count);
    manual_seed(3);
    auto values = randn({kMany}).to_vector<double>();
    if (first.empty()) first = values;
    EXPECT_EQ(values, first);
  }
  pool::set_num_threads(threads);
}

TEST(Random, distributions_have_their_moments) {
  manual_seed(1);
  for (DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    Moments u = moments(rand({kMany}, {}, dtype)), z = moments(randn({kMany}, {}, dtype));
    EXPECT_NEAR(u.mean, 0.5, 0.01);
    EXPECT_NEAR(u.std, std::sqrt(1 / 12.0), 0.01);
    EXPECT_GE(u.low, 0);
    EXPECT_LT(u.high, 1);
    EXPECT_NEAR(z.mean, 0, 0.02);
    EXPECT_NEAR(z.std, 1, 0.02);
  }
  Tensor x = zeros({kMany}, kFloat64);
  EXPECT_NEAR(moments(exponential_(x, 4)).mean, 0.25, 0.01);
  EXPECT_GT(moments(x).low, 0);
  EXPECT_NEAR(moments(geometric_(x, 0.2)).mean, 5, 0.1);
  EXPECT_EQ(moments(x).low, 1);
  EXPECT_NEAR(moments(log_normal_(x, 0.5, 0.25)).mean, std::exp(0.5 + 0.03125), 0.02);
  EXPECT_NEAR(moments(poisson(full({kMany}, 3.5))).mean, 3.5, 0.05);
  EXPECT_NEAR(moments(poisson(full({kMany}, 3.5))).std, std::sqrt(3.5), 0.05);
  EXPECT_NEAR(moments(poisson(full({kMany}, 60.0))).mean, 60, 0.2);
  EXPECT_NEAR(moments(poisson(full({kMany}, 60.0))).std, std::sqrt(60), 0.1);
  auto values = cauchy_(x, 2, 3).to_vector<double>();
  std::nth_element(values.begin(), values.begin() + kMany / 4, values.end());
  EXPECT_NEAR(values[kMany / 4], -1, 0.2);  // the lower quartile is median - sigma
  EXPECT_NEAR(moments(normal(full({kMany}, 2.0), full({kMany}, 0.5))).std, 0.5, 0.01);
  EXPECT_NEAR(moments(normal(2.0, 0.5, Dims{kMany})).mean, 2, 0.01);
}

TEST(Random, bernoulli_is_one_as_often_as_p_says) {
  manual_seed(2);
  EXPECT_NEAR(moments(bernoulli(full({kMany}, 0.3))).mean, 0.3, 0.01);
  EXPECT_EQ(moments(bernoulli(zeros({99}))).high, 0);
  EXPECT_EQ(moments(bernoulli(ones({99}))).low, 1);
  Tensor mask = zeros({kMany}, kBool);
  mask.bernoulli_(0.75);
  EXPECT_NEAR(moments(mask).mean, 0.75, 0.01);
}

TEST(Random, integers_cover_their_range) {
  manual_seed(2);
  Moments m = moments(randint(-3, 5, {kMany}));
  EXPECT_EQ(m.low, -3);
  EXPECT_EQ(m.high, 4);
  EXPECT_NEAR(m.mean, 0.5, 0.05);
  Tensor bytes = zeros({kMany}, kUInt8);
  fg::random_(bytes);
  EXPECT_EQ(moments(bytes).high, 255);
  Tensor halves = zeros({kMany}, kFloat16);
  EXPECT_LE(moments(fg::random_(halves)).high, 2048);
  Tensor wide = zeros({1000}, kInt64);
  EXPECT_GE(moments(fg::random_(wide)).low, 0);
  EXPECT_GT(moments(wide).high, 9e18);
}

TEST(Random, randperm_holds_every_number_once) {
  auto values = randperm(100).to_vector<int64_t>();
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (int64_t i = 0; i < 100; i++) EXPECT_EQ(values[static_cast<size_t>(i)], i);
  EXPECT_EQ(randperm(3, {}, kFloat32).dtype(), kFloat32);
}

TEST(Random, multinomial_follows_the_weights) {
  manual_seed(4);
  Tensor weights = tensor({1., 0., 3.});
  auto drawn = multinomial(weights, kMany, true).to_vector<int64_t>();
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 2)), 0.75 * kMany, 1500);
  int first_is_two = 0;
  for (int i = 0; i < 1000; i++) {
    auto pair = multinomial(weights, 2).to_vector<int64_t>();
    EXPECT_NE(pair[0], pair[1]);
    EXPECT_NE(pair[0], 1);
    first_is_two += pair[0] == 2;
  }
  EXPECT_NEAR(first_is_two, 750, 60);
}

TEST(Random, wrong_parameters_are_named) {
  Tensor x = zeros({3}), whole = zeros({3}, kInt64), bytes = zeros({3}, kUInt8);
  expect_error([&] { x.uniform_(2, 1); }, "from=2 > to=1");
  expect_error([&] { x.uniform_(0, HUGE_VAL); }, "uniform_");
  expect_error([&] { whole.uniform_(); }, "int64 is not supported");
  expect_error([&] { x.normal_(0, -1); }, "std >= 0");
  expect_error([&] { x.bernoulli_(1.5); }, "expected it in [0, 1]");
  expect_error([&] { bernoulli(full({1}, 1.5)); }, "expected a probability");
  expect_error([&] { bernoulli(whole); }, "int64 is not supported");
  expect_error([&] { x.random_(5, 5); }, "from=5 >= to=5");
  expect_error([&] { bytes.random_(0, 300); }, "out of bounds for uint8");
  expect_error([&] { randint(0, 3, {2}, {}, kBool); }, "out of bounds for bool");
  expect_error([&] { randperm(-1); }, "n is -1");
  expect_error([&] { randperm(300, {}, kUInt8); }, "does not fit");
  expect_error([&] { rand({2}, {}, kInt64); }, "int64 is not supported");
  expect_error([&] { exponential_(x, 0); }, "lambd > 0");
  expect_error([&] { geometric_(x, 1); }, "p in (0, 1)");
  expect_error([&] { cauchy_(x, 0, 0); }, "sigma > 0");
  expect_error([&] { log_normal_(x, 0, 0); }, "std > 0");
  expect_error([&] { normal(x, tensor({1., -1., 1.})); }, "expected 0 or more everywhere");
  expect_error([&] { multinomial(ones({3}), 4); }, "without replacement");
  expect_error([&] { multinomial(ones({3}), 0); }, "expected 1 or more");
  expect_error([&] { multinomial(zeros({3}), 1); }, "sum to zero");
  expect_error([&] { multinomial(tensor({1., -1.}), 1); }, "finite numbers of 0 or more");
  expect_error([&] { poisson(tensor({-1.})); }, "rates of 0 or more");
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace fg
