// Nodes, hooks and gradient edges.
#include "autograd/active_hooks.h"
#include "autograd/op_node.h"
#include "tests/autograd/graph_checks.h"

namespace fg {

using autograd::grad;
using autograd::Node;

TEST(Node, DescribesItself) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 2;
  Ref<Node> node = y.grad_fn();
  EXPECT_EQ(node->name(), "MulBackward0");
  ASSERT_EQ(node->next_edges().size(), 2u);
  EXPECT_EQ(node->next_edge(0).node->name(), "AccumulateGrad");
  EXPECT_FALSE(node->next_edge(1).is_valid());
  EXPECT_EQ(text(node->input_metadata(0).sizes), "[2]");
  EXPECT_EQ(node->input_metadata(0).dtype, kFloat64);
  EXPECT_TRUE(y.grad_fn() == y.grad_fn());
  node->metadata()["stage"] = std::string("first");
  EXPECT_EQ(std::any_cast<std::string>(y.grad_fn()->metadata()["stage"]), "first");
  EXPECT_GT((y + 1).grad_fn()->sequence_nr(), node->sequence_nr());
}

TEST(NodeHook, SeesAndReplacesGradients) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 2;
  Tensors seen_inputs, seen_outputs;
  y.grad_fn()->register_hook([&](const Tensors& inputs, const Tensors& outputs) {
    seen_inputs = inputs;
    seen_outputs = outputs;
    return Tensors{inputs[0] * 10, inputs[1]};
  });
  y.sum().backward();
  EXPECT_EQ(numbers(seen_inputs[0]), (Numbers{2, 2}));
  EXPECT_EQ(numbers(seen_outputs[0]), (Numbers{1, 1}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{20, 20}));
}

TEST(NodeHook, MustReturnWhatFits) {
  Tensor x = leaf({1., 2.});
  auto run = [&](autograd::NodePostHook hook) {
    Tensor y = x * 2;
    y.grad_fn()->register_hook(std::move(hook));
    return error_of([&] { y.sum().backward(); });
  };
  EXPECT_HAS(run([](const Tensors& g, const Tensors&) { return Tensors{g[0]}; }),
             "returned 1 gradients but got 2");
  EXPECT_HAS(run([](const Tensors& g, const Tensors&) { return Tensors{g[0], g[0]}; }),
             "returned a gradient where there was none");
  EXPECT_HAS(run([](const Tensors& g, const Tensors&) { return Tensors{g[0].to(kFloat32), g[1]}; }),
             "changed the dtype");
  EXPECT_HAS(run([](const Tensors& g, const Tensors&) { return Tensors{g[0].sum(), g[1]}; }),
             "changed the size");
  EXPECT_FALSE(x.grad().defined());
}

TEST(NodeHook, MayBeRegisteredWhileHooksRun) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  int late = 0;
  bool first = true;
  y.grad_fn()->register_hook([&](const Tensors&, const Tensors&) {
    if (std::exchange(first, false)) {
      y.grad_fn()->register_hook([&](const Tensors&, const Tensors&) { return late++, Tensors{}; });
    }
    return Tensors{};
  });
  y.backward({}, true);
  int after_first = late;
  y.backward();
  EXPECT_LE(after_first, 1);
  EXPECT_EQ(late, after_first + 1);
}

TEST(NodePreHook, MustReturnWhatFits) {
  Tensor x = leaf({1., 2.});
  auto run = [&](autograd::NodePreHook hook) {
    Tensor y = x * 2;
    y.grad_fn()->register_prehook(std::move(hook));
    return error_of([&] { y.sum().backward(); });
  };
  EXPECT_HAS(run([](const Tensors& g) { return Tensors{g[0], g[0]}; }),
             "returned 2 gradients but got 1");
  EXPECT_HAS(run([](const Tensors& g) { return Tensors{g[0].to(kFloat32)}; }), "changed the dtype");
  EXPECT_HAS(run([](const Tensors& g) { return Tensors{g[0].sum()}; }), "changed the size");
  EXPECT_FALSE(x.grad().defined());
}

TEST(NodePreHook, ChainsAndIsRemoved) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  auto twice = [](const Tensors& g) { return Tensors{g[0] * 2}; };
  auto plus = [](const Tensors& g) { return Tensors{g[0] + 1}; };
  auto first = y.grad_fn()->register_prehook(twice);
  y.grad_fn()->register_prehook(plus);
  y.backward({}, true);
  EXPECT_EQ(numbers(x.grad()), (Numbers{6}));
  first.remove();
  first.remove();
  x.set_grad({});
  y.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{4}));
}

TEST(Hook, MayRemoveItselfWhileRunning) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  int calls = 0;
  autograd::HookHandle handle;
  handle = y.register_hook([&](const Tensor&) {
    calls++;
    handle.remove();
    return Tensor();
  });
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(calls, 1);
}

TEST(Hooks, RunInOneOrder) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  std::vector<std::string> order;
  auto note = [&](const char* what) { order.push_back(what); };
  Ref<Node> node = y.grad_fn();
  node->register_hook([&](const Tensors&, const Tensors&) { return note("post"), Tensors{}; });
  node->register_prehook([&](const Tensors&) {
    note(y.grad().defined() ? "pre, after retain_grad" : "pre, before retain_grad");
    return Tensors{};
  });
  y.retain_grad();
  y.register_hook([&](const Tensor&) { return note("tensor 1"), Tensor(); });
  y.register_hook([&](const Tensor& g) { return note("tensor 2"), g * 3; });
  x.register_post_accumulate_grad_hook([&](const Tensor&) { note("accumulated"); });
  autograd::get_gradient_edge(x).node->register_hook(
      [&](const Tensors&, const Tensors&) { return note("post of the leaf"), Tensors{}; });
  y.backward();
  EXPECT_EQ(order, (std::vector<std::string>{"tensor 1", "tensor 2", "pre, after retain_grad",
                                             "post", "accumulated", "post of the leaf"}));
  EXPECT_EQ(numbers(y.grad()), (Numbers{3}));  // what the hooks made of it
}

TEST(TensorHook, FiresWhenTheNodeDoesNotRun) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  int calls = 0;
  y.register_hook([&](const Tensor& g) { return calls++, g * 5; });
  Tensors got = grad({y * 3}, {y});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(numbers(got[0]), (Numbers{15}));
  EXPECT_HAS(error_of([] { tensor({1.}).register_hook([](const Tensor& g) { return g; }); }),
             "does not require grad");
}

TEST(TensorHook, StaysWithTheOldNodeAfterAnInplaceChange) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  Numbers hooked;
  y.register_hook([&](const Tensor& g) { return hooked = numbers(g), Tensor(); });
  y.retain_grad();
  y.mul_(10);
  (y * 7).backward();
  EXPECT_EQ(hooked, (Numbers{70}));            // the gradient of the old value
  EXPECT_EQ(numbers(y.grad()), (Numbers{7}));  // the gradient of the tensor as it is now
}

TEST(PostAccumulateHook, SeesTheNewGradient) {
  Tensor x = leaf({1., 2.});
  Numbers seen;
  x.register_post_accumulate_grad_hook([&](const Tensor& parameter) {
    seen = numbers(parameter.grad());
    parameter.set_grad({});
  });
  (x * 3).sum().backward();
  EXPECT_EQ(seen, (Numbers{3, 3}));
  EXPECT_FALSE(x.grad().defined());
  std::string error = error_of([&] { (x * 2).register_post_accumulate_grad_hook([](auto&) {}); });
  EXPECT_HAS(error, "only leaf tensors");
}

TEST(NodeHook, DoesNotRunWhenTheNodeIsSkipped) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  int calls = 0;
  y.grad_fn()->register_prehook([&](const Tensors&) { return calls++, Tensors{}; });
  grad({y * 3}, {y});
  EXPECT_EQ(calls, 0);
}

TEST(GradientEdge, StandsForATensor) {
  Tensor x = leaf({2.});
  autograd::GradientEdge edge, leaf_edge = autograd::get_gradient_edge(x);
  {
    Tensor y = x * x;
    NoGradGuard no_grad;
    edge = autograd::get_gradient_edge(y);
  }
  EXPECT_EQ(leaf_edge.node->name(), "AccumulateGrad");
  EXPECT_EQ(numbers(grad({edge}, {leaf_edge}, {}, {.retain_graph = true})[0]), (Numbers{4}));
  EXPECT_EQ(numbers(grad({edge}, {x}, {}, {.retain_graph = true})[0]), (Numbers{4}));
  autograd::backward({edge});
  EXPECT_EQ(numbers(x.grad()), (Numbers{4}));
  EXPECT_HAS(error_of([] { autograd::get_gradient_edge(tensor({1.})); }), "does not require grad");
  autograd::GradientEdge unused = autograd::get_gradient_edge(leaf({1.}));
  EXPECT_HAS(error_of([&] { grad({x * 2}, {unused}, {}, {.materialize_grads = true}); }),
             "materialize_grads");
}

TEST(GradientEdge, WorksAsABackwardInput) {
  Tensor x = leaf({2.});
  Tensor y = x * x;
  autograd::backward({y}, {}, {}, false, autograd::GraphPoints{autograd::get_gradient_edge(x)});
  EXPECT_EQ(numbers(x.grad()), (Numbers{4}));
}

TEST(GradientEdge, MixesWithTensorsButNotWithBatches) {
  Tensor x = leaf({2.});
  Tensor y = x * x, z = x * 3;
  autograd::backward({y, autograd::get_gradient_edge(z)});
  EXPECT_EQ(numbers(x.grad()), (Numbers{7}));
  autograd::GradientEdge edge = autograd::get_gradient_edge(x * x);
  EXPECT_HAS(
      error_of([&] { grad({edge}, {x}, {tensor({{1.}, {1.}})}, {.is_grads_batched = true}); }),
      "edge");
}

TEST(IncrementVersion, MarksTensorsAsModified) {
  Tensor x = tensor({1.});
  autograd::increment_version({x, x});
  EXPECT_EQ(x._version(), 2u);
  EXPECT_HAS(error_of([] { autograd::increment_version({Tensor()}); }), "undefined tensor");
}

TEST(RetainGrad, IsForNonLeaves) {
  Tensor x = leaf({1.});
  Tensor y = x * 2;
  EXPECT_FALSE(y.retains_grad());
  y.retain_grad();
  x.retain_grad();
  EXPECT_TRUE(y.retains_grad());
  EXPECT_FALSE(x.retains_grad());
  (y * 3).backward();
  EXPECT_EQ(numbers(y.grad()), (Numbers{3}));
  EXPECT_HAS(error_of([] { tensor({1.}).retain_grad(); }), "does not require grad");
}

TEST(RetainGrad, DoesNotKeepTheTensorAlive) {
  Tensor x = leaf({1.});
  Tensor z;
  {
    Tensor y = x * 2;
    y.retain_grad();
    z = y * 3;
  }
  z.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{6}));
}

TEST(TensorHook, SeesAnUndefinedGradientWhenAnotherOutputRuns) {
  Tensors parts = fg::unbind(leaf({1., 2.}));
  std::vector<bool> seen;
  parts[0].register_hook([&](const Tensor& grad) {
    seen.push_back(grad.defined());
    return Tensor();
  });
  parts[1].backward();
  EXPECT_EQ(seen, std::vector<bool>{false});
  Tensors again = fg::unbind(leaf({1., 2.}));
  again[0].register_hook([](const Tensor&) { return tensor(1.); });
  EXPECT_HAS(error_of([&] { again[1].backward(); }), "returned a gradient where there was none");
}

TEST(Hooks, EnteredInABackwardEndWithTheirNode) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 2, z = y * 3;
  std::vector<std::string> seen;
  z.register_hook([&](const Tensor&) {
    set_grad_enabled(true);
    autograd::push_node_creation_hook([&](const Ref<Node>& node) { seen.push_back(node->name()); });
    autograd::push_saved_tensors_hooks(
        [&](const Tensor& value) {
          seen.emplace_back("packed");
          return std::any(value);
        },
        [](const std::any& packed) { return std::any_cast<Tensor>(packed); });
    return Tensor();
  });
  y.register_hook([&](const Tensor&) {
    seen.emplace_back(is_grad_enabled() ? "recording" : "not recording");
    return Tensor();
  });
  z.sum().backward();
  (x * x).sum().backward();
  EXPECT_EQ(seen, std::vector<std::string>{"not recording"});
}

}  // namespace fg
