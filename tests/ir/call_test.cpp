// The choke point: interpreters see every call, whole or inside, and recording stays above them.
#include "ir/call.h"

#include <gtest/gtest.h>

#include "foregrad.h"
#include "ir/registry.h"

namespace fg::ir {
namespace {

std::string name_of(const Call& call) {
  if (call.primitive) return call.primitive->name;
  return call.function ? std::string(call.function->schema.name) + "()" : "custom()";
}

// Writes down what it sees and lets everything run.
class Watching : public Interpreter {
 public:
  explicit Watching(std::vector<std::string>& seen, std::string prefix = "")
      : seen_(seen), prefix_(std::move(prefix)) {}
  void call(Call& call) override {
    seen_.push_back(prefix_ + name_of(call));
    if (!call.primitive) return call.run();
    PastInterpreter past(*this);
    bind(*call.primitive, call.inputs, call.params, call.outputs.data());
  }
  bool write(const Tensor&, const Tensor&) override {
    seen_.push_back(prefix_ + "write");
    return false;
  }

 private:
  std::vector<std::string>& seen_;
  std::string prefix_;
};

using Names = std::vector<std::string>;

TEST(Call, an_interpreter_sees_functions_with_a_gradient_and_what_is_inside) {
  Tensor x = ones({2, 3}).requires_grad_();
  Names seen;
  Watching watching(seen);
  Tensor y;
  {
    Interpreting interpreting(watching);
    y = softmax(x, 1);
  }
  EXPECT_EQ(seen, (Names{"softmax()", "softmax"}));
  ASSERT_TRUE(y.grad_fn());
  EXPECT_EQ(y.grad_fn()->name(), "SoftmaxBackward0");
  EXPECT_EQ(modes.interpreter, nullptr);
}

TEST(Call, an_interpreter_sees_writes_and_primitives_of_functions_without_a_gradient) {
  Tensor x = ones({2, 3}), y = ones({3});
  Names seen;
  Watching watching(seen);
  {
    Interpreting interpreting(watching);
    x.add_(y);
    linear(x, ones({4, 3}));
  }
  auto count = [&](const char* name) { return std::count(seen.begin(), seen.end(), name); };
  EXPECT_EQ(count("add()"), 1);  // the in-place form
  EXPECT_EQ(count("write"), 1);
  EXPECT_EQ(count("linear()"), 0);
  EXPECT_EQ(count("mm"), 1);
  EXPECT_TRUE(equal(x, full({2, 3}, 2)));
}

TEST(Call, interpreters_are_a_stack_and_each_knows_its_outer_one) {
  Names seen;
  Watching outer(seen, "outer "), inner(seen, "inner ");
  Interpreting first(outer);
  {
    Interpreting second(inner);
    EXPECT_EQ(inner.outer(), &outer);
    EXPECT_EQ(outer.outer(), nullptr);
    exp(ones({2}));
  }
  Names calls;
  for (const std::string& one : seen) {
    if (one.ends_with("exp")) calls.push_back(one);
  }
  EXPECT_EQ(calls, (Names{"inner exp", "outer exp"}));
  EXPECT_EQ(modes.interpreter, &outer);
}

TEST(Call, an_interpreter_below_another_one_is_not_entered_again) {
  Names seen;
  Watching outer(seen), inner(seen);
  Interpreting first(outer);
  Interpreting again(outer);  // it is the innermost one: nothing changes
  Interpreting second(inner);
  EXPECT_THROW(Interpreting third(outer), Error);
  EXPECT_EQ(modes.interpreter, &inner);
  EXPECT_EQ(inner.outer(), &outer);
  EXPECT_EQ(outer.outer(), nullptr);
}

// Answers calls of one function itself.
class Taking : public Interpreter {
 public:
  void call(Call& call) override {
    if (!call.function || call.function->schema.name != "softmax") return call.run();
    PastInterpreter past(*this);
    call.outputs = call.body->take({full({2}, 7.0)});
  }
  bool write(const Tensor&, const Tensor&) override { return false; }
};

TEST(Call, an_interpreter_may_take_a_call_whole_and_it_is_recorded_all_the_same) {
  Tensor x = ones({2}).requires_grad_();
  Taking taking;
  Interpreting interpreting(taking);
  Tensor y = softmax(x, 0);
  EXPECT_TRUE(equal(y.detach(), full({2}, 7.0)));
  ASSERT_TRUE(y.grad_fn());
  EXPECT_EQ(y.grad_fn()->name(), "SoftmaxBackward0");
}

struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) {
    return {grads[0] * 2};
  }
};

TEST(Call, custom_functions_pass_the_same_place) {
  Tensor x = ones({2}).requires_grad_();
  Names seen;
  Watching watching(seen);
  Tensor y;
  {
    Interpreting interpreting(watching);
    y = Twice::apply(x);
  }
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen[0], "custom()");
  EXPECT_NE(std::find(seen.begin(), seen.end(), "mul"), seen.end());
  EXPECT_EQ(y.grad_fn()->name(), "TwiceBackward");
  y.sum().backward();
  EXPECT_TRUE(equal(x.grad(), full({2}, 2)));
}

TEST(Call, capturing_is_a_question_of_its_own) {
  Names seen;
  Watching watching(seen);
  Interpreting interpreting(watching);
  EXPECT_FALSE(is_capturing());
}

}  // namespace
}  // namespace fg::ir
