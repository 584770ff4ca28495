#include "tensor/symbols.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "tensor/geometry.h"
#include "tensor/impl.h"
#include "tests/error_of.h"

namespace fg {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct SymbolsTest : testing::Test {
  Symbols symbols;
  Dim s0 = symbols.add("s0", 12), s1 = symbols.add("s1", 4), s2 = symbols.add("s2", 7);

  size_t guard_count() const { return symbols.guards().size(); }
};

TEST_F(SymbolsTest, equal_expressions_are_one) {
  EXPECT_TRUE(same(s0 * s1, s1 * s0));
  EXPECT_TRUE(same((s0 + s1) * (s0 - s1), s0 * s0 - s1 * s1));
  EXPECT_TRUE(same(s0 + s1 - s0, s1));
  EXPECT_TRUE(same(s0 * 2 - s0 - s0, 0));
  EXPECT_TRUE(same((s0 * 4 + s1 * 6 + 5) / 2, s0 * 2 + s1 * 3 + 2));
  EXPECT_TRUE(same((s0 * 4 + s1) % 4, s1 % 4));
  EXPECT_TRUE(same(min(s0, s1 + 1), min(s1 + 1, s0)));
  EXPECT_TRUE(same(max(s0, s0 + 1), s0 + 1));
  EXPECT_FALSE(same(s0, s1));
  EXPECT_FALSE(same(s0, 12));
  EXPECT_EQ(guard_count(), 0u);
}

TEST_F(SymbolsTest, text_is_in_normal_form) {
  EXPECT_EQ((s0 * 2 + 1).text(), "2*s0 + 1");
  EXPECT_EQ((3 - s1 * s0 + s2).text(), "-s0*s1 + s2 + 3");
  EXPECT_EQ(((s0 + 1) / 2 * 3).text(), "3*div(s0 + 1, 2)");
  EXPECT_EQ((max(s1, s0) % 5).text(), "mod(max(s0, s1), 5)");
  EXPECT_EQ(text(Dims{s0, 4, s1 * 3}), "[s0, 4, 3*s1]");
  Symbols many;
  Dim ten = many.add("s10", 1), two = many.add("s2", 1);
  EXPECT_EQ((ten + two).text(), "s2 + s10");
}

TEST_F(SymbolsTest, hints_and_limits) {
  EXPECT_EQ((s0 * 2 + 1).hint(), 25);
  EXPECT_HAS(error_of([&] { s0* kMax; }), "needs more than 64 bits");
  EXPECT_HAS(error_of([&] { s0.value(); }), "the symbolic size s0 is used where a number");
  EXPECT_HAS(error_of([&] { symbols.add("s0", 1); }), "exists already");
  EXPECT_HAS(error_of([&] { symbols.add("a b", 1); }), "no name of a symbol");
  EXPECT_HAS(error_of([&] { symbols.add("s9", -1); }), "a size is 0 or more");
  auto grow = [&] {
    Dim x = s0 + s1 + s2 + 1;
    for (int i = 0; i < 20; i++) x = x * (s0 + s1 + s2 + 1) % 1000003;
    for (int i = 0; i < 20; i++) x = min(x, x * x % 1000003);
  };
  EXPECT_HAS(error_of(grow), "an expression of more than 4096 parts");
}

TEST_F(SymbolsTest, division_is_exact_where_it_can_be) {
  GuardScope scope(&symbols);
  EXPECT_TRUE(same(s0 * s1 * 12 / s0, s1 * 12));
  EXPECT_TRUE(same((s0 * s1 + s0 + s1 + 1) / (s1 + 1), s0 + 1));
  EXPECT_TRUE(same(s0 * s1 % s0, 0));
  // The simplification relies on a divisor that is not 0.
  ASSERT_EQ(guard_count(), 1u);
  EXPECT_EQ(symbols.guards()[0].text(), "s0 != 0");
  EXPECT_HAS(error_of([&] { s0 / (s0 - 12); }), "by zero");
}

TEST_F(SymbolsTest, known_answers_hold_for_all_sizes) {
  EXPECT_EQ(known_equal(s0, s0 + 0), Known::yes);
  EXPECT_EQ(known_equal(s0, s0 + 1), Known::no);
  EXPECT_EQ(known_equal(s0, s1), Known::unknown);
  EXPECT_EQ(known_equal(s0, 12), Known::unknown);
  EXPECT_EQ(known_equal(s0, -1), Known::no);
  EXPECT_EQ(known_less(s0, 0), Known::no);
  EXPECT_EQ(known_less(s0 * s1 + 1, 1), Known::no);
  EXPECT_EQ(known_less(s0, 1), Known::unknown);
  EXPECT_EQ(known_less(s0, s0 + s1 + 1), Known::yes);
  EXPECT_EQ(known_less(s0 % 4, 4), Known::yes);
  EXPECT_EQ(known_less(min(s0, 3), 4), Known::yes);
  EXPECT_EQ(known_less(max(s0, 1), 1), Known::no);
  EXPECT_EQ(known_less(s0 / 4, 0), Known::no);
  EXPECT_EQ(known_equal(Dims{s0, 1}, Dims{s1, 2}), Known::no);
  EXPECT_EQ(known_equal(Dims{s0, 1}, Dims{s1, 1}), Known::unknown);
  EXPECT_EQ(guard_count(), 0u);
}

TEST_F(SymbolsTest, a_comparison_asks_once) {
  GuardScope scope(&symbols);
  symbols.set_origin("train.cpp:7");
  EXPECT_TRUE(s0 == s1 * 3);
  EXPECT_FALSE(s0 == s2);
  EXPECT_FALSE(s2 < 2);
  EXPECT_TRUE(s1 < s2);
  ASSERT_EQ(guard_count(), 4u);
  const char* expected[] = {"s0 == 3*s1", "s0 != s2", "s2 >= 2", "s1 < s2"};
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(symbols.guards()[i].text(), expected[i]);
  EXPECT_EQ(symbols.guards()[3].origin, "train.cpp:7");
  // Answers that follow need no further guard.
  EXPECT_TRUE(s0 == s1 * 3);
  EXPECT_TRUE(s0 * s2 == s1 * s2 * 3);
  EXPECT_TRUE(s0 / 3 == s1);
  EXPECT_FALSE(s2 == s0);
  EXPECT_TRUE(s2 > 1);
  EXPECT_TRUE(s1 <= s2);
  EXPECT_TRUE(s1 + 1 <= s2);
  EXPECT_EQ(guard_count(), 4u);
}

TEST_F(SymbolsTest, equalities_carry_on) {
  symbols.require(s1, Relation::not_less, 2);
  Dim t = symbols.add("t", 4), u = symbols.add("u", 4);
  symbols.require(t, Relation::equal, s1);
  symbols.require(u, Relation::equal, t);
  EXPECT_EQ(known_equal(u * s0, s0 * s1), Known::yes);
  EXPECT_EQ(known_less(u, 2), Known::no);
  symbols.require(u, Relation::less, 5);
  EXPECT_EQ(known_less(s1, 5), Known::yes);
  symbols.require(s1, Relation::equal, 4);
  EXPECT_EQ(known_equal(u, 4), Known::yes);
  EXPECT_EQ(guard_count(), 5u);
  symbols.require(t, Relation::equal, 4);  // known
  EXPECT_EQ(guard_count(), 5u);
  EXPECT_HAS(error_of([&] { symbols.require(s0, Relation::less, 12); }), "s0 < 12 does not hold");
}

TEST_F(SymbolsTest, layouts_ask_nothing_and_hold_for_no_elements) {
  Dims sizes{s0, s1, 4}, strides = contiguous_strides(sizes);
  EXPECT_EQ(text(strides), "[4*max(s1, 1), 4, 1]");
  EXPECT_TRUE(is_contiguous(sizes, strides));
  Dim whole = reach(sizes, strides);
  EXPECT_EQ(guard_count(), 0u);
  for (std::vector<int64_t> v : {std::vector<int64_t>{3, 5, 0}, {0, 5, 0}, {3, 0, 0}, {1, 1, 0}}) {
    Dims plain{v[0], v[1], 4}, plain_strides = contiguous_strides(plain);
    for (size_t i = 0; i < 3; i++) {
      EXPECT_EQ(evaluate(strides[i], v), plain_strides[i].value());
    }
    EXPECT_EQ(evaluate(whole, v), reach(plain, plain_strides).value());
  }
  symbols.require(s1, Relation::not_less, 1);
  symbols.require(s0, Relation::not_less, 1);
  EXPECT_EQ(known_equal(reach(sizes, strides), product(sizes)), Known::yes);
}

TEST_F(SymbolsTest, only_the_own_capture_gets_guards) {
  EXPECT_HAS(error_of([&] { (void)(s0 == s1); }), "s0 != s1 on sizes is asked outside");
  EXPECT_HAS(error_of([&] { s0 / s1; }), "s1 != 0 on sizes is asked outside");
  Symbols others;
  Dim n = others.add("n", 3);
  GuardScope scope(&others);
  EXPECT_TRUE(n == 3);
  EXPECT_HAS(error_of([&] { (void)(s0 < s1); }), "asked outside of their capture");
  EXPECT_HAS(error_of([&] { s0* n; }), "s0 and n belong to two captures");
  EXPECT_HAS(error_of([&] { (void)known_equal(s0, n); }), "belong to two captures");
  EXPECT_EQ(guard_count(), 0u);
}

TEST_F(SymbolsTest, guards_are_evaluated_again) {
  symbols.require(s0, Relation::equal, s1 * 3);
  symbols.require(s2, Relation::not_equal, 1);
  symbols.require(s1, Relation::less, s2);
  symbols.require(s2 % 7, Relation::not_less, s1 / 8);
  auto guards = symbols.guards();
  auto broken = [&](std::vector<int64_t> values) { return first_broken(guards, values); };
  EXPECT_EQ(broken({12, 4, 7}), std::nullopt);
  EXPECT_EQ(broken({0, 0, 9}), std::nullopt);
  EXPECT_EQ(broken({12, 5, 7}), 0u);
  EXPECT_EQ(broken({0, 0, 1}), 1u);
  EXPECT_EQ(broken({9, 3, 3}), 2u);
  EXPECT_EQ(broken({24, 8, 14}), 3u);
  EXPECT_HAS(error_of([&] { broken({12, 4}); }), "the symbol s2 has no value");
}

TEST(SymbolsOwnershipTest, sizes_of_a_space_that_is_gone_are_refused) {
  Dim dangling = 0;
  {
    Symbols symbols;
    dangling = symbols.add("n", 3) * 2;
    EXPECT_EQ(dangling.text(), "2*n");
    EXPECT_EQ(Symbols::of(dangling), &symbols);
  }
  EXPECT_HAS(error_of([&] { (void)dangling.text(); }), "outlived the capture");
  Symbols later;
  Dim other = later.add("n", 3) * 2;
  EXPECT_HAS(error_of([&] { dangling + other; }), "outlived the capture");
}

TEST(SymbolsOwnershipTest, threads_make_and_read_expressions_at_once) {
  Symbols symbols;
  Dim a = symbols.add("a", 5), b = symbols.add("b", 6);
  std::vector<std::vector<std::string>> texts(4);
  std::vector<std::vector<Dim>> made(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; i++) {
        made[t].push_back((a * i + b) * (a + 1) % 1000);
        texts[t].push_back(made[t].back().text());
        Symbols own;
        own.add("own", i);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (size_t t = 1; t < 4; t++) {
    EXPECT_EQ(texts[t], texts[0]);
    for (size_t i = 0; i < 300; i++) EXPECT_TRUE(same(made[t][i], made[0][i]));
  }
}

// An expression beside plain integers: its number for several values of the symbols. A set of
// values for which the plain computation divides by zero counts no more.
class RandomExpressions {
 public:
  explicit RandomExpressions(uint32_t seed) : random_(seed) {
    for (int64_t i = 0; i < 3; i++) {
      dims_.push_back(symbols_.add("s" + std::to_string(i), 2 + i));
      numbers_.push_back({2 + i});
      while (numbers_.back().size() < kSets) numbers_.back().push_back(pick(9));
      for (size_t v = 0; v < kSets; v++) values_[v].push_back(numbers_.back()[v]);
    }
    for (int64_t number : {-3, -1, 0, 1, 2, 5}) {
      dims_.push_back(number);
      numbers_.push_back(std::vector<int64_t>(kSets, number));
    }
  }

  void run() {
    GuardScope scope(&symbols_);
    for (int i = 0; i < 60; i++) step();
    compare();
    for (size_t v = 0; v < kSets; v++) {
      bool counts = !divided_by_zero_[v];
      if (counts) check_values(v);
      bool holds = !first_broken(symbols_.guards(), values_[v]);
      // A division that nothing could simplify away has a guard.
      EXPECT_TRUE(counts || !holds) << symbols_.text();
      if (holds) check_known(v);
    }
  }

 private:
  static constexpr size_t kSets = 12;
  static constexpr int64_t kLargest = int64_t{1} << 40;

  int64_t pick(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }
  size_t any() { return static_cast<size_t>(pick(static_cast<int64_t>(dims_.size()))); }
  static int64_t floor_div(int64_t a, int64_t b) {
    return static_cast<int64_t>(std::floor(static_cast<long double>(a) / b));
  }
  static int64_t plain(int64_t op, int64_t a, int64_t b) {
    switch (op) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return floor_div(a, b);
      case 4:
        return a - floor_div(a, b) * b;
      case 5:
        return std::min(a, b);
      default:
        return std::max(a, b);
    }
  }
  static Dim symbolic(int64_t op, Dim a, Dim b) {
    switch (op) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return a % b;
      case 5:
        return min(a, b);
      default:
        return max(a, b);
    }
  }
  // Values are 0 and more; sets in which a divisor is 0 are given up.
  void step() {
    size_t a = any(), b = any();
    int64_t op = pick(7);
    bool divides = op == 3 || op == 4;
    if (divides && numbers_[b][0] == 0) return;
    std::vector<int64_t> result;
    for (size_t v = 0; v < kSets; v++) {
      bool skipped = divided_by_zero_[v] || (divides && numbers_[b][v] == 0);
      result.push_back(skipped ? 0 : plain(op, numbers_[a][v], numbers_[b][v]));
      if (std::abs(result.back()) > kLargest) return;
    }
    for (size_t v = 0; v < kSets && divides; v++) divided_by_zero_[v] |= numbers_[b][v] == 0;
    Dim made = symbolic(op, dims_[a], dims_[b]);
    if (made.text().size() > 300) return;
    EXPECT_TRUE(same(made, symbolic(op, dims_[a], dims_[b])));
    dims_.push_back(made);
    numbers_.push_back(std::move(result));
  }
  void check_values(size_t v) {
    for (size_t i = 0; i < dims_.size(); i++) {
      ASSERT_EQ(evaluate(dims_[i], values_[v]), numbers_[i][v]) << dims_[i].text();
      ASSERT_TRUE(v != 0 || dims_[i].hint() == numbers_[i][0]) << dims_[i].text();
    }
  }
  void compare() {
    for (int i = 0; i < 4; i++) {
      size_t a = any(), b = any();
      bool equal = pick(2);
      ASSERT_EQ(equal ? dims_[a] == dims_[b] : dims_[a] < dims_[b],
                equal ? numbers_[a][0] == numbers_[b][0] : numbers_[a][0] < numbers_[b][0]);
    }
  }
  void check_known(size_t v) {
    for (int i = 0; i < 40; i++) {
      size_t a = any(), b = any();
      Known equal = known_equal(dims_[a], dims_[b]), less = known_less(dims_[a], dims_[b]);
      std::string what = dims_[a].text() + " and " + dims_[b].text() + ", " + symbols_.text();
      if (equal != Known::unknown) {
        EXPECT_EQ(equal == Known::yes, numbers_[a][v] == numbers_[b][v]) << what;
      }
      if (less != Known::unknown) {
        EXPECT_EQ(less == Known::yes, numbers_[a][v] < numbers_[b][v]) << what;
      }
    }
  }

  std::mt19937 random_;
  Symbols symbols_;
  std::vector<Dim> dims_;
  std::vector<std::vector<int64_t>> numbers_;  // per expression and set of values
  std::vector<int64_t> values_[kSets];
  bool divided_by_zero_[kSets]{};
};

TEST(SymbolsRandomTest, random_expressions_are_what_plain_integers_say) {
  for (uint32_t seed = 0; seed < 150; seed++) {
    SCOPED_TRACE(seed);
    RandomExpressions(seed).run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace fg
