// Gradients as libtorch programs ask for them: hooks without a result, default arguments of custom
// functions, saved data by name, lists of inputs, inference tensors.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "tests/autograd/graph_checks.h"
#include "tests/error_of.h"

namespace fg {
namespace {

using autograd::AutogradContext;
using autograd::SavedData;

struct Scale : autograd::Function<Scale> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double factor = 3) {
    ctx->saved_data["factor"] = factor;
    return x * factor;
  }
  static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
    return {grads[0] * ctx->saved_data["factor"].toDouble(), Tensor()};
  }
};

struct TooMany : autograd::Function<TooMany> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
  static Tensors backward(AutogradContext*, const Tensors& grads) { return {grads[0], grads[0]}; }
};

TEST(GradientSpelling, ACallMayLeaveOutDefaultArgumentsOfForward) {
  Tensor x = ones({2}).requires_grad_();
  Scale::apply(x).sum().backward();
  Scale::apply(x, 4.0).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{7, 7}));
  EXPECT_HAS(error_of([&] { TooMany::apply(x).sum().backward(); }), "returned 2 gradients");
}

TEST(GradientSpelling, SavedDataIsReadByLibtorchsNames) {
  SavedData number = 2.5, count = 3, text = "name", flag = false, tensor = ones({1}), none;
  EXPECT_EQ(number.toDouble(), 2.5);
  EXPECT_EQ(count.toInt(), 3);
  EXPECT_EQ(text.toStringRef(), "name");
  EXPECT_FALSE(flag.toBool());
  EXPECT_TRUE(equal(tensor.toTensor(), ones({1})));
  EXPECT_EQ(SavedData(std::vector<int64_t>{1, 2}).toIntVector()[1], 2);
  EXPECT_EQ(std::any_cast<double>(number), 2.5);
  SavedData copy = number;
  EXPECT_EQ(copy.toDouble(), 2.5);
  EXPECT_HAS(error_of([&] { (void)count.toDouble(); }), "saved_data: asked for a floating number");
  EXPECT_HAS(error_of([&] { (void)flag.toInt(); }), "saved_data: asked for an integer");
  EXPECT_HAS(error_of([&] { (void)none.toInt(); }), "nothing was kept under this name");
}

TEST(GradientSpelling, HooksMayHaveNoResult) {
  Tensor x = ones({2}).requires_grad_(), seen;
  int pre = 0, post = 0;
  x.register_hook([&](const Tensor& grad) { seen = grad; });
  x.register_hook([](Tensor grad) { return grad * 2; });
  Tensor y = x * 3;
  y.grad_fn()->register_prehook([&](const Tensors&) { pre++; });
  y.grad_fn()->register_hook([&](const Tensors&, const Tensors&) { post++; });
  y.sum().backward();
  EXPECT_EQ(numbers(seen), (Numbers{3, 3}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{6, 6}));
  EXPECT_EQ(pre + post, 2);
}

TEST(GradientSpelling, AnEmptyListOfInputsIsRefused) {
  Tensor x = ones({2}).requires_grad_(), w = ones({2}).requires_grad_();
  Tensor y = (x * w).sum();
  EXPECT_HAS(error_of([&] { y.backward({}, true, false, Tensors{}); }), "`inputs` is empty");
  y.backward({}, true, false, {w});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(w.grad().defined());
  y.backward({}, true, false, std::nullopt);
  EXPECT_TRUE(x.grad().defined());
}

TEST(GradientSpelling, CallsOnInferenceTensorsAloneAreNotRecorded) {
  Tensor normal = ones({2, 2}).requires_grad_(), inference;
  {
    InferenceMode mode;
    inference = ones({2, 2}).requires_grad_();
  }
  EXPECT_TRUE(inference.requires_grad());
  EXPECT_FALSE((inference * inference).requires_grad());
  EXPECT_FALSE((inference * inference).is_inference());
  EXPECT_FALSE(inference.exp().requires_grad());
  EXPECT_FALSE(inference.view({4}).requires_grad());
  EXPECT_FALSE(inference[0].requires_grad());
  EXPECT_TRUE(inference.view({4}).is_inference());
  EXPECT_TRUE((inference + normal).requires_grad());
  EXPECT_NE(error_of([&] { (void)(inference * normal); }), "no error");
}

}  // namespace
}  // namespace fg
