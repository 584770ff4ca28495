// backward() and grad(): inputs, errors, accumulation, introspection.
#include "autograd/engine.h"

#include <thread>

#include "tests/autograd/graph_checks.h"

namespace fg {

using autograd::backward;
using autograd::grad;

TEST(Backward, AccumulatesIntoLeaves) {
  Tensor x = leaf({1., 2.});
  (x * x).sum().backward();
  (x * 3).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{5, 7}));
}

TEST(Backward, ReachesOnlyTheGivenInputs) {
  Tensor x = leaf({1., 2.}), y = leaf({3., 4.});
  Tensor product = x * y;
  product.sum().backward({}, {}, false, {x});
  EXPECT_EQ(numbers(x.grad()), (Numbers{3, 4}));
  EXPECT_FALSE(y.grad().defined());
}

TEST(Backward, AccumulatesIntoNonLeafInputs) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 2;
  (y * y).sum().backward({}, {}, false, {y});
  EXPECT_EQ(numbers(y.grad()), (Numbers{4, 8}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, EmptyInputsAreAnError) {
  Tensor x = leaf({1.});
  std::string error = error_of([&] { backward({x * 2}, {}, {}, false, autograd::GraphPoints{}); });
  EXPECT_HAS(error, "`inputs` is empty");
}

TEST(Grad, ReturnsGradientsAndLeavesGradAlone) {
  Tensor x = leaf({1., 2.}), y = leaf({3., 4.});
  Tensors got = grad({(x * y).sum()}, {x, y});
  EXPECT_EQ(numbers(got[0]), (Numbers{3, 4}));
  EXPECT_EQ(numbers(got[1]), (Numbers{1, 2}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, NamesTheUnusedInput) {
  Tensor x = leaf({1.}), y = leaf({1.});
  EXPECT_HAS(error_of([&] { grad({x * 2}, {x, y}); }), "index 1");
  Tensors got = grad({x * 2}, {x, y}, {}, {.allow_unused = true});
  EXPECT_FALSE(got[1].defined());
  got = grad({x * 2}, {x, y}, {}, {.materialize_grads = true});
  EXPECT_EQ(numbers(got[1]), (Numbers{0}));
}

TEST(Grad, TakesABatchOfGradients) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * x;
  Tensor batch = tensor({{1., 0.}, {0., 1.}}, kFloat64);
  Tensors got = grad({y}, {x}, {batch}, {.is_grads_batched = true});
  EXPECT_EQ(numbers(got[0]), (Numbers{2, 0, 0, 4}));
}

TEST(Backward, NeedsAGradientForSeveralElements) {
  Tensor x = leaf({1., 2.});
  EXPECT_HAS(error_of([&] { (x * 2).backward(); }), "only for scalar outputs");
  std::string error = error_of([&] { (x * 2).backward(tensor({1., 2., 3.}, kFloat64)); });
  EXPECT_HAS(error, "grad_output[0] has sizes [3] and output[0] has sizes [2]");
  EXPECT_FALSE(x.grad().defined());
}

TEST(Backward, RefusesWhatHasNoHistory) {
  Tensor x = tensor({1., 2.});
  EXPECT_HAS(error_of([&] { x.sum().backward(); }), "does not require grad");
}

TEST(Backward, RefusesAViewThatWasMadeInNoGradMode) {
  Tensor x = leaf({1., 2.}), view;
  {
    NoGradGuard no_grad;
    view = x.view({2, 1});
  }
  ASSERT_TRUE(view.requires_grad());
  EXPECT_HAS(error_of([&] { autograd::grad({view}, {x}, {view.detach()}); }),
             "does not require grad and does not have a grad_fn");
}

TEST(Grad, RunsOnlyNodesOnAPathToTheInputs) {
  Tensor x = leaf({1.}), y = leaf({2.});
  Tensor a = x * 2, b = y * 3;
  int ran = 0;
  b.grad_fn()->register_hook([&](const Tensors&, const Tensors&) { return ran++, Tensors{}; });
  grad({a + b}, {x});
  EXPECT_EQ(ran, 0);
}

TEST(Backward, FreesTheGraphUnlessRetained) {
  Tensor x = leaf({1., 2.});
  Tensor loss = (x * x).sum();
  loss.backward({}, true);
  loss.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{4, 8}));
  EXPECT_HAS(error_of([&] { loss.backward(); }), "backward through the graph a second time");
}

TEST(Backward, NodesThatSavedNothingRunAgain) {
  Tensor x = leaf({1., 2.});
  Tensor loss = (x + x).sum();
  loss.backward();
  loss.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{4, 4}));
}

TEST(Grad, DifferentiatesAgain) {
  Tensor x = leaf({3.});
  Tensor first = grad({x * x * x}, {x}, {}, {.create_graph = true})[0];
  Tensor second = grad({first}, {x}, {}, {.create_graph = true})[0];
  Tensor third = grad({second}, {x})[0];
  EXPECT_EQ(numbers(first), (Numbers{27}));
  EXPECT_EQ(numbers(second), (Numbers{18}));
  EXPECT_EQ(numbers(third), (Numbers{6}));
}

TEST(Accumulation, TakesTheLayoutOfTheLeaf) {
  Tensor x = transpose(tensor({{1., 2.}, {3., 4.}}), 0, 1).clone().requires_grad_();
  ASSERT_FALSE(x.is_contiguous());
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().strides(), x.strides());
}

TEST(Accumulation, TakesAGradientThatNobodyElseHolds) {
  Tensor x = leaf({1., 2.});
  const void* made = nullptr;
  x.register_hook([&](const Tensor& gradient) { return made = gradient.data_ptr(), Tensor(); });
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().data_ptr(), made);
}

TEST(Accumulation, DoesNotChangeAGradientThatSomebodyHolds) {
  Tensor x = leaf({1., 2.});
  Tensor given = tensor({1., 1.}, kFloat64);
  (x + 0).backward(given);
  (x + 0).backward(given);
  EXPECT_EQ(numbers(given), (Numbers{1, 1}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{2, 2}));
}

TEST(Accumulation, IsOutOfPlaceAndWarnsWhileAGraphIsMade) {
  Tensor x = leaf({2.});
  testing::internal::CaptureStderr();
  (x * x).backward({}, true, true);
  EXPECT_HAS(testing::internal::GetCapturedStderr(), "makes a reference cycle");
  Tensor first = x.grad();
  (x * x).backward({}, true, true);
  EXPECT_EQ(numbers(first), (Numbers{4}));
  EXPECT_TRUE(x.grad().requires_grad());
  x.set_grad({});  // breaks the cycle
}

TEST(Introspection, KnowsTheRunningBackward) {
  Tensor x = leaf({1.});
  Tensor y = x * x;
  Ref<autograd::Node> node = y.grad_fn();
  EXPECT_EQ(autograd::current_graph_task_id(), -1);
  int64_t id = -1;
  bool keep = false, executes = false;
  std::string running;
  x.register_hook([&](const Tensor&) {
    id = autograd::current_graph_task_id();
    keep = autograd::current_graph_task_keep_graph();
    executes = autograd::will_engine_execute_node(node);
    running = autograd::current_graph_task_node()->name();
    return Tensor();
  });
  y.backward({}, true);
  EXPECT_GE(id, 0);
  EXPECT_TRUE(keep);
  EXPECT_TRUE(executes);
  EXPECT_EQ(running, "AccumulateGrad");
  EXPECT_HAS(error_of([] { autograd::current_graph_task_keep_graph(); }), "outside of backward");
  EXPECT_HAS(error_of([&] { autograd::will_engine_execute_node(node); }), "outside of backward");
  EXPECT_HAS(error_of([] { autograd::current_graph_task_execution_order(); }),
             "outside of backward");
  EXPECT_HAS(error_of([] { autograd::current_graph_task_node(); }), "outside of backward");
}

TEST(Introspection, ListsTheExecutionOrder) {
  Tensor x = leaf({1.});
  Tensor y = x * 2, z = y + 1;
  std::vector<std::string> order;
  z.register_hook([&](const Tensor&) {
    for (auto& node : autograd::current_graph_task_execution_order()) order.push_back(node->name());
    return Tensor();
  });
  z.backward();
  EXPECT_EQ(order, (std::vector<std::string>{"AddBackward0", "MulBackward0", "AccumulateGrad"}));
}

TEST(Backward, IsReentrant) {
  Tensor x = leaf({2.});
  Tensor y = x * x;
  y.register_hook([&](const Tensor& gradient) {
    EnableGradGuard on;
    Tensor inner = leaf({3.});
    (inner * inner).backward();
    return gradient * inner.grad();
  });
  y.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{24}));
}

Tensor nested(int depth, const Tensor& x) {
  Tensor y = x * 1;
  if (depth > 0) {
    y.register_hook([depth](const Tensor& gradient) {
      EnableGradGuard on;
      Tensor inner = leaf({1.});
      nested(depth - 1, inner).backward();
      return gradient * inner.grad();
    });
  }
  return y;
}

TEST(Backward, NestsDeeperThanOneStackHolds) {
  Tensor x = leaf({1.});
  nested(500, x).backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{1}));
}

TEST(Graph, OfAMillionNodesRunsAndIsFreed) {
  Tensor x = leaf({1.});
  {
    Tensor y = x;
    for (int i = 0; i < 1'000'000; i++) y = y + 1;
    y.backward();
  }
  EXPECT_EQ(numbers(x.grad()), (Numbers{1}));
  Tensor y = x;
  for (int i = 0; i < 1'000'000; i++) y = y * 1;  // freed without having run
}

TEST(Threads, RunBackwardOverSharedLeaves) {
  Tensor x = leaf({1., 2., 3.});
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; i++) (x * 2).sum().backward();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(numbers(x.grad()), Numbers(3, 2.0 * kThreads * kRounds));
}

TEST(Threads, RunBackwardOverASharedGraph) {
  Tensor x = leaf({1., 2.});
  Tensor shared = x * x;
  constexpr int kThreads = 4, kRounds = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; i++) (shared * 3).sum().backward({}, true);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(numbers(x.grad()), (Numbers{6.0 * kThreads * kRounds, 12.0 * kThreads * kRounds}));
}

TEST(Modes, DecideWhatIsRecorded) {
  Tensor x = leaf({1.});
  {
    NoGradGuard no_grad;
    EXPECT_FALSE((x * 2).requires_grad());
    EnableGradGuard again;
    EXPECT_TRUE((x * 2).requires_grad());
  }
  Tensor y;
  {
    InferenceMode inference;
    y = x * 2;
    EXPECT_TRUE(y.is_inference());
    EXPECT_FALSE(y.requires_grad());
  }
  EXPECT_HAS(error_of([&] { y._version(); }), "inference tensors do not track versions");
  EXPECT_HAS(error_of([&] { x* y; }), "inference tensors cannot be saved for backward");
  EXPECT_HAS(error_of([&] { y.add_(1); }), "inference tensor outside inference mode");
}

TEST(Grad, MaterializesForTensorsOnly) {
  Tensor x = leaf({1., 2.}), y = leaf({1., 2., 3.});
  autograd::GradOptions options{.materialize_grads = true};
  Tensors grads = grad({(x * 2).sum()}, {autograd::get_gradient_edge(x), y}, {}, options);
  EXPECT_EQ(numbers(grads[0]), (Numbers{2, 2}));
  EXPECT_EQ(numbers(grads[1]), (Numbers{0, 0, 0}));
  std::string error =
      error_of([&] { grad({(x * 2).sum()}, {autograd::get_gradient_edge(y)}, {}, options); });
  EXPECT_HAS(error, "input 0, which got no gradient, is a gradient edge");
}

}  // namespace fg
