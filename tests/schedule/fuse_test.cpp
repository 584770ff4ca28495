// Operations that become one loop, and the places in memory of the values that they keep.
#include "schedule/fuse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/batch.h"
#include "schedule/plan_memory.h"
#include "tests/passes/random_graph.h"

namespace fg::schedule {
namespace {

using passes::RandomGraph;

// "loop sin mul; sum": the groups in their order.
std::string groups_of(const char* text) {
  ir::Graph graph = ir::parse_graph(text);
  std::string out;
  for (const Group& group : fuse(graph, find_places(graph))) {
    if (!out.empty()) out += "; ";
    if (group.loop) out += "loop ";
    std::vector<std::string> names;
    for (uint32_t index : group.operations)
      names.push_back(graph.operations[index].primitive->name);
    out += fmt::format("{}", fmt::join(names, " "));
  }
  return out;
}

TEST(Fuse, joins_a_chain_of_elementwise_operations) {
  EXPECT_EQ(groups_of(R"(graph(%0: float32[8] argument 0, %1: float32[8] argument 1) {
    %2: float32[8] = sin(%0)
    %3: float32[8] = mul(%2, %1)
    %4: float32[8] = tanh(%3)
    return %4: output 0
  })"),
            "loop sin mul tanh");
}

TEST(Fuse, ends_loops_at_what_needs_all_elements) {
  EXPECT_EQ(groups_of(R"(graph(%0: float32[4, 4] argument 0) {
    %1: float32[4, 4] = sin(%0)
    %2: float32[4, 4] = mm(%1, %0)
    %3: float32[4, 4] = tanh(%2)
    return %3: output 0
  })"),
            "loop sin; mm; loop tanh");
}

TEST(Fuse, reads_views_from_memory) {
  EXPECT_EQ(groups_of(R"(graph(%0: float32[4, 4] argument 0) {
    %1: float32[4, 4] = sin(%0)
    %2: float32[4, 4] strides [1, 4] = t(%1)
    %3: float32[4, 4] = mul(%1, %2)
    return %3: output 0
  })"),
            "loop sin; loop mul");
}

TEST(Fuse, moves_a_loop_to_the_one_that_reads_it) {
  // The product of the input alone waits for the loop after the matrix product.
  EXPECT_EQ(groups_of(R"(graph(%0: float32[4, 4] argument 0) {
    %1: float32[4, 4] = mul(%0, %0)
    %2: float32[4, 4] = mm(%0, %0)
    %3: float32[4, 4] = add(%1, %2)
    return %3: output 0
  })"),
            "mm; loop mul add");
}

TEST(Fuse, joins_what_reads_the_same) {
  EXPECT_EQ(groups_of(R"(graph(%0: float32[8] argument 0) {
    %1: float32[8] = sin(%0)
    %2: float32[8] = cos(%0)
    return %1: output 0, %2: output 1
  })"),
            "loop sin cos");
}

// Two values that are in use at the same time have no byte in common, be it in the block or in the
// memory of inputs that are consumed; those are in use until their last read.
void expect_apart(const ir::Graph& graph, bool consume) {
  std::vector<Place> places = find_places(graph);
  std::vector<Group> groups = fuse(graph, places);
  batch(graph, places, groups);
  std::vector<size_t> ends = ends_of_steps(groups);
  MemoryPlan plan = plan_memory(graph, places, groups, consume);
  for (ir::ValueId input : plan.consumed) {
    EXPECT_EQ(plan.offsets[input], MemoryPlan::kNotPlanned);
    plan.offsets[input] = 0;
    plan.inside[input] = input;
  }
  std::vector<size_t> first(graph.values.size()), last(graph.values.size());
  for (size_t g = 0; g < groups.size(); g++) {
    for (uint32_t index : groups[g].operations) {
      const ir::Operation& operation = graph.operations[index];
      first[operation.output] = last[operation.output] = ends[g];
      for (ir::ValueId input : operation.inputs) last[places[input].root] = ends[g];
    }
  }
  for (ir::ValueId a = 0; a < graph.values.size(); a++) {
    int64_t from = plan.offsets[a], bytes = span_bytes(graph.values[a]);
    if (from < 0) continue;
    EXPECT_EQ(from % 64, 0);
    ir::ValueId inside = plan.inside[a];
    EXPECT_LE(from + bytes, inside == ir::kNoValue ? plan.bytes : span_bytes(graph.values[inside]));
    for (ir::ValueId b = 0; b < a; b++) {
      int64_t other = plan.offsets[b];
      bool together =
          other >= 0 && inside == plan.inside[b] && first[a] <= last[b] && first[b] <= last[a];
      size_t meet = std::max(first[a], first[b]);
      bool over = from == other && meet == std::min(last[a], last[b]) && groups[meet].loop &&
                  !groups[meet].beside;
      if (!together || over) continue;  // element by element over what is read for the last time
      bool apart = from + bytes <= other || other + span_bytes(graph.values[b]) <= from;
      ASSERT_TRUE(apart) << a << " and " << b << graph.text();
    }
  }
}

TEST(PlanMemory, keeps_values_apart_while_they_are_used) {
  for (uint32_t seed = 0; seed < 1000; seed++) {
    expect_apart(RandomGraph(seed).make(10 + seed % 40, seed % 2), false);
  }
}

TEST(PlanMemory, keeps_values_apart_in_the_memory_of_inputs) {
  size_t consumed = 0;
  for (uint32_t seed = 0; seed < 1000; seed++) {
    ir::Graph graph = RandomGraph(seed).make(10 + seed % 40, seed % 2);
    graph.consumable = graph.inputs;
    expect_apart(graph, true);
    std::vector<Place> places = find_places(graph);
    std::vector<Group> groups = fuse(graph, places);
    MemoryPlan plain = plan_memory(graph, places, groups);
    MemoryPlan plan = plan_memory(graph, places, groups, true);
    EXPECT_EQ(plan.stored, plain.stored);
    EXPECT_TRUE(plain.consumed.empty());
    consumed += plan.consumed.size();
  }
  EXPECT_GT(consumed, 500u);
}

// The memory plan of a graph whose inputs from the first on may be consumed.
MemoryPlan consuming_plan(const char* text, size_t first, size_t end) {
  ir::Graph graph = ir::parse_graph(text);
  graph.consumable.assign(graph.inputs.begin() + static_cast<int64_t>(first),
                          graph.inputs.begin() + static_cast<int64_t>(end));
  std::vector<Place> places = find_places(graph);
  return plan_memory(graph, places, fuse(graph, places), true);
}

// A backward through three layers: %0 is what comes in, %1 to %3 were saved.
constexpr const char* kBackward = R"(graph(%0: float32[8, 8] tangent 0, %1: float32[8, 8] saved 0,
    %2: float32[8, 8] saved 1, %3: float32[8, 8] saved 2) {
    %4: float32[8, 8] = mul(%0, %3)
    %5: float32[8, 8] = mm(%4, %0)
    %6: float32[8, 8] = mul(%5, %2)
    %7: float32[8, 8] = mm(%6, %0)
    %8: float32[8, 8] = mul(%7, %1)
    %9: float32[8, 8] = mm(%8, %0)
    return %9: gradient 0
  })";

TEST(PlanMemory, puts_values_where_inputs_were_that_are_read_for_the_last_time) {
  EXPECT_EQ(consuming_plan(kBackward, 1, 1).bytes, 2 * 8 * 8 * 4);
  MemoryPlan plan = consuming_plan(kBackward, 1, 4);
  EXPECT_EQ(plan.inside[4], 3u);  // element by element over what it reads
  EXPECT_EQ(plan.offsets[4], 0);
  EXPECT_EQ(plan.inside[5], ir::kNoValue);  // nothing is free yet
  EXPECT_EQ(plan.inside[7], 3u);            // %4 was read
  EXPECT_EQ(plan.bytes, 8 * 8 * 4);
}

TEST(PlanMemory, leaves_inputs_that_are_results_or_seen_through_their_storage) {
  MemoryPlan plan = consuming_plan(R"(graph(%0: float32[8] saved 0, %1: float32[8] saved 1) {
    %2: float32[8] = sin(%0)
    %3: float32[4] = as_strided(%1; size=[4], stride=[1], offset=0, input_sizes=[8],
      input_strides=[1], input_offset=0)
    %4: float32[8] = cumsum(%2; dim=0, reverse=false)
    %5: float32[8] = exp(%4)
    %6: float32[8] = cumsum(%5; dim=0, reverse=false)
    %7: float32[4] = exp(%3)
    %8: float32[2, 4] = view(%0; size=[2, 4])
    return %6: output 0, %7: output 1, %8: output 2
  })",
                                   0, 2);
  EXPECT_EQ(plan.consumed, std::vector<ir::ValueId>{});
}

TEST(PlanMemory, uses_an_input_up_to_its_last_byte_and_not_beyond) {
  auto bytes = [](int size) {  // %3 has `size` bytes; %0, whose 100 bytes are free then, 25 floats
    return consuming_plan(fmt::format(R"(graph(%0: float32[25] saved 0, %1: uint8[{0}] saved 1) {{
      %2: float32[] = sum(%0; dim=[0], keepdim=false)
      %3: uint8[{0}] = cumsum(%1; dim=0, reverse=false)
      %4: uint8[{0}] = cumsum(%3; dim=0, reverse=false)
      return %2: output 0, %4: output 1
    }})",
                                      size)
                              .c_str(),
                          0, 1)
        .bytes;
  };
  EXPECT_EQ(bytes(100), 0);
  EXPECT_EQ(bytes(101), 128);
}

TEST(PlanMemory, uses_memory_again) {
  ir::Graph graph = ir::parse_graph(R"(graph(%0: float32[64, 64] argument 0) {
    %1: float32[64, 64] = mm(%0, %0)
    %2: float32[64, 64] = mm(%1, %1)
    %3: float32[64, 64] = mm(%2, %2)
    %4: float32[64, 64] = mm(%3, %3)
    %5: float32[64, 64] = mm(%4, %4)
    return %5: output 0
  })");
  std::vector<Place> places = find_places(graph);
  EXPECT_EQ(plan_memory(graph, places, fuse(graph, places)).bytes, 2 * 64 * 64 * 4);
}

TEST(PlanMemory, puts_results_of_a_loop_over_what_it_reads_for_the_last_time) {
  ir::Graph graph = ir::parse_graph(R"(graph(%0: float32[64, 64] argument 0) {
    %1: float32[64, 64] = mm(%0, %0)
    %2: float32[64, 64] = sin(%1)
    %3: float32[64, 64] = mm(%2, %0)
    return %3: output 0
  })");
  std::vector<Place> places = find_places(graph);
  EXPECT_EQ(plan_memory(graph, places, fuse(graph, places)).bytes, 64 * 64 * 4);
}

}  // namespace
}  // namespace fg::schedule
