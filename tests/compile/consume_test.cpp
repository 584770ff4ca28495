// A backward uses the memory of saved values only where the engine frees the graph, and no program
// can see it.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/interrupt.h"
#include "tensor/allocator.h"
#include "tests/error_of.h"

namespace fg {
namespace {

using autograd::GraphPoints;

Tensor some(const Dims& sizes) {
  int64_t count = product(sizes).value();
  return (arange(0, count, 1, kFloat32) * 12.9898).sin().mul(0.5).reshape(sizes);
}
Tensors leaves(const std::vector<Dims>& sizes) {
  Tensors result;
  for (const Dims& one : sizes) result.push_back(some(one).requires_grad_());
  return result;
}

struct Net {
  std::string name;
  std::vector<Dims> inputs;
  std::function<Tensor(const Tensors&)> loss;
};

Net mlp(int layers, int64_t batch, int64_t width) {
  std::vector<Dims> inputs{{batch, width}};
  for (int i = 0; i < layers; i++) inputs.push_back({width, width});
  return {"mlp", inputs, [](const Tensors& in) {
            Tensor x = in[0];
            for (size_t i = 1; i < in.size(); i++) x = x.mm(in[i]).tanh() * x.sigmoid();
            return (x * x).sum();
          }};
}

std::vector<Net> nets() {
  Net chain{"chain", {{37, 5}}, [](const Tensors& in) {
              Tensor x = in[0];
              for (int i = 0; i < 20; i++)
                x = (x.sin() * x.exp()).sum(1, true).sin() + x.cumsum(1).tanh();
              return x.sum();
            }};
  Net attention{"attention", {{2, 9, 8}, {8, 8}, {8, 8}, {8}, {8}}, [](const Tensors& in) {
                  Tensor x = in[0];
                  for (int i = 0; i < 3; i++) {
                    Tensor q = x.matmul(in[1]), k = x.matmul(in[2]);
                    Tensor mixed = q.matmul(k.transpose(1, 2)).softmax(-1).matmul(x);
                    x = layer_norm(x + gelu(mixed), {8}, in[3], in[4]);
                  }
                  return x.logsumexp({2}, false).sum();
                }};
  Net convolution{
      "convolution", {{2, 3, 12, 12}, {6, 3, 3, 3}, {6, 6, 3, 3}, {24, 10}}, [](const Tensors& in) {
        Tensor x = conv2d(in[0], in[1], {}, 1, 1).relu();
        x = max_pool2d(conv2d(x, in[2], {}, 1, 1).relu() + x, 6);
        return x.reshape({2, 24}).mm(in[3]).log_softmax(1).square().sum();
      }};
  return {chain, mlp(12, 16, 24), mlp(3, 7, 5), attention, convolution};
}

void expect_equal(const Tensors& a, const Tensors& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); i++) EXPECT_TRUE(equal(a[i], b[i])) << what << " input " << i;
}

TEST(Consume, a_backward_that_keeps_the_graph_and_one_that_frees_it_give_the_bits_of_eager_code) {
  for (const Net& net : nets()) {
    auto compiled = compile(net.loss, {.fullgraph = true});
    Tensors in = leaves(net.inputs);
    GraphPoints points(in.begin(), in.end());
    Tensors expected = autograd::grad({net.loss(in)}, points);
    for (int call = 0; call < 2; call++) {
      Tensor loss = compiled(in);
      for (int kept = 0; kept < 2; kept++) {
        expect_equal(autograd::grad({loss}, points, {}, {.retain_graph = true}), expected,
                     net.name + " kept");
      }
      expect_equal(autograd::grad({loss}, points), expected, net.name + " freed");
      EXPECT_HAS(error_of([&] { autograd::grad({loss}, points); }), "a second time");
    }
  }
}

// The bytes that a backward takes at most, beyond those in use before it.
int64_t peak_of(const std::function<void()>& backward) {
  int64_t before = memory_stats().live_bytes;
  reset_peak_memory();
  backward();
  return memory_stats().peak_live_bytes - before;
}

TEST(Consume, a_backward_that_frees_the_graph_takes_less_memory) {
  Net net = mlp(12, 256, 64);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  autograd::grad({compiled(in)}, points);  // compiles
  Tensor loss = compiled(in);
  int64_t kept = peak_of([&] { autograd::grad({loss}, points, {}, {.retain_graph = true}); });
  int64_t freed = peak_of([&] { autograd::grad({loss}, points); });
  int64_t value = 256 * 64 * 4;
  EXPECT_GE(kept - freed, 2 * value) << "kept " << kept << ", freed " << freed;
}

TEST(Consume, what_saved_tensor_hooks_return_stays_as_it_is) {
  Net net = mlp(4, 32, 16);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  Tensors expected = autograd::grad({compiled(in)}, points);
  for (bool foreign : {false, true}) {
    Tensors packed, copies;
    std::optional<autograd::SavedTensorsHooks> hooks(
        std::in_place,
        [&](const Tensor& value) -> std::any {
          packed.push_back(value.clone());
          copies.push_back(value.clone());
          return packed.size() - 1;
        },
        [&](const std::any& place) {
          const Tensor& value = packed[std::any_cast<size_t>(place)];
          // Memory of the user, that no tensor but this one shows.
          return foreign ? from_blob(value.data_ptr(), value.sizes(), value.dtype()) : value;
        });
    Tensor loss = compiled(in);
    hooks.reset();
    ASSERT_GT(packed.size(), in.size());
    expect_equal(autograd::grad({loss}, points), expected, "hooks");
    expect_equal(packed, copies, "packed");
  }
}

TEST(Consume, parts_of_a_graph_one_after_the_other) {
  auto f = [](const Tensor& x, const Tensor& w) {
    Tensor h = x.mm(w).tanh(), g = h.mm(w).sigmoid();
    return Tensors{(h * g).sum(), (g * g * h).mm(w).sum()};
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor x = some({12, 12}).requires_grad_(), w = some({12, 12}).requires_grad_();
  Tensors eager = f(x, w), results = compiled(x, w);
  for (int i = 0; i < 2; i++) {  // the first keeps the graph for the second
    Tensors expected = autograd::grad({eager[i]}, {x, w}, {}, {.retain_graph = i == 0});
    expect_equal(autograd::grad({results[i]}, {x, w}, {}, {.retain_graph = i == 0}), expected,
                 "result " + std::to_string(i));
  }
  EXPECT_HAS(error_of([&] { autograd::grad({results[0]}, {x, w}); }), "a second time");
}

TEST(Consume, a_second_derivative_after_a_backward_that_kept_the_graph) {
  Net net = mlp(3, 8, 8);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  auto second = [&](const Tensor& loss) {
    Tensors first = autograd::grad({loss}, points, {}, {.create_graph = true});
    Tensor sum = first[0].square().sum();
    for (size_t i = 1; i < first.size(); i++) sum = sum + first[i].square().sum();
    Tensors result = autograd::grad({sum}, points, {}, {.retain_graph = true});
    for (const Tensor& more : autograd::grad({sum}, points)) result.push_back(more);
    return result;
  };
  Tensors expected = second(net.loss(in));
  for (int i = 0; i < 2; i++) expect_equal(second(compiled(in)), expected, "second derivative");
}

// A saved value that the caller holds too: through the node, while its graph is freed.
TEST(Consume, a_saved_value_that_someone_holds_stays_as_it_is) {
  Net net = mlp(6, 32, 16);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  Tensors expected = autograd::grad({compiled(in)}, points);
  Tensor loss = compiled(in);
  Ref<autograd::Node> node = loss.grad_fn();
  for (size_t i = 0; i < node->saved_count(); i++) {
    Tensor fresh = compiled(in);
    Tensor held = fresh.grad_fn()->saved_value(i)->unpack(fresh.grad_fn().get());
    Tensor part = held.detach().reshape({-1});  // another tensor over the same memory
    Tensor copy = held.clone();
    if (i % 2) held.reset();
    expect_equal(autograd::grad({fresh}, points), expected, "held");
    EXPECT_TRUE(equal(part, copy.reshape({-1}))) << i;
  }
}

// A hook of the node that runs after it may use the node once more.
TEST(Consume, a_hook_after_the_node_finds_what_was_saved) {
  Net net = mlp(4, 16, 8);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  Tensor loss = compiled(in);
  autograd::Node* node = loss.grad_fn().get();
  Tensors again;
  node->register_hook([&](const Tensors& grads, const Tensors&) {
    again = node->apply({ones({})});
    return grads;
  });
  Tensors grads = autograd::grad({loss}, points);
  expect_equal(again, grads, "again");
}

int polls_left = 0;

TEST(Consume, an_error_inside_of_the_backward_leaves_the_graph_freed) {
  Net net = mlp(12, 16, 8);
  auto compiled = compile(net.loss, {.fullgraph = true});
  Tensors in = leaves(net.inputs);
  GraphPoints points(in.begin(), in.end());
  Tensors expected = autograd::grad({compiled(in)}, points);
  Tensor loss = compiled(in), other = compiled(in);
  auto before = interrupt_check.exchange(+[] {
    if (polls_left > 0 && --polls_left == 0) throw Error(ErrorKind::value, "stopped");
  });
  polls_left = 3;  // the engine asks, the backward before its first step, then in the middle
  EXPECT_EQ(error_of([&] { autograd::grad({loss}, points); }), "stopped");
  interrupt_check = before;
  EXPECT_HAS(error_of([&] { autograd::grad({loss}, points); }), "a second time");
  expect_equal(autograd::grad({other}, points), expected, "another call");
  expect_equal(autograd::grad({compiled(in)}, points), expected, "a new call");
}

}  // namespace
}  // namespace fg
