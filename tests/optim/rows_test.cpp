// Steps over rows of many parameters have the bits of the formula on each parameter.
#include "optim/rows.h"

#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "optim/eager.h"

namespace fg {
namespace {

using optim::Formula;
using optim::Subject;

std::vector<OptimizerSettings> all_settings() {
  return {SGD{.lr = 0.1},
          SGD{.momentum = 0.9, .weight_decay = 0.1, .nesterov = true, .maximize = true},
          Adam{.weight_decay = 0.1},
          Adam{.amsgrad = true},
          AdamW{},
          Adadelta{.weight_decay = 0.1},
          Adagrad{.maximize = true},
          Adamax{},
          ASGD{},
          ASGD{.t0 = 0},
          NAdam{.weight_decay = 0.1},
          RAdam{.betas = {0.5, 0.9}},
          RMSprop{.momentum = 0.9, .centered = true},
          Rprop{.lr = 0.1}};
}

Tensor values(const Dims& sizes, DType dtype, double scale) {
  return sin(linspace(-3, 5, product(sizes).value()) * scale).reshape(sizes).to(dtype);
}

std::vector<Subject> subjects(const OptimizerSettings& settings, DType dtype) {
  std::vector<Subject> result;
  for (const Dims& sizes : {Dims{}, Dims{3}, Dims{17, 31}, Dims{0}, Dims{300, 200}}) {
    Subject subject{values(sizes, dtype, 1).requires_grad_(), values(sizes, dtype, 7), {}};
    double scale = 0.5;
    for (const auto& first : optim::first_state(settings, sizes)) {
      // The first one is a mean of squares, above the square of a mean.
      Tensor made = first.made(subject.parameter) + values(sizes, dtype, scale).abs();
      subject.state.push_back(subject.state.empty() ? made + 2 : made);
      scale += 1;
    }
    result.push_back(std::move(subject));
  }
  return result;
}

Formula formula_at(const OptimizerSettings& settings, int64_t step) {
  optim::Memory memory = optim::description_of(settings).remember(settings);
  optim::Numbers numbers;
  for (int64_t i = 1; i <= step; i++) numbers = optim::numbers(settings, i, memory);
  return optim::formula_of(optim::formula_name(settings), numbers);
}

void expect_bits(const OptimizerSettings& settings, DType dtype) {
  Formula formula = formula_at(settings, 9);
  std::vector<Subject> together = subjects(settings, dtype), alone = subjects(settings, dtype);
  ASSERT_TRUE(optim::RowProgram::record(formula, dtype, together[0].state.size()))
      << formula.of.name;
  optim::update_all(formula, together);
  for (size_t i = 0; i < alone.size(); i++) {
    NoGradGuard no_grad;
    Tensor parameter = alone[i].parameter;
    Tensors state = alone[i].state;
    formula.update(parameter, state, alone[i].gradient);
    EXPECT_TRUE(equal(together[i].parameter, parameter)) << formula.of.name << " " << i;
    for (size_t k = 0; k < state.size(); k++) {
      EXPECT_TRUE(equal(together[i].state[k], state[k])) << formula.of.name << " state " << k;
    }
  }
}

TEST(Rows, HaveTheBitsOfTheFormula) {
  for (const OptimizerSettings& settings : all_settings()) {
    for (DType dtype : {kFloat32, kFloat64, kBFloat16, kFloat16}) expect_bits(settings, dtype);
  }
}

TEST(Rows, AreThereForEveryFormulaOfElements) {
  std::set<std::string> seen;
  for (const OptimizerSettings& settings : all_settings()) seen.insert(optim::name(settings));
  for (const optim::Description& of : optim::descriptions()) {
    EXPECT_EQ(seen.contains(of.name), of.by_elements) << of.name;
  }
}

TEST(Rows, LayoutsThatAreNoRowsAreUpdatedOneByOne) {
  Formula formula = formula_at(AdamW{}, 1);
  auto made = [] {
    Tensor p = values({4, 6}, kFloat32, 1), g = values({4, 6}, kFloat32, 3);
    Subject dense{p.t(), g.t(), {zeros({4, 6}).t(), zeros({4, 6}).t()}};
    Subject mixed{p.clone().t(), g.t().contiguous(), {zeros({6, 4}), zeros({6, 4})}};
    Tensor wide = values({4, 12}, kFloat32, 1);
    Subject strided{wide.narrow(1, 0, 6), g, {zeros({4, 6}), zeros({4, 6})}};
    return std::vector<Subject>{dense, mixed, strided};
  };
  std::vector<Subject> together = made(), alone = made();
  optim::update_all(formula, together);
  for (size_t i = 0; i < alone.size(); i++) {
    Tensor parameter = alone[i].parameter;
    Tensors state = alone[i].state;
    formula.update(parameter, state, alone[i].gradient);
    EXPECT_TRUE(equal(together[i].parameter, parameter)) << i;
    EXPECT_TRUE(equal(together[i].state[1], state[1])) << i;
  }
}

TEST(Rows, AParameterThatIsGivenTwiceIsUpdatedTwice) {
  Tensor p = ones({3});
  Subject subject{p, ones({3}), {}};
  Subject twice[] = {subject, subject};
  optim::update_all(formula_at(SGD{.lr = 0.25}, 1), twice);
  EXPECT_TRUE(equal(p, full({3}, 0.5)));
}

TEST(Rows, WritesCountAsVersions) {
  Tensor p = ones({3}).requires_grad_();
  Tensor seen = p * p;
  Subject one[] = {{p, ones({3}), {}}};
  optim::update_all(formula_at(SGD{}, 1), one);
  EXPECT_ANY_THROW(seen.sum().backward());
}

// A formula that does more than elementwise operations has no rows.
TEST(Rows, OtherFormulasAreNotRecorded) {
  Formula adafactor = formula_at(Adafactor{}, 1);
  EXPECT_FALSE(optim::RowProgram::record(adafactor, kFloat32, 1));
}

}  // namespace
}  // namespace fg
