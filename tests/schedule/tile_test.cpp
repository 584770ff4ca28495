// Groups that work on the same rows run together by tiles.
#include "schedule/tile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/schedule/tile_limits.h"

namespace fg::schedule {
namespace {

struct Tiled {
  ir::Graph graph;
  std::vector<Place> places;
  std::vector<Group> groups;

  explicit Tiled(const char* text)
      : graph(ir::parse_graph(text)), places(find_places(graph)), groups(fuse(graph, places)) {
    tile(graph, places, groups);
  }
  // "mul add | softmax by 6; mm": steps in their order, members and rows of tiles.
  std::string text() const {
    std::string out;
    for (size_t g = 0; g < groups.size(); g++) {
      const Group& group = groups[g];
      if (!out.empty()) out += group.tiled ? " | " : "; ";
      std::string names;
      for (uint32_t index : group.operations) {
        if (!names.empty()) names += " ";
        names += graph.operations[index].primitive->name;
      }
      out += names;
      bool last = g + 1 == groups.size() || !groups[g + 1].tiled;
      if (group.rows > 0 && last) out += fmt::format(" by {}", group.rows);
    }
    return out;
  }
  MemoryPlan memory() const { return plan_memory(graph, places, groups); }
};

std::string tiles_of(const char* text) {
  TileEverything all;
  return Tiled(text).text();
}

constexpr const char* kSoftmax = R"(graph(%0: float32[2, 3, 40] argument 0,
    %1: float32[40] argument 1, %2: float32[2, 3, 40] argument 2) {
    %3: float32[2, 3, 40] = add(%0, %1)
    %4: float32[2, 3, 40] = softmax(%3; dim=-1)
    %5: float32[2, 3, 40] = mul(%4, %2)
    return %5: output 0
  })";

TEST(Tile, joins_a_softmax_with_the_loops_around_it) {
  EXPECT_EQ(tiles_of(kSoftmax), "add | softmax | mul by 6");
}

// It would be written all the same.
TEST(Tile, leaves_alone_what_others_read_or_the_caller_gets) {
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = softmax(%1; dim=1)
    return %2: output 0, %1: output 1
  })"),
            "sin; softmax");
}

TEST(Tile, leaves_small_work_as_it_is) { EXPECT_EQ(Tiled(kSoftmax).text(), "add; softmax; mul"); }

TEST(Tile, keeps_what_only_members_read_out_of_the_block) {
  TileEverything all;
  Tiled tiled(kSoftmax);
  MemoryPlan memory = tiled.memory();
  EXPECT_EQ(memory.bytes, 0);
  EXPECT_TRUE(memory.local[3] && memory.local[4] && !memory.local[5]);
  Tile tile = plan_tile(tiled.graph, tiled.places, tiled.groups, memory);
  EXPECT_EQ(tile.rows, 6);
  EXPECT_EQ(tile.height, 1);  // 300 bytes
  ASSERT_EQ(tile.locals.size(), 2u);
  EXPECT_EQ(tile.locals[0].row_bytes, 160);
  EXPECT_EQ(tile.bytes, 2 * 192);
}

TEST(Tile, takes_the_finest_cut_that_all_members_allow) {
  // A softmax over the middle dimension: only the first one is free.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[4, 3, 40] argument 0) {
    %1: float32[4, 3, 40] = sin(%0)
    %2: float32[4, 3, 40] = softmax(%1; dim=1)
    %3: float32[4, 3, 40] = log_softmax(%2; dim=2)
    return %3: output 0
  })"),
            "sin | softmax | log_softmax by 4");
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[4, 3, 40] argument 0) {
    %1: float32[4, 3, 40] = sin(%0)
    %2: float32[4, 3, 40] = softmax(%1; dim=0)
    return %2: output 0
  })"),
            "sin; softmax");
}

TEST(Tile, follows_views_that_leave_rows_where_they_are) {
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[4, 3, 40] argument 0) {
    %1: float32[4, 3, 40] = sin(%0)
    %2: float32[12, 40] = unsafe_view(%1; size=[12, 40])
    %3: float32[12, 40] = softmax(%2; dim=1)
    return %3: output 0
  })"),
            "sin | softmax by 12");
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[40, 40] argument 0) {
    %1: float32[40, 40] = sin(%0)
    %2: float32[40, 40] strides [1, 40] = t(%1)
    %3: float32[40, 40] = softmax(%2; dim=1)
    return %3: output 0
  })"),
            "sin; softmax");
}

TEST(Tile, takes_reductions_of_rows_and_what_is_made_of_them) {
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[9, 80] argument 0, %1: float32[80] argument 1) {
    %2: float32[9, 80] = add(%0, %1)
    %3: float32[9, 80] = mul(%2, %2)
    %4: float32[9, 1] = mean(%3; dim=[1], keepdim=true)
    %5: float32[9, 1] = rsqrt(%4)
    %6: float32[9, 80] = mul(%2, %5)
    return %6: output 0
  })"),
            "add mul mean | rsqrt | mul by 9");
  // Over rows: all of them make a result.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[9, 80] argument 0) {
    %1: float32[9, 80] = softmax(%0; dim=1)
    %2: float32[80] = sum(%1; dim=[0], keepdim=false)
    return %2: output 0
  })"),
            "softmax; sum");
}

TEST(Tile, takes_losses_of_classes) {
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[9, 80] argument 0, %1: int64[9, 1] argument 1,
      %2: float32[9, 1] tangent 0) {
    %3: float32[9, 80] = log_softmax(%0; dim=1)
    %4: float32[9, 1] = gather(%3, %1; dim=1)
    %5: float32[9, 1] = neg(%4)
    %6: float32[9, 80] = scatter(none, %1, %2; dim=1, combine=1, sizes=[9, 80])
    %7: float32[9, 80] = log_softmax_backward(%6, %3; dim=1)
    %8: float32[9, 80] = mul(%7, %0)
    return %5: output 0, %8: gradient 0
  })"),
            "log_softmax | gather | neg | scatter | log_softmax_backward | mul by 9");
}

TEST(Tile, runs_where_all_that_is_read_is_there) {
  // The product reads the tile: an operation that reads both cannot join it.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = softmax(%1; dim=1)
    %3: float32[8, 8] = mm(%2, %2)
    %4: float32[8, 8] = mul(%2, %3)
    return %4: output 0
  })"),
            "sin | softmax by 8; mm; mul");
  // A loop that needs no later value joins the tile, though the product came first.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = softmax(%1; dim=1)
    %3: float32[8, 8] = mm(%2, %2)
    %4: float32[8, 8] = softmax(%2; dim=1)
    return %4: output 0, %3: output 1
  })"),
            "sin | softmax | softmax by 8; mm");
  // A loop moves down to its tile when no operation reads its value before.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = softmax_backward(%1, %2; dim=1)
    return %3: output 0
  })"),
            "mm; sin | softmax_backward by 8");
}

TEST(Tile, moves_nothing_that_would_need_more_memory) {
  // The two products would have to wait for the third.
  EXPECT_EQ(tiles_of(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = mm(%0, %0)
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = add(%1, %2)
    %4: float32[8, 8] = mm(%0, %0)
    %5: float32[8, 8] = softmax_backward(%3, %4; dim=1)
    %6: float32[8, 8] = cos(%5)
    return %6: output 0
  })"),
            "mm; mm; add; mm; softmax_backward | cos by 8");
  // A wider result would wait where a narrow one does now.
  auto late = [](const char* dtype) {
    return tiles_of(fmt::format(R"(graph(%0: float32[8, 8] argument 0) {{
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = softmax(%1; dim=1)
    %3: float32[8, 8] = mm(%2, %2)
    %4: {0}[8, 8] = convert(%2; dtype={0})
    %5: float32[8, 8] = mm(%3, %3)
    %6: {0}[8, 8] = mm(%4, %4)
    return %5: output 0, %6: output 1
  }})",
                                dtype)
                        .c_str());
  };
  EXPECT_EQ(late("bfloat16"), "sin | softmax | convert by 8; mm; mm; mm");
  EXPECT_EQ(late("float64"), "sin | softmax by 8; mm; convert; mm; mm");
}

TEST(Tile, puts_results_over_what_a_member_alone_reads_for_the_last_time) {
  TileEverything all;
  Tiled tiled(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 8] argument 1) {
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = add(%2, %1)
    %4: float32[8, 8] = softmax(%3; dim=1)
    %5: float32[8, 8] = sin(%4)
    %6: float32[8, 8] = mm(%5, %3)
    return %6: output 0
  })");
  EXPECT_EQ(tiled.text(), "mm; add | softmax | sin by 8; mm");
  MemoryPlan memory = tiled.memory();
  EXPECT_EQ(memory.offsets[3], memory.offsets[2]);
  EXPECT_NE(memory.offsets[5], memory.offsets[2]);
  EXPECT_TRUE(memory.local[4]);
  EXPECT_EQ(memory.bytes, 2 * 256);
}

TEST(Tile, does_not_overwrite_what_another_member_reads) {
  TileEverything all;
  Tiled tiled(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = mm(%0, %0)
    %2: float32[8, 8] = sin(%1)
    %3: float32[8, 8] = softmax_backward(%2, %1; dim=1)
    %4: float32[8, 8] = cos(%3)
    %5: float32[8, 8] = mm(%4, %2)
    return %5: output 0
  })");
  EXPECT_EQ(tiled.text(), "mm; sin | softmax_backward | cos by 8; mm");
  MemoryPlan memory = tiled.memory();
  EXPECT_NE(memory.offsets[2], memory.offsets[1]);
  EXPECT_NE(memory.offsets[4], memory.offsets[1]);
}

}  // namespace
}  // namespace fg::schedule
