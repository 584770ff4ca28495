// Views and in-place changes.
#include "ops/elementwise/compare.h"
#include "tests/autograd/graph_checks.h"

namespace fg {

TEST(Inplace, IsRefusedOnLeaves) {
  Tensor x = leaf({1., 2.});
  EXPECT_HAS(error_of([&] { x.add_(1); }), "a leaf variable that requires grad");
  EXPECT_HAS(error_of([&] { fg::select(x, 0, 0).add_(1); }), "a view of a leaf variable");
  NoGradGuard no_grad;
  x.add_(1);
  EXPECT_EQ(numbers(x), (Numbers{2, 3}));
}

TEST(Inplace, OnAViewReachesTheBase) {
  Tensor x = leaf({1., 2., 3.});
  Tensor base = x * 1;
  Tensor part = fg::slice(base, 0, 1, 3);
  part.mul_(10);
  EXPECT_EQ(base.grad_fn()->name(), "CopySlices");
  EXPECT_EQ(part.grad_fn()->name(), "AsStridedBackward0");
  (base * base).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{2, 400, 600}));
}

TEST(Inplace, OnAViewIsSeenThroughTheView) {
  Tensor x = leaf({1., 2., 3.});
  Tensor base = x * 1;
  Tensor part = fg::slice(base, 0, 1, 3), alike = fg::slice(base, 0, 1, 2);
  part.mul_(10);
  EXPECT_EQ(part.grad_fn()->next_edge(0).node->name(), "CopySlices");
  Tensor both = part.sum() + alike.sum();
  EXPECT_EQ(numbers(autograd::grad({both}, {x})[0]), (Numbers{0, 20, 10}));
}

TEST(Inplace, OnTheBaseRenewsItsViews) {
  Tensor x = leaf({1., 2., 3.});
  Tensor base = x * 1;
  Tensor part = fg::slice(base, 0, 0, 2);
  base.mul_(5);
  EXPECT_EQ(numbers(part), (Numbers{5, 10}));
  part.sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{5, 5, 0}));
}

TEST(Inplace, WithAGradientIntoATensorWithout) {
  Tensor x = leaf({1., 2.});
  Tensor zeros = tensor({0., 0., 0.}, kFloat64);
  fg::slice(zeros, 0, 1, 3).copy_(x * 2);
  EXPECT_TRUE(zeros.requires_grad());
  (zeros * tensor({1., 10., 100.}, kFloat64)).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{20, 200}));
}

TEST(Inplace, ChainsOfWritesKeepTheirOrder) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  fg::select(base, 0, 0).mul_(2);
  fg::select(base, 0, 0).mul_(x.sum());
  base.mul_(3);
  base.sum().backward();
  // base = [2 x0 (x0 + x1) 3, 3 x1]
  EXPECT_EQ(numbers(x.grad()), (Numbers{6 * (2 * 1 + 2), 6 * 1 + 3}));
}

TEST(Inplace, DifferentiatesTwiceThroughViews) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * x;
  fg::select(base, 0, 0).mul_(fg::select(x, 0, 1));  // x0^2 x1, x1^2
  Tensor first = autograd::grad({base.sum()}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(first), (Numbers{2 * 1 * 2, 1 + 2 * 2}));
  Tensor second = autograd::grad({first.sum()}, {x})[0];
  EXPECT_EQ(numbers(second), (Numbers{2 * 2 + 2 * 1, 2 * 1 + 2}));
}

TEST(Inplace, OnANoGradViewIsRefused) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  Tensor part;
  {
    NoGradGuard no_grad;
    part = fg::select(base, 0, 0);
  }
  EXPECT_TRUE(part.requires_grad());
  EXPECT_FALSE(part.grad_fn());
  EXPECT_HAS(error_of([&] { part.mul_(fg::select(x, 0, 0)); }), "no_grad mode");
  EXPECT_HAS(error_of([&] { part.mul_(2); }), "no_grad mode");
  EXPECT_EQ(numbers(base), (Numbers{1, 2})) << "refused before anything was written";
  NoGradGuard no_grad;
  part.mul_(2);
  EXPECT_EQ(numbers(base), (Numbers{2, 2}));
}

TEST(Inplace, OnANoGradViewOfPlainDataIsRefusedOnlyWithAGradient) {
  Tensor x = leaf({1., 2.}), base = tensor({1., 2.}, kFloat64), part;
  {
    NoGradGuard no_grad;
    part = fg::select(base, 0, 0);
  }
  part.mul_(3);
  EXPECT_HAS(error_of([&] { part.mul_(fg::select(x, 0, 1)); }), "no_grad mode");
  EXPECT_EQ(numbers(base), (Numbers{3, 2}));
}

TEST(Inplace, OnAViewMadeInInferenceModeIsRefused) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  Tensor part;
  {
    InferenceMode inference;
    part = fg::select(base, 0, 0);
  }
  EXPECT_HAS(error_of([&] { part.mul_(2); }), "inference mode");
  EXPECT_EQ(numbers(base), (Numbers{1, 2}));
}

TEST(Inplace, OnOneOfSeveralViewsIsRefused) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  Tensors parts = fg::unbind(base);
  EXPECT_HAS(error_of([&] { parts[0].mul_(2); }), "several views");
  EXPECT_EQ(numbers(base), (Numbers{1, 2}));
}

TEST(Inplace, ChangesTheVersionOfAllViews) {
  Tensor x = tensor({1., 2., 3.});
  Tensor part = fg::slice(x, 0, 0, 2), data = x.data();
  part.add_(1);
  EXPECT_EQ(x._version(), 1u);
  EXPECT_EQ(part._version(), 1u);
  EXPECT_EQ(data._version(), 0u);
  EXPECT_EQ(numbers(data), (Numbers{2, 3, 3}));
  EXPECT_EQ(x.detach()._version(), 1u);
}

TEST(Inplace, ErrorsChangeNothing) {
  Tensor x = tensor({1, 2, 3});
  EXPECT_HAS(error_of([&] { x.mul_(1.5); }), "can't be cast to the int64");
  EXPECT_HAS(error_of([&] { x.add_(tensor({{1, 2, 3}, {4, 5, 6}})); }), "cannot change the shape");
  EXPECT_EQ(numbers(x), (Numbers{1, 2, 3}));
  EXPECT_EQ(x._version(), 0u);
  Tensor wide = fg::expand(tensor({1.}), {3});
  EXPECT_HAS(error_of([&] { wide.add_(1); }), "single memory location");
}

TEST(View, KnowsItsBase) {
  Tensor x = tensor({{1., 2.}, {3., 4.}});
  Tensor row = fg::select(x, 0, 0), element = fg::select(row, 0, 1);
  EXPECT_TRUE(row.is_view());
  EXPECT_TRUE(element._base().is_same(x));
  EXPECT_FALSE(x.is_view());
}

TEST(Detach, CutsHistoryAndSharesMemory) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 2;
  Tensor cut = y.detach();
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_EQ(cut.data_ptr(), y.data_ptr());
  EXPECT_FALSE(cut.is_view());
  y.add_(1);
  EXPECT_FALSE(cut.requires_grad()) << "writes to the original give no history";
  cut.mul_(2);
  EXPECT_FALSE(cut.requires_grad());
  EXPECT_EQ(y.grad_fn()->name(), "AddBackward0");
  y.detach_();
  EXPECT_TRUE(y.is_leaf());
  EXPECT_HAS(error_of([&] { fg::select(x * 1, 0, 0).detach_(); }), "a view cannot be detached");
}

TEST(RequiresGrad, IsForFloatingLeaves) {
  EXPECT_HAS(error_of([] { tensor({1, 2}).requires_grad_(); }), "only floating point tensors");
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  EXPECT_HAS(error_of([&] { y.requires_grad_(false); }), "only change requires_grad of leaf");
  y.requires_grad_();  // it does already
  EXPECT_FALSE(y.is_leaf());
}

TEST(Inplace, SavesItsInputsBeforeTheWrite) {
  Tensor x = leaf({2., 3.});
  Tensor base = x * 1;
  base.mul_(base.detach());  // the factor's memory is what is written
  EXPECT_HAS(error_of([&] { base.sum().backward(); }), "modified by an inplace operation");
}

TEST(Inplace, ReadsNoMemoryThatItWrites) {
  Tensor x = tensor({1., 2., 3., 4.});
  EXPECT_HAS(error_of([&] { fg::slice(x, 0, 0, 3).copy_(fg::slice(x, 0, 1, 4)); }),
             "refer to a single memory location");
  fg::slice(x, 0, 0, 2).add_(fg::slice(x, 0, 2, 4));
  fg::slice(x, 0, 0, 2).add_(fg::slice(x, 0, 0, 2));  // the very same elements
  EXPECT_EQ(numbers(x), (Numbers{8, 12, 3, 4}));
}

TEST(Inplace, RowsMayBeSwapped) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  Tensor first = base.select(0, 0).clone();
  base.select(0, 0).copy_(base.select(0, 1));
  base.select(0, 1).copy_(first);
  (base * tensor({10., 100.}, kFloat64)).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{100, 10}));
}

TEST(Inplace, OnAViewThatIsALeafIsRefused) {
  Tensor part = fg::slice(tensor({1., 2.}), 0, 0, 1);
  part.requires_grad_();
  EXPECT_HAS(error_of([&] { part.mul_(2); }), "a leaf variable that requires grad");
}

TEST(View, OfANoGradModeIsLostWhenItsBaseIsWritten) {
  Tensor base = leaf({1., 2.}) * 1, part;
  {
    NoGradGuard no_grad;
    part = fg::select(base, 0, 0);
  }
  base.add_(1);
  EXPECT_HAS(error_of([&] { part.grad_fn(); }), "made in no_grad mode");
  Tensors parts = fg::unbind(base);
  base.mul_(2);
  EXPECT_HAS(error_of([&] { parts[0] * 1; }), "several views");
}

TEST(View, MadeInsideAFunctionIsNoView) {
  Tensor y = fg::logsumexp(leaf({1., 2.}).view({1, 2}), 1);
  EXPECT_FALSE(y.is_view());
  y.exp_();
  EXPECT_EQ(y.grad_fn()->name(), "ExpBackward0");
}

TEST(Inplace, ThroughAViewIsDifferentiatedTwiceInOneGraph) {
  for (bool keep : {false, true}) {
    Tensor x = leaf({0.5, 1.});
    Tensor y = x * 2;
    Tensor part = y.view({2, 1});
    part.tanh_();
    if (!keep) part.reset();
    Tensor g = autograd::grad({y.sum()}, {x}, {}, {.create_graph = true})[0];
    (y.sum() + g.sum()).backward();
    // y = tanh(2x), y' = 2 (1 - y^2), y'' = -8 y (1 - y^2)
    Tensor slope = 1 - y.detach() * y.detach();
    EXPECT_TRUE(allclose(g.detach(), 2 * slope));
    EXPECT_TRUE(allclose(x.grad(), 2 * slope - 8 * y.detach() * slope));
  }
}

TEST(View, PrintsWhenItsHistoryCannotBeComputed) {
  Tensor base = leaf({1., 2.}) * 1, part;
  {
    NoGradGuard no_grad;
    part = fg::select(base, 0, 0);
  }
  base.add_(1);
  EXPECT_EQ(part.text(), "tensor(2., dtype=foregrad.float64, grad_fn=<Invalid>)");
}

Tensor inference_leaf() {
  InferenceMode mode;
  Tensor i = tensor({1., 2.}, kFloat64);
  i.requires_grad_();
  return i;
}

TEST(InferenceTensor, IsRecordedBesideNormalTensorsOnly) {
  Tensor i = inference_leaf(), x = leaf({1., 2.});
  EXPECT_FALSE((i * i).requires_grad());
  EXPECT_FALSE(i.view({2, 1}).requires_grad());
  EXPECT_FALSE(i.view({2, 1}).is_view());
  EXPECT_TRUE((i + x).requires_grad());
  EXPECT_TRUE(i.clone().requires_grad());
  EXPECT_EQ(numbers(autograd::grad({(i + x).sum()}, {i})[0]), (Numbers{1, 1}));
  EXPECT_HAS(error_of([&] { i.mul(x); }), "inference tensors cannot be saved for backward");
  EXPECT_HAS(error_of([&] { i.view({2, 1}).mul_(2); }), "outside inference mode");
  EXPECT_HAS(error_of([&] { i.mul_(x); }), "outside inference mode");
}

TEST(NewData, KeepsTheVersionOfItsViews) {
  Tensor w = tensor({1., 2.}, kFloat64), part = fg::select(w, 0, 0);
  Tensor y = leaf({1., 2.}) * w;
  w.set_data(tensor({3., 4.}, kFloat64));
  w.add_(1);
  EXPECT_EQ(part._version(), 1u);
  part.add_(1);
  EXPECT_EQ(w._version(), 2u);
  EXPECT_EQ(numbers(w), (Numbers{4, 5}));
  EXPECT_HAS(error_of([&] { y.sum().backward(); }), "is at version 2; expected version 0");
}

}  // namespace fg
