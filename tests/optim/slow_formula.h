// Formulas of optimisers for one number, written from their definitions, and the comparison of
// eager and compiled steps with them.
#pragma once

#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <functional>

namespace fg {

inline constexpr int kSteps = 9;

// A slow optimiser of one number: gradient and count of steps in, the parameter is changed.
using Slow = std::function<void(double& p, double gradient, int step)>;

// Steps on the sum of w^2, eager and compiled, in double.
inline void expect_formula(const OptimizerSettings& settings, const std::function<Slow()>& make) {
  std::vector<double> start = {1, -2, 0.25};
  Tensor w = tensor(start, kFloat64).requires_grad_(), v = w.detach().clone().requires_grad_();
  auto step =
      compile_step([&] { return (v * v).sum(); }, Tensors{v}, settings, {.fullgraph = true});
  compiler::StepState eager({{{w}, settings}});
  std::vector<Slow> slow;
  for (size_t i = 0; i < start.size(); i++) slow.push_back(make());
  for (int t = 1; t <= kSteps; t++) {
    compiler::Rules rules = eager.next_rules();
    eager.advance(compiler::apply_rules(rules, {(w * 2).detach()}, {}).updated);
    step();
    EXPECT_TRUE(equal(w, v)) << optim::name(settings) << " at step " << t;
    for (size_t i = 0; i < start.size(); i++) {
      slow[i](start[i], 2 * start[i], t);
      EXPECT_NEAR(w.to_vector<double>()[i], start[i], 1e-12) << optim::name(settings);
    }
  }
}

}  // namespace fg
