// Recurrent layers against networks of ordinary operations, step by step.
#include "ops/recurrent/recurrent.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/pool.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/matmul/matmul.h"
#include "ops/random/random.h"
#include "ops/rearrange/join.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {
namespace {

struct Sizes {
  int64_t steps, batch, inputs, hidden;
};

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh;
  Tensors all() const { return {w_ih, w_hh, b_ih, b_hh}; }
};

Weights weights_of(int64_t gates, const Sizes& s, DType dtype = kFloat64) {
  auto made = [&](const Dims& sizes) { return (rand(sizes, dtype) - 0.5).requires_grad_(); };
  return {made({gates * s.hidden, s.inputs}), made({gates * s.hidden, s.hidden}),
          made({gates * s.hidden}), made({gates * s.hidden})};
}

Tensors gates_of(const Tensor& x, const Tensor& w, const Tensor& b, int64_t count) {
  return chunk(linear(x, w, b), count, -1);
}

// Each takes an input of one step and (h, c), or h.
Tensors lstm_step(const Tensor& x, const Tensors& state, const Weights& w) {
  Tensors a = gates_of(x, w.w_ih, w.b_ih, 4), b = gates_of(state[0], w.w_hh, w.b_hh, 4);
  Tensor c = sigmoid(a[1] + b[1]) * state[1] + sigmoid(a[0] + b[0]) * tanh(a[2] + b[2]);
  return {sigmoid(a[3] + b[3]) * tanh(c), c};
}
Tensors gru_step(const Tensor& x, const Tensors& state, const Weights& w) {
  Tensors a = gates_of(x, w.w_ih, w.b_ih, 3), b = gates_of(state[0], w.w_hh, w.b_hh, 3);
  Tensor r = sigmoid(a[0] + b[0]), z = sigmoid(a[1] + b[1]), n = tanh(a[2] + r * b[2]);
  return {(1 - z) * n + z * state[0]};
}
Tensors relu_step(const Tensor& x, const Tensors& state, const Weights& w) {
  return {relu(linear(x, w.w_ih, w.b_ih) + linear(state[0], w.w_hh, w.b_hh))};
}

using Step = Tensors (*)(const Tensor&, const Tensors&, const Weights&);

// The output of all steps and the last state.
Tensors slow_network(Step step, const Tensor& x, Tensors state, const Weights& w) {
  Tensors outputs;
  for (int64_t t = 0; t < x.size(0); t++) {
    state = step(select(x, 0, t), state, w);
    outputs.push_back(state[0]);
  }
  Tensors result{stack(outputs, 0)};
  for (const Tensor& part : state) result.push_back(unsqueeze(part, 0));
  return result;
}

enum class Network : uint8_t { lstm, gru, relu };

int64_t gate_count(Network n) { return n == Network::lstm ? 4 : n == Network::gru ? 3 : 1; }
Step step_of(Network n) {
  return n == Network::lstm ? lstm_step : n == Network::gru ? gru_step : relu_step;
}

Tensors fast_network(Network n, const Tensor& x, const Tensors& state, const Weights& w) {
  Tensors hx;
  for (const Tensor& part : state) hx.push_back(unsqueeze(part, 0));
  if (n == Network::lstm) {
    auto [output, h, c] = lstm(x, hx, w.all(), true, 1, 0, true, false, false);
    return {output, h, c};
  }
  auto [output, h] = n == Network::gru
                         ? gru(x, hx[0], w.all(), true, 1, 0, true, false, false)
                         : rnn_relu(x, hx[0], w.all(), true, 1, 0, true, false, false);
  return {output, h};
}

struct Case {
  Network network;
  Tensor x;
  Tensors state;
  Weights weights;

  Case(Network n, const Sizes& s, DType dtype = kFloat64)
      : network(n),
        x((rand({s.steps, s.batch, s.inputs}, dtype) - 0.5).requires_grad_()),
        weights(weights_of(gate_count(n), s, dtype)) {
    for (int i = 0; i < (n == Network::lstm ? 2 : 1); i++)
      state.push_back((rand({s.batch, s.hidden}, dtype) - 0.5).requires_grad_());
  }
  autograd::GraphPoints leaves() const {
    autograd::GraphPoints all{x};
    for (const Tensor& part : state) all.emplace_back(part);
    for (const Tensor& part : weights.all()) all.emplace_back(part);
    return all;
  }
  Tensors fast() const { return fast_network(network, x, state, weights); }
  Tensors slow() const { return slow_network(step_of(network), x, state, weights); }
};

Tensor weighted(const Tensors& outputs) {
  Tensor total = zeros({}, outputs[0].dtype());
  for (const Tensor& out : outputs) total = total + sum(out * sin(out + 1));
  return total;
}

void expect_near(const Tensors& seen, const Tensors& expected, double tolerance) {
  ASSERT_EQ(seen.size(), expected.size());
  for (size_t i = 0; i < seen.size(); i++) {
    EXPECT_TRUE(seen[i].allclose(expected[i], tolerance, tolerance)) << "tensor " << i;
  }
}

constexpr Network kNetworks[] = {Network::lstm, Network::gru, Network::relu};

TEST(Recurrent, layers_and_both_derivatives_are_those_of_ordinary_operations) {
  manual_seed(1);
  for (Network network : kNetworks) {
    for (Sizes sizes : {Sizes{3, 2, 3, 2}, Sizes{5, 13, 7, 19}, Sizes{2, 1, 1, 33}}) {
      Case c(network, sizes);
      expect_near(c.fast(), c.slow(), 1e-12);
      auto first = [&](const Tensors& outputs) {
        return autograd::grad({weighted(outputs)}, c.leaves(), {}, {.create_graph = true});
      };
      Tensors fast = first(c.fast()), slow = first(c.slow());
      expect_near(fast, slow, 1e-11);
      expect_near(autograd::grad({weighted(fast)}, c.leaves(), {}, {}),
                  autograd::grad({weighted(slow)}, c.leaves(), {}, {}), 1e-10);
    }
  }
}

TEST(Recurrent, floats_are_as_precise_as_ordinary_operations) {
  manual_seed(2);
  for (Network network : kNetworks) {
    Case c(network, {20, 9, 5, 40}, kFloat32);
    expect_near(c.fast(), c.slow(), 2e-5);
  }
}

// Every size takes its way through threads: units of a step, or rows of all steps.
TEST(Recurrent, bits_do_not_depend_on_threads) {
  manual_seed(3);
  const int before = pool::num_threads();
  for (Network network : kNetworks) {
    for (Sizes sizes : {Sizes{4, 3, 8, 200}, Sizes{4, 70, 8, 33}, Sizes{3, 1, 2, 5}}) {
      Case c(network, sizes, kFloat32);
      std::vector<std::vector<float>> seen;
      for (int threads : {1, 2, 3}) {
        pool::set_num_threads(threads);
        pool::force_grain(threads > 1 ? 1 : 0);
        Tensors all = c.fast();
        for (const Tensor& g : autograd::grad({weighted(all)}, c.leaves(), {}, {}))
          all.push_back(g);
        std::vector<float> numbers;
        for (const Tensor& tensor : all) {
          auto more = tensor.detach().to_vector<float>();
          numbers.insert(numbers.end(), more.begin(), more.end());
        }
        seen.push_back(numbers);
      }
      EXPECT_EQ(seen[0], seen[1]);
      EXPECT_EQ(seen[0], seen[2]);
    }
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

TEST(Recurrent, values_are_the_same_where_no_gradient_is_recorded) {
  manual_seed(4);
  for (Network network : kNetworks) {
    Case c(network, {6, 5, 4, 17}, kFloat32);
    Tensors kept = c.fast();
    NoGradGuard guard;
    Tensors free = c.fast();
    for (size_t i = 0; i < kept.size(); i++)
      EXPECT_EQ(kept[i].detach().to_vector<float>(), free[i].to_vector<float>());
  }
}

// The rows of sequence i in a packed one.
Tensor rows_of(const Tensor& data, const std::vector<int64_t>& sizes, int64_t i) {
  Tensors rows;
  int64_t first = 0;
  for (int64_t size : sizes) {
    if (i < size) rows.push_back(select(data, 0, first + i));
    first += size;
  }
  return stack(rows, 0);
}

TEST(Recurrent, a_packed_sequence_is_each_of_its_sequences_alone) {
  manual_seed(5);
  const std::vector<int64_t> sizes{3, 3, 2, 1};
  Weights w = weights_of(4, {0, 0, 3, 18}, kFloat32), back = weights_of(4, {0, 0, 3, 18}, kFloat32);
  Tensors params = w.all();
  for (const Tensor& each : back.all()) params.push_back(each);
  Tensor data = rand({9, 3}, kFloat32), h = rand({2, 3, 18}, kFloat32),
         c = rand({2, 3, 18}, kFloat32);
  auto [output, hn, cn] = lstm(data, tensor(sizes), {h, c}, params, true, 1, 0, true, true);
  for (int64_t i = 0; i < 3; i++) {
    Tensor alone = unsqueeze(rows_of(data, sizes, i), 1);
    auto part = [&](const Tensor& all) { return narrow(all, 1, i, 1); };
    auto [out, h1, c1] = lstm(alone, {part(h), part(c)}, params, true, 1, 0, true, true, false);
    EXPECT_EQ(rows_of(output, sizes, i).detach().to_vector<float>(),
              out.detach().to_vector<float>());
    EXPECT_EQ(part(hn).detach().to_vector<float>(), h1.detach().to_vector<float>());
    EXPECT_EQ(part(cn).detach().to_vector<float>(), c1.detach().to_vector<float>());
  }
}

TEST(Recurrent, halves_are_computed_in_float) {
  manual_seed(6);
  Case c(Network::gru, {3, 2, 4, 5}, kFloat32);
  Tensors params, wide;
  for (const Tensor& each : c.weights.all()) {
    params.push_back(each.detach().to(kBFloat16));
    wide.push_back(params.back().to(kFloat32));
  }
  Tensor x = c.x.detach().to(kBFloat16), h = unsqueeze(c.state[0].detach().to(kBFloat16), 0);
  auto [half, h1] = gru(x, h, params, true, 1, 0, true, false, false);
  auto [single, h2] = gru(x.to(kFloat32), h.to(kFloat32), wide, true, 1, 0, true, false, false);
  EXPECT_EQ(half.dtype(), kBFloat16);
  EXPECT_EQ(half.to_vector<float>(), single.to(kBFloat16).to_vector<float>());
}

TEST(Recurrent, errors_say_what_came_and_what_was_expected) {
  Sizes sizes{3, 2, 4, 5};
  Weights w = weights_of(3, sizes);
  Tensor x = rand({3, 2, 4}, kFloat64), h = rand({1, 2, 5}, kFloat64);
  EXPECT_EQ(error_of([&] { gru(x, h, {w.w_ih}, true, 1, 0, true, false, false); }),
            "gru: got 1 parameters; expected 4 for each of 1 layers and 1 directions");
  EXPECT_EQ(error_of([&] { gru(x, h, w.all(), true, 1, 0, true, true, false); }),
            "gru: got 4 parameters; expected 4 for each of 1 layers and 2 directions");
  EXPECT_EQ(error_of([&] { gru(select(x, 0, 0), h, w.all(), true, 1, 0, true, false, false); }),
            "gru: input must have 3 dimensions, got 2");
  EXPECT_EQ(error_of([&] { gru(x.to(kFloat32), h, w.all(), true, 1, 0, true, false, false); }),
            "Input and parameter tensors are not the same dtype, found input tensor with float32 "
            "and parameter tensor with float64");
  EXPECT_EQ(error_of([&] { lstm(x, {h}, w.all(), true, 1, 0, true, false, false); }),
            "lstm: expects two hidden states, got 1");
  EXPECT_EQ(error_of([&] { gru_cell(select(x, 0, 0), rand({3, 5}, kFloat64), w.w_ih, w.w_hh); }),
            "Input batch size 2 doesn't match hidden0 batch size 3");
  Tensor gates = rand({5, 15}, kFloat64), weight = rand({15, 5}, kFloat64);
  EXPECT_EQ(error_of([&] {
              gru_layer(gates, rand({2, 5}, kFloat64), weight, {}, tensor({2, 3}, kInt64));
            }),
            "gru_layer: got 3 rows at step 1; batch_sizes begin with the batch size 2 and never "
            "grow");
  EXPECT_EQ(error_of([&] {
              gru_layer(gates, rand({2, 5}, kFloat64), weight, {}, tensor({2, 2}, kInt64));
            }),
            "gru_layer: got batch_sizes whose sum is 4, and 5 rows; these must be equal");
}

}  // namespace
}  // namespace fg
