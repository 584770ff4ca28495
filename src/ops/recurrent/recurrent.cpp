#include "ops/recurrent/recurrent.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/matmul/matmul.h"
#include "ops/random/dropout.h"
#include "ops/rearrange/join.h"
#include "ops/recurrent/layer_kind.h"
#include "ops/recurrent/recurrent_layer.h"
#include "ops/recurrent/recurrent_parts.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using kernels::CellKind;
using ops::CellWeights;
using ops::State;

namespace {

// The arguments that all networks have.
struct Network {
  const char* who;
  CellKind kind;
  Tensor batch_sizes;  // undefined: all sequences have all steps
  Tensors params;
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional, batch_first, projected;

  int64_t directions() const { return bidirectional ? 2 : 1; }
};

size_t weights_per_cell(const Network& n) {
  return 2 + (n.has_biases ? 2 : 0) + (n.projected ? 1 : 0);
}

CellWeights weights_of(const Network& n, int64_t cell) {
  const Tensor* first = &n.params[static_cast<size_t>(cell) * weights_per_cell(n)];
  CellWeights weights{first[0], first[1], {}, {}, {}};
  if (n.has_biases) weights.b_ih = first[2], weights.b_hh = first[3];
  if (n.projected) weights.w_hr = first[n.has_biases ? 4 : 2];
  return weights;
}

void check_network(const Network& n, const Tensor& input, const Tensor& hx) {
  const auto most = static_cast<int64_t>(n.params.size()) + 1;  // no layer has fewer than one
  const auto cells = static_cast<size_t>(std::clamp<int64_t>(n.layers, 0, most) * n.directions());
  if (cells == 0 || n.params.size() != cells * weights_per_cell(n)) {
    fail("{}: got {} parameters; expected {} for each of {} layers and {} directions", n.who,
         n.params.size(), weights_per_cell(n), n.layers, n.directions());
  }
  const int64_t rank = n.batch_sizes.defined() ? 2 : 3;
  if (input.dim() != rank) {
    fail("{}: input must have {} dimensions, got {}", n.who, rank, input.dim());
  }
  if (hx.dim() != 3 || !(hx.sizes()[0] == static_cast<int64_t>(cells))) {
    fail("{}: got a state of sizes {}; expected {} states, one per layer and direction", n.who,
         text(hx.sizes()), cells);
  }
  if (n.train && n.layers > 1 && !(n.dropout >= 0 && n.dropout <= 1)) {
    fail("{}: dropout probability has to be between 0 and 1, but got {}", n.who, n.dropout);
  }
  if (input.sizes()[n.batch_first ? 1 : 0] == 0) {
    fail("{}: expected sequence length to be larger than 0 in RNN", n.who);
  }
}

// Results in time order, states of all layers and directions.
struct Results {
  Tensor output, hn, cn;
};

Results run_network(const Network& n, const Tensor& input, const Tensor& hx, const Tensor& cx) {
  Tensor steps = input;
  Tensors hn, cn;
  for (int64_t layer = 0; layer < n.layers; layer++) {
    Tensors outputs;
    for (int64_t direction = 0; direction < n.directions(); direction++) {
      const int64_t cell = layer * n.directions() + direction;
      State state{select(hx, 0, cell), cx.defined() ? select(cx, 0, cell) : Tensor()};
      auto result = ops::run_direction({n.kind, weights_of(n, cell), n.batch_sizes, direction == 1},
                                       steps, state);
      outputs.push_back(result.output);
      hn.push_back(result.state.h);
      cn.push_back(result.state.c);
    }
    steps = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
    if (layer + 1 < n.layers && n.train && n.dropout > 0) steps = dropout(steps, n.dropout, true);
  }
  return {steps, stack(hn, 0), cx.defined() ? stack(cn, 0) : Tensor()};
}

Results call(Network n, const Tensor& input, const Tensor& hx, const Tensor& cx) {
  check_network(n, input, hx);
  ops::check_dtypes(input, {hx, cx});
  ops::check_dtypes(input, n.params);
  DType dtype = input.dtype();
  bool narrow = dtype == kFloat16 || dtype == kBFloat16;
  auto wide = [&](const Tensor& x) { return narrow && x.defined() ? to(x, kFloat32) : x; };
  for (Tensor& weight : n.params) weight = wide(weight);
  Tensor steps = n.batch_first ? transpose(wide(input), 0, 1) : wide(input);
  Results results = run_network(n, steps, wide(hx), wide(cx));
  auto back = [&](const Tensor& x) { return narrow && x.defined() ? to(x, dtype) : x; };
  Tensor output = n.batch_first ? transpose(results.output, 0, 1) : results.output;
  return {back(output), back(results.hn), back(results.cn)};
}

void check_two(const char* who, const Tensors& hx) {
  if (hx.size() != 2) fail("{}: expects two hidden states, got {}", who, hx.size());
}

// ---- samples: two steps of two sequences of three features, two units

Tensor input() { return sample({2, 2, 3}, -1, 1); }
Tensor packed() { return sample({4, 3}, -1, 1); }
// As many in each step, since tests give all rows of a tensor the first element.
Tensor batch_sizes() { return tensor(std::vector<int64_t>{2, 2}); }
Tensor states(int64_t count, int64_t width = 2) { return sample({count, 2, width}, -0.9, 0.8); }

// Parameters of cells that read `sizes[i]` features.
Tensors parameters(int64_t gates, std::initializer_list<int64_t> sizes, bool biases,
                   int64_t width = 2) {
  Tensors params;
  for (int64_t size : sizes) {
    params.push_back(sample({gates * 2, size}, -1, 1));
    params.push_back(sample({gates * 2, width}, -0.8, 1));
    if (biases) params.push_back(sample({gates * 2}, -0.5, 0.4));
    if (biases) params.push_back(sample({gates * 2}, -0.2, 0.5));
    if (width != 2) params.push_back(sample({width, 2}, -1, 0.7));
  }
  return params;
}
Scalar yes() { return Scalar(true); }
Scalar no() { return Scalar(false); }
Scalar number(double x) { return Scalar(x); }
Scalar layers(int64_t count) { return Scalar(count); }

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

const auto lstm_entry =
    define(
        lstm.overload<0>(), "A long short-term memory network: output, last h, last c.",
        [](const Tensor& input, const Tensors& hx, const Tensors& params, bool has_biases,
           int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
          check_two("lstm", hx);
          bool projected =
              hx[0].dim() == 3 && hx[1].dim() == 3 && !(hx[0].sizes()[2] == hx[1].sizes()[2]);
          auto [output, hn, cn] = call({"lstm",
                                        CellKind::lstm,
                                        {},
                                        params,
                                        has_biases,
                                        num_layers,
                                        dropout,
                                        train,
                                        bidirectional,
                                        batch_first,
                                        projected},
                                       input, hx[0], hx[1]);
          return Three(output, hn, cn);
        })
        .shown(Shown::as_function)
        .random()
        .samples([] {
          return Samples{
              {{input(), Tensors{states(1), states(1)}, parameters(4, {3}, true), yes(), layers(1),
                number(0), no(), no(), no()}},
              {{input(), Tensors{states(4), states(4)}, parameters(4, {3, 3, 4, 4}, false), no(),
                layers(2), number(0.5), yes(), yes(), yes()},
               "two layers, both directions, dropout, batch first"},
              {{input(), Tensors{states(1, 1), states(1)}, parameters(4, {3}, true, 1), yes(),
                layers(1), number(0), no(), no(), no()},
               "projection"}};
        });
const auto lstm_data_entry =
    define(
        lstm.overload<1>(), "The same on the rows of a packed sequence.",
        [](const Tensor& data, const Tensor& batch_sizes, const Tensors& hx, const Tensors& params,
           bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
          check_two("lstm", hx);
          bool projected =
              hx[0].dim() == 3 && hx[1].dim() == 3 && !(hx[0].sizes()[2] == hx[1].sizes()[2]);
          auto [output, hn, cn] =
              call({"lstm", CellKind::lstm, batch_sizes, params, has_biases, num_layers, dropout,
                    train, bidirectional, false, projected},
                   data, hx[0], hx[1]);
          return Three(output, hn, cn);
        })
        .shown(Shown::as_function)
        .random()
        .samples([] {
          return Samples{{{packed(), batch_sizes(), Tensors{states(2), states(2)},
                           parameters(4, {3, 3}, true), yes(), layers(1), number(0), no(), yes()}}};
        });

// gru, rnn_tanh and rnn_relu differ in name and kind.
template <Text kName, CellKind kKind>
struct OneState {
  static constexpr const char* kWho = kName.chars;

  Two operator()(const Tensor& input, const Tensor& hx, const Tensors& params, bool has_biases,
                 int64_t num_layers, double dropout, bool train, bool bidirectional,
                 bool batch_first) const {
    auto results = call({kWho,
                         kKind,
                         {},
                         params,
                         has_biases,
                         num_layers,
                         dropout,
                         train,
                         bidirectional,
                         batch_first,
                         false},
                        input, hx, {});
    return {results.output, results.hn};
  }
  static Samples samples() {
    int64_t gates = kernels::gate_count(kKind);
    return {{{input(), states(1), parameters(gates, {3}, true), yes(), layers(1), number(0), no(),
              no(), no()}},
            {{input(), states(4), parameters(gates, {3, 3, 4, 4}, false), no(), layers(2),
              number(0.5), yes(), yes(), yes()},
             "two layers, both directions, dropout, batch first"}};
  }
};
template <Text kName, CellKind kKind>
struct OneStatePacked {
  Two operator()(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                 const Tensors& params, bool has_biases, int64_t num_layers, double dropout,
                 bool train, bool bidirectional) const {
    auto results = call({kName.chars, kKind, batch_sizes, params, has_biases, num_layers, dropout,
                         train, bidirectional, false, false},
                        data, hx, {});
    return {results.output, results.hn};
  }
  static Samples samples() {
    return {
        {{packed(), batch_sizes(), states(2), parameters(kernels::gate_count(kKind), {3, 3}, true),
          yes(), layers(1), number(0), no(), yes()}}};
  }
};

using GruBody = OneState<"gru", CellKind::gru>;
using GruData = OneStatePacked<"gru", CellKind::gru>;
using TanhBody = OneState<"rnn_tanh", CellKind::tanh>;
using TanhData = OneStatePacked<"rnn_tanh", CellKind::tanh>;
using ReluBody = OneState<"rnn_relu", CellKind::relu>;
using ReluData = OneStatePacked<"rnn_relu", CellKind::relu>;
constexpr const char* kPacked = "The same on the rows of a packed sequence.";

const auto gru_entry =
    define(gru.overload<0>(), "A network of gated recurrent units: output, last h.", GruBody{})
        .shown(Shown::as_function)
        .random()
        .samples(GruBody::samples);
const auto gru_data_entry = define(gru.overload<1>(), kPacked, GruData{})
                                .shown(Shown::as_function)
                                .random()
                                .samples(GruData::samples);
const auto tanh_entry =
    define(rnn_tanh.overload<0>(), "A recurrent network of tanh: output, last h.", TanhBody{})
        .shown(Shown::as_function)
        .random()
        .samples(TanhBody::samples);
const auto tanh_data_entry = define(rnn_tanh.overload<1>(), kPacked, TanhData{})
                                 .shown(Shown::as_function)
                                 .random()
                                 .samples(TanhData::samples);
const auto relu_entry =
    define(rnn_relu.overload<0>(), "A recurrent network of relu: output, last h.", ReluBody{})
        .shown(Shown::as_function)
        .random()
        .samples(ReluBody::samples);
const auto relu_data_entry = define(rnn_relu.overload<1>(), kPacked, ReluData{})
                                 .shown(Shown::as_function)
                                 .random()
                                 .samples(ReluData::samples);

}  // namespace
}  // namespace fg
