// Chains of loops and row kernels, forward or forward and backward, by tiles of rows and without
// them: the best of several runs in turn, on one thread. One JSON line per case.
#include <chrono>
#include <cstdio>

#include "base/pool.h"
#include "codegen/executable.h"
#include "foregrad.h"
#include "graphs.h"
#include "schedule/tile.h"

namespace fg::bench {
namespace {

using capture::TensorFunction;
using codegen::Executable;

constexpr int kRounds = 20;

double seconds_of(const Executable& code, const Tensors& inputs, int runs) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  for (int i = 0; i < runs; i++) code.run(inputs);
  return std::chrono::duration<double>(Clock::now() - start).count() / runs;
}

void compare(const std::string& name, const ir::Graph& graph, const Tensors& inputs) {
  schedule::TileLimits usual = schedule::tile_limits;
  Executable tiles(schedule::make_schedule(graph));
  schedule::tile_limits.least_bytes = int64_t{1} << 60;
  Executable whole(schedule::make_schedule(graph));
  schedule::tile_limits = usual;
  int runs = std::max(1, static_cast<int>(2e-3 / seconds_of(whole, inputs, 1)));
  double with = 1e9, without = 1e9;
  for (int round = 0; round < kRounds; round++) {
    with = std::min(with, seconds_of(tiles, inputs, runs));
    without = std::min(without, seconds_of(whole, inputs, runs));
  }
  std::printf(
      "{\"case\": \"%s\", \"us\": %.2f, \"us_without\": %.2f, \"bytes\": %ld, "
      "\"bytes_without\": %ld}\n",
      name.c_str(), 1e6 * with, 1e6 * without, static_cast<long>(tiles.memory_bytes()),
      static_cast<long>(whole.memory_bytes()));
}

void measure(const std::string& name, const TensorFunction& f, Tensors inputs, bool joint) {
  if (!joint) return compare(name, capture::forward(f, inputs), inputs);
  for (const Tensor& input : inputs) {
    if (input.is_floating_point()) input.requires_grad_();
  }
  ir::Graph graph = capture::joint(f, inputs);
  for (Tensor& input : inputs) input = input.detach();
  for (size_t i = inputs.size(); i < graph.inputs.size(); i++) {  // tangents
    const ir::ValueInfo& info = graph.values[graph.inputs[i]];
    inputs.push_back(to(randn(info.sizes), info.dtype));
  }
  compare(name + " and backward", graph, inputs);
}

void measure_all(int64_t rows, int64_t n) {
  Tensor x = randn({rows, n}), y = randn({rows, n}), weight = randn({n}), bias = randn({n});
  std::string sizes = " " + text(x.sizes());
  for (bool joint : {false, true}) {
    measure(
        "scale mask softmax mul" + sizes,
        [](const Tensors& t) -> Tensors { return {softmax(t[0] * 0.125 + t[1], -1) * t[2]}; },
        {x, bias, y}, joint);
    measure(
        "add layer_norm gelu" + sizes,
        [n](const Tensors& t) -> Tensors {
          return {gelu(layer_norm(t[0] + t[1], {n}, t[2], t[3]))};
        },
        {x, y, weight, bias}, joint);
    measure(
        "add rms_norm silu" + sizes,
        [n](const Tensors& t) -> Tensors { return {silu(rms_norm(t[0] + t[1], {n}, t[2]))}; },
        {x, y, weight}, joint);
  }
  measure(
      "bias cross_entropy" + sizes,
      [](const Tensors& t) -> Tensors { return {cross_entropy(t[0] + t[2], t[1])}; },
      {x, randint(0, n, {rows}), bias}, true);
}

}  // namespace
}  // namespace fg::bench

int main() {
  fg::pool::set_num_threads(1);
  const int64_t sizes[][2] = {{128, 256},  {256, 512},   {1024, 512}, {8192, 128},
                              {8192, 512}, {1024, 2048}, {64, 32768}};
  for (const auto& [rows, n] : sizes) fg::bench::measure_all(rows, n);
}
