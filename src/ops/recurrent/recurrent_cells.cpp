// One step of a recurrent network: a layer of a single step.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/recurrent/recurrent.h"
#include "ops/recurrent/recurrent_parts.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using kernels::CellKind;
using ops::CellWeights;
using ops::State;

namespace {

void check_cell(const char* who, const Tensor& input, const State& state, const CellWeights& w,
                int64_t gates) {
  if (input.dim() != 2 || state.h.dim() != 2 || w.w_ih.dim() != 2 || w.w_hh.dim() != 2) {
    fail("{}: got an input of {}, a state of {} and weights of {} and {}; expected matrices", who,
         text(input.sizes()), text(state.h.sizes()), text(w.w_ih.sizes()), text(w.w_hh.sizes()));
  }
  Dim hidden = w.w_hh.sizes()[1];
  if (!(input.sizes()[1] == w.w_ih.sizes()[1])) {
    fail("input has inconsistent input_size: got {} expected {}", input.sizes()[1].text(),
         w.w_ih.sizes()[1].text());
  }
  if (!(w.w_ih.sizes()[0] == hidden * gates) || !(w.w_hh.sizes()[0] == hidden * gates)) {
    fail("{}: got weights of {} and {}; expected {} rows for {} hidden units", who,
         text(w.w_ih.sizes()), text(w.w_hh.sizes()), (hidden * gates).text(), hidden.text());
  }
  for (const Tensor& part : {state.h, state.c}) {
    if (!part.defined()) continue;
    if (!(part.sizes()[0] == input.sizes()[0])) {
      fail("Input batch size {} doesn't match hidden0 batch size {}", input.sizes()[0].text(),
           part.sizes()[0].text());
    }
    if (!(part.sizes().back() == hidden)) {
      fail("hidden0 has inconsistent hidden_size: got {}, expected {}", part.sizes().back().text(),
           hidden.text());
    }
  }
}

State step(const char* who, CellKind kind, const Tensor& input, const State& state,
           const CellWeights& w) {
  check_cell(who, input, state, w, kernels::gate_count(kind));
  ops::check_dtypes(input, {state.h, state.c, w.w_ih, w.w_hh, w.b_ih, w.b_hh});
  DType dtype = input.dtype();
  bool narrow = dtype == kFloat16 || dtype == kBFloat16;
  auto wide = [&](const Tensor& x) { return narrow && x.defined() ? to(x, kFloat32) : x; };
  CellWeights weights{wide(w.w_ih), wide(w.w_hh), wide(w.b_ih), wide(w.b_hh), {}};
  auto result = ops::run_direction({kind, weights, {}, false}, unsqueeze(wide(input), 0),
                                   {wide(state.h), wide(state.c)});
  if (!narrow) return result.state;
  return {to(result.state.h, dtype), state.c.defined() ? to(result.state.c, dtype) : Tensor()};
}

// Two sequences of three features, two units.
std::vector<Value> cell_sample(const Value& state, int64_t gates) {
  return {sample({2, 3}, -1, 1), state, sample({gates * 2, 3}, -1, 1),
          sample({gates * 2, 2}, -0.8, 1)};
}
std::vector<Value> with_biases(std::vector<Value> arguments, int64_t gates) {
  arguments.emplace_back(sample({gates * 2}, -0.5, 0.4));
  arguments.emplace_back(sample({gates * 2}, -0.2, 0.5));
  return arguments;
}
Tensor state() { return sample({2, 2}, -0.9, 0.8); }

const auto lstm_cell_entry =
    define(lstm_cell, "One step of an LSTM: the next h and c.",
           [](const Tensor& input, const Tensors& hx, const Tensor& w_ih, const Tensor& w_hh,
              const Tensor& b_ih, const Tensor& b_hh) {
             if (hx.size() != 2) fail("lstm_cell: expects two hidden states, got {}", hx.size());
             State next = step("lstm_cell", CellKind::lstm, input, {hx[0], hx[1]},
                               {w_ih, w_hh, b_ih, b_hh, {}});
             return std::tuple<Tensor, Tensor>(next.h, next.c);
           })
        .shown(Shown::as_function)
        .samples([] {
          Value both = Tensors{state(), sample({2, 2}, -1, 0.7)};
          return Samples{{cell_sample(both, 4), "without biases"},
                         {with_biases(cell_sample(both, 4), 4)}};
        });

template <Text kName, CellKind kKind>
struct Cell {
  Tensor operator()(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                    const Tensor& b_ih, const Tensor& b_hh) const {
    return step(kName.chars, kKind, input, {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).h;
  }
  static Samples samples() {
    const int64_t gates = kernels::gate_count(kKind);
    return {{cell_sample(state(), gates), "without biases"},
            {with_biases(cell_sample(state(), gates), gates)}};
  }
};
using GruCell = Cell<"gru_cell", CellKind::gru>;
using TanhCell = Cell<"rnn_tanh_cell", CellKind::tanh>;
using ReluCell = Cell<"rnn_relu_cell", CellKind::relu>;

const auto gru_cell_entry = define(gru_cell, "One step of a GRU: the next h.", GruCell{})
                                .shown(Shown::as_function)
                                .samples(GruCell::samples);
const auto tanh_cell_entry =
    define(rnn_tanh_cell, "tanh(input @ w_ih^T + b_ih + hx @ w_hh^T + b_hh).", TanhCell{})
        .shown(Shown::as_function)
        .samples(TanhCell::samples);
const auto relu_cell_entry =
    define(rnn_relu_cell, "relu(input @ w_ih^T + b_ih + hx @ w_hh^T + b_hh).", ReluCell{})
        .shown(Shown::as_function)
        .samples(ReluCell::samples);

}  // namespace
}  // namespace fg
