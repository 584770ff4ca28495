// Steps that run by tiles of rows: the bits of the interpreter, whatever the threads, and nothing
// in the block that only their members read.
#include <cmath>

#include "base/pool.h"
#include "base/trace.h"
#include "codegen/executable.h"
#include "foregrad.h"
#include "graphs.h"
#include "tests/error_of.h"
#include "tests/passes/random_graph.h"
#include "tests/schedule/tile_limits.h"

namespace fg::codegen {
namespace {

using capture::TensorFunction;
using passes::bits;
using schedule::TileEverything;

std::vector<std::string> all_bits(const Tensors& tensors) {
  std::vector<std::string> result;
  for (const Tensor& tensor : tensors) result.push_back(bits(tensor));
  return result;
}
Tensors clones(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.clone());
  return result;
}

size_t tiles_in(const ir::Graph& graph) {
  Listing listing;
  Executable code(schedule::make_schedule(graph), &listing);
  return static_cast<size_t>(std::count_if(listing.steps.begin(), listing.steps.end(),
                                           [](const auto& step) { return step.is_tiled(); }));
}

// As the interpreter, with several sizes of tiles, with any number of threads, also when stored.
void expect_same(const ir::Graph& graph, const Tensors& inputs, const std::string& what) {
  std::vector<std::string> expected = all_bits(ir::Runner(graph).run(inputs));
  for (int64_t tile_bytes : {1, 3000}) {
    TileEverything all(tile_bytes);
    Executable code(schedule::make_schedule(graph)), loaded(code.stored(), code.object());
    for (int threads : {1, 2, 3, 7}) {
      pool::set_num_threads(threads);
      EXPECT_EQ(all_bits(code.run(inputs)), expected) << what << ", " << threads << " threads";
      EXPECT_EQ(all_bits(loaded.run(inputs)), expected) << what << ", stored";
      EXPECT_EQ(all_bits(code.run(clones(inputs))), expected) << what << ", handed over";
    }
    EXPECT_EQ(loaded.stored(), code.stored());
  }
  pool::set_num_threads(2);
}
void expect_tiles(const TensorFunction& f, const Tensors& inputs, const std::string& what) {
  ir::Graph graph = capture::forward(f, inputs);
  TileEverything all;
  EXPECT_GT(tiles_in(graph), 0u) << what << graph.text();
  expect_same(graph, inputs, what);
}
// Forward and backward, of arguments that need gradients.
void expect_tiles_joint(const TensorFunction& f, Tensors inputs, const std::string& what) {
  for (Tensor& input : inputs) {
    if (input.is_floating_point()) input.requires_grad_();
  }
  ir::Graph graph = capture::joint(f, inputs);
  for (Tensor& input : inputs) input = input.detach();
  for (size_t i = inputs.size(); i < graph.inputs.size(); i++) {
    const ir::ValueInfo& info = graph.values[graph.inputs[i]];
    inputs.push_back(to(randn(info.sizes), info.dtype));
  }
  graph.consumable = graph.inputs;
  TileEverything all;
  EXPECT_GT(tiles_in(graph), 0u) << what << graph.text();
  expect_same(graph, inputs, what);
}

constexpr DType kDTypes[] = {kFloat32, kFloat64, kBFloat16};

TEST(Tiles, softmax_between_elementwise_work) {
  for (DType dtype : kDTypes) {
    for (const Dims& sizes : {Dims{5, 7}, Dims{3, 2, 33}, Dims{2, 3, 5, 17}, Dims{6, 1037}}) {
      Dims row{sizes.back()}, column = sizes;
      column.back() = 1;
      Tensors inputs{to(randn(sizes), dtype), to(randn(row), dtype), to(randn(column), dtype)};
      auto f = [](const Tensors& x) -> Tensors {
        return {softmax(x[0] * 0.5 + x[1], -1) * x[2], log_softmax(x[0] + x[2], -1).tanh()};
      };
      std::string what = text(sizes) + std::string(name(dtype));
      expect_tiles(f, inputs, what);
      expect_tiles_joint(f, inputs, what);
    }
  }
}

TEST(Tiles, softmax_of_other_dimensions_and_broadcast_masks) {
  Tensors inputs{randn({4, 3, 6, 9}), randn({4, 1, 6, 9}), randn({3, 1, 1}), randn({6, 1})};
  for (int64_t dim : {1, 2, 3}) {
    auto f = [dim](const Tensors& x) -> Tensors {
      Tensor y = softmax(x[0] * x[2] + x[1], dim);
      return {y * x[3], sum(y, Dims{3}), y.sin()};
    };
    expect_tiles(f, inputs, std::to_string(dim));
    expect_tiles_joint(f, inputs, std::to_string(dim));
  }
}

TEST(Tiles, normalisations_between_elementwise_work) {
  for (DType dtype : kDTypes) {
    for (const Dims& sizes : {Dims{6, 7}, Dims{3, 5, 48}, Dims{4, 1030}}) {
      Dims row{sizes.back()};
      Tensors inputs{to(randn(sizes), dtype), to(randn(sizes), dtype), to(randn(row), dtype),
                     to(randn(row), dtype)};
      std::string what = text(sizes) + std::string(name(dtype));
      auto layer = [&](const Tensors& x) -> Tensors {
        Tensor sum = x[0] + x[1];
        return {gelu(layer_norm(sum, row, x[2], x[3])), sum};
      };
      expect_tiles(layer, inputs, "layer_norm " + what);
      expect_tiles_joint(layer, inputs, "layer_norm " + what);
      auto rms = [&](const Tensors& x) -> Tensors {
        return {rms_norm(x[0] * x[1], row, x[2]) * x[3]};
      };
      expect_tiles(rms, inputs, "rms_norm " + what);
      expect_tiles_joint(rms, inputs, "rms_norm " + what);
    }
  }
}

TEST(Tiles, group_norm_and_its_gradient) {
  Tensors inputs{randn({4, 6, 5, 5}), randn({6}), randn({6})};
  auto f = [](const Tensors& x) -> Tensors {
    return {relu(group_norm(x[0].sin(), 3, x[1], x[2]))};
  };
  expect_tiles(f, inputs, "group_norm");
  expect_tiles_joint(f, inputs, "group_norm");
}

TEST(Tiles, losses_of_classes) {
  for (DType dtype : kDTypes) {
    Tensor classes = tensor({3, 0, -100, 5, 1, 6, 2}, kInt64);
    Tensors inputs{to(randn({7, 7}), dtype), classes, to(randn({7}), dtype)};
    for (const char* reduction : {"mean", "sum", "none"}) {
      auto f = [&](const Tensors& x) -> Tensors {
        return {cross_entropy(x[0] * 2 + x[2], x[1], {}, -100, std::string(reduction)) * 0.5};
      };
      expect_tiles_joint(f, inputs, reduction);
    }
  }
}

TEST(Tiles, keep_special_values) {
  double nan = std::nan(""), inf = INFINITY;
  Tensor x = tensor({0.0, -0.0, nan, inf, -inf, 1e308, 5e-324, -1.0, inf, inf, 2.0, -inf, -inf,
                     -inf, -inf, 0.5, 3.0, -3.0},
                    kFloat64)
                 .reshape({6, 3});
  for (DType dtype : kDTypes) {
    auto f = [](const Tensors& x) -> Tensors {
      Tensor y = x[0] * 1.0;
      return {softmax(y, 1) + 1, log_softmax(y, 1) * 2, layer_norm(y, {3}) * 2,
              amax(softmax(y, 1), Dims{1}), sum(y.sin() * y, Dims{1}) + 1};
    };
    expect_tiles(f, {to(x, dtype)}, std::string(name(dtype)));
  }
}

TEST(Tiles, random_graphs) {
  for (uint32_t seed = 0; seed < 120; seed++) {
    TileEverything all;
    ir::Graph graph = passes::RandomGraph(seed).make(10 + seed % 30, seed % 2);
    graph.consumable = graph.inputs;
    Tensors inputs = passes::some_inputs(graph);
    Executable code(schedule::make_schedule(graph));
    auto expected = passes::run_bits(graph, inputs);
    ASSERT_EQ(all_bits(code.run(inputs)), expected) << seed << graph.text();
    ASSERT_EQ(all_bits(code.run(clones(inputs))), expected) << seed << graph.text();
  }
}

// The new elements of %1 lie where the old ones were: only the last member reads those. Of %0 the
// first one reads what the last one would overwrite.
TEST(Tiles, put_new_elements_of_an_input_where_one_member_alone_reads_the_old_ones) {
  ir::Graph graph = ir::parse_graph(R"(graph(%0: float32[9, 8] argument 0,
      %1: float32[9, 8] argument 1) {
    %2: float32[9, 8] = sin(%0)
    %3: float32[9, 8] = softmax(%2; dim=1)
    %4: float32[9, 8] = mul(%3, %1)
    %5: float32[9, 8] = add(%3, %0)
    return %5: mutation 0, %4: mutation 1
  })");
  graph.overwrites = true;
  Tensors inputs = passes::some_inputs(graph);
  auto expected = passes::run_bits(graph, inputs);
  TileEverything all(64);
  ASSERT_EQ(tiles_in(graph), 1u);
  Executable code(schedule::make_schedule(graph)), loaded(code.stored(), code.object());
  for (const Executable* one : {&code, &loaded}) {
    Tensors given = clones(inputs), results = one->run(given);
    EXPECT_EQ(all_bits(results), expected);
    EXPECT_NE(results[0].data_ptr(), given[0].data_ptr());
    EXPECT_EQ(results[1].data_ptr(), given[1].data_ptr());
  }
}

TEST(Tiles, nothing_in_the_block_that_only_members_read) {
  Tensors inputs{randn({4096, 512}), randn({512}), randn({4096, 512})};
  auto f = [](const Tensors& x) -> Tensors { return {softmax(x[0] * 2 + x[1], 1) * x[2]}; };
  ir::Graph graph = capture::forward(f, inputs);
  Listing listing;
  Executable code(schedule::make_schedule(graph), &listing);  // of this size without being told to
  EXPECT_EQ(code.memory_bytes(), 0);
  ASSERT_EQ(listing.steps.size(), 1u);
  EXPECT_EQ(listing.steps[0].members.size(), 3u);
  EXPECT_EQ(listing.steps[0].name,
            "mul add -> [4096, 512] | softmax [4096, 512] -> [4096, 512] | mul -> [4096, 512]");
  EXPECT_EQ(code.loop_count(), 2u);
  EXPECT_EQ(all_bits(code.run(inputs)), all_bits(ir::Runner(graph).run(inputs)));
  timing::Collector collector(timing::Collector::Of::everything);
  code.run(inputs);
  std::vector<timing::Time> times = collector.take();
  ASSERT_EQ(times.size(), 1u);  // as FOREGRAD_TRACE writes it
  EXPECT_EQ(times[0].name, listing.steps[0].name);
}

TEST(Tiles, stored_ones_that_are_not_whole_are_refused) {
  TileEverything all;
  Tensors inputs{randn({6, 4})};
  auto f = [](const Tensors& x) -> Tensors { return {softmax(x[0].sin(), 1) * 2}; };
  Executable made(schedule::make_schedule(capture::forward(f, inputs)));
  std::string stored = made.stored();
  for (size_t length = 0; length < stored.size(); length += 5) {
    EXPECT_THROW(Executable(stored.substr(0, length), made.object()), Error) << length;
  }
}

TEST(Tiles, an_error_in_a_member_is_the_error_of_the_interpreter) {
  Tensors inputs{randn({6, 4}), tensor({{0}, {1}, {2}, {3}, {0}, {1}}, kInt64)};
  auto f = [](const Tensors& x) -> Tensors { return {gather(x[0].sin(), 1, x[1]) * 2}; };
  ir::Graph graph = capture::forward(f, inputs);
  TileEverything all;
  ASSERT_EQ(tiles_in(graph), 1u);
  Executable code(schedule::make_schedule(graph));
  inputs[1] = tensor({{0}, {1}, {2}, {3}, {9}, {1}}, kInt64);
  std::string expected = error_of([&] { ir::Runner(graph).run(inputs); });
  EXPECT_NE(expected.find("index 9 is out of bounds"), expected.npos) << expected;
  EXPECT_EQ(error_of([&] { code.run(inputs); }), expected);
}

}  // namespace
}  // namespace fg::codegen
