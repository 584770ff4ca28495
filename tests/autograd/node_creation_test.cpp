// Hooks of new nodes; hooks of a thread follow the engine to its threads.
#include "autograd/active_hooks.h"
#include "autograd/function.h"
#include "ops/elementwise/unary.h"
#include "tests/autograd/graph_checks.h"

namespace fg {

using autograd::Node;
using autograd::NodeCreationHook;
using Names = std::vector<std::string>;

// Notes the names of the nodes that are made while it lives.
struct Noted {
  Names names;
  NodeCreationHook hook{[this](const Ref<Node>& node) { names.push_back(node->name()); }};
};

TEST(NodeCreationHook, SeesEveryNewNodeOnce) {
  Tensor x = leaf({1., 2.});
  {
    Noted noted;
    Tensor y = (x * 2).exp();
    EXPECT_EQ(noted.names, (Names{"AccumulateGrad", "MulBackward0", "ExpBackward0"}));
    noted.names.clear();
    Tensor z = x + 1;  // the accumulator is the one in use
    unbind(z);         // one node of several outputs
    EXPECT_EQ(noted.names, (Names{"AddBackward0", "UnbindBackward0"}));
    noted.names.clear();
    (tensor({1.}) * 2).exp();
    NoGradGuard no_grad;
    x.exp();
    EXPECT_EQ(noted.names, Names{});
  }
  x.exp();  // nobody listens
}

TEST(NodeCreationHook, SeesAnAccumulatorAgainWhenTheOldGraphIsGone) {
  Tensor x = leaf({1.});
  x.exp();
  Noted noted;
  x.exp();
  EXPECT_EQ(noted.names, (Names{"AccumulateGrad", "ExpBackward0"}));
}

TEST(NodeCreationHook, SeesWhatTheNodeSaved) {
  Tensor x = leaf({0.});
  Numbers saved;
  size_t outputs = 0, edges = 0;
  NodeCreationHook hook([&](const Ref<Node>& node) {
    if (node->name() != "ExpBackward0") return;
    ASSERT_EQ(node->saved_count(), 1u);  // the result
    saved = numbers(node->saved_value(0)->unpack(node.get()));
    outputs = node->num_outputs();
    edges = node->next_edges().size();
  });
  Tensor y = x.exp();
  EXPECT_EQ(saved, (Numbers{1}));
  EXPECT_EQ(outputs, 1u);
  EXPECT_EQ(edges, 1u);
}

TEST(NodeCreationHook, SeesTheNodeThatIsAttached) {
  Tensor base = leaf({1., 2.}) * 1, row = select(base, 0, 0);
  Ref<Node> made;
  Noted noted;
  NodeCreationHook hook([&](const Ref<Node>& node) {
    if (node->name() == "CopySlices") made = node;
  });
  row.mul_(3);
  EXPECT_TRUE(made == base.grad_fn());
  EXPECT_EQ(noted.names, (Names{"AsStridedBackward0", "CopySlices"}));
  base.mul_(2);
  EXPECT_EQ(noted.names.back(), "MulBackward0");
}

struct Negated : autograd::Function<Negated> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    ctx->mark_dirty({x});
    return x.neg_();
  }
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) { return {-grads[0]}; }
};

TEST(NodeCreationHook, SeesCustomFunctionsWhenTheyAreComplete) {
  Tensor base = leaf({1., 2.}) * 1;
  size_t saved = 0;
  Noted noted;
  NodeCreationHook hook([&](const Ref<Node>& node) { saved = node->saved_count(); });
  Negated::apply(base);
  EXPECT_EQ(noted.names, (Names{"NegatedBackward"}));
  EXPECT_EQ(saved, 1u);
  Negated::apply(select(base, 0, 0));
  EXPECT_EQ(noted.names.back(), "CopySlices");
}

TEST(NodeCreationHook, NestsOutermostFirst) {
  Tensor x = leaf({1.}) * 1;
  Names order;
  NodeCreationHook outer([&](const Ref<Node>&) { order.push_back("outer"); });
  {
    NodeCreationHook inner([&](const Ref<Node>&) { order.push_back("inner"); });
    x.exp();
  }
  x.exp();
  EXPECT_EQ(order, (Names{"outer", "inner", "outer"}));
}

TEST(NodeCreationHook, SeesNodesOfBackward) {
  Tensor x = leaf({2.});
  Tensor y = x.exp();
  Noted noted;
  autograd::grad({y}, {x}, {}, {.create_graph = true});
  EXPECT_EQ(noted.names, (Names{"MulBackward0"}));
}

TEST(NodeCreationHook, MustNotMakeNodes) {
  Tensor x = leaf({2.});
  {
    NodeCreationHook hook([&](const Ref<Node>&) { x.exp(); });
    EXPECT_HAS(error_of([&] { x.sin(); }),
               "a node creation hook made a node itself (ExpBackward0)");
  }
  NodeCreationHook hook([&](const Ref<Node>&) {
    NoGradGuard no_grad;
    x.exp();
  });
  x.sin();
}

TEST(NodeCreationHook, MayThrow) {
  Tensor x = leaf({2.}) * 1;
  bool broken = true;
  NodeCreationHook hook([&](const Ref<Node>&) {
    if (broken) throw std::runtime_error("not today");
  });
  EXPECT_THROW(x.exp(), std::runtime_error);
  broken = false;
  EXPECT_TRUE(x.exp().requires_grad());
}

// A hook of the outer thread, asked for in a backward that is nested deeper than one stack holds.
Tensor nested_call(int depth, const Tensor& x, const Callback<void()>& innermost) {
  Tensor y = x * 1;
  y.register_hook([=](const Tensor& gradient) {
    EnableGradGuard on;
    if (depth == 0)
      innermost();
    else
      nested_call(depth - 1, leaf({1.}), innermost).backward();
    return gradient;
  });
  return y;
}

TEST(ActiveHooks, FollowToThreadsOfTheEngine) {
  Noted noted;
  int packed = 0;
  autograd::SavedTensorsHooks saved([&](const Tensor& t) { return packed++, std::any(t); },
                                    [](const std::any& t) { return std::any_cast<Tensor>(t); });
  Tensor x = leaf({1.});
  nested_call(100, x, [&] {
    noted.names.clear();
    packed = 0;
    Tensor inner = leaf({1.});
    inner.exp();
  }).backward();
  EXPECT_EQ(noted.names, (Names{"AccumulateGrad", "ExpBackward0"}));
  EXPECT_EQ(packed, 1);
}

}  // namespace fg
