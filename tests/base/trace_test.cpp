// Spans, phases and collectors.
#include "base/trace.h"

#include <gtest/gtest.h>

#include <thread>

namespace fg::timing {
namespace {

TEST(Trace, costs_nothing_without_a_file_and_without_a_collector) {
  EXPECT_FALSE(enabled());
  {
    Collector phases;
    EXPECT_FALSE(enabled());  // phases are measured anyway, hot code is not
    Collector all(Collector::Of::everything);
    EXPECT_TRUE(enabled());
  }
  EXPECT_FALSE(enabled());
}

TEST(Trace, a_collector_gets_phases_in_the_order_in_which_they_began_with_notes_and_depths) {
  Collector collector;
  {
    Phase outer("outer");
    {
      Phase inner("inner");
    }
    outer.note("a note");
    Span hot("step", "not measured");
  }
  {
    Phase last("last");
  }
  std::vector<Time> times = collector.take();
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].name, "outer");
  EXPECT_EQ(times[0].note, "a note");
  EXPECT_STREQ(times[0].category, "phase");
  EXPECT_EQ(times[1].name, "inner");
  EXPECT_EQ(times[2].name, "last");
  EXPECT_EQ(times[0].depth, 0);
  EXPECT_EQ(times[1].depth, 1);
  EXPECT_EQ(times[2].depth, 0);
  EXPECT_GE(times[0].begin, 0);
  EXPECT_GE(times[0].end, times[1].end);
  EXPECT_GE(times[0].seconds(), times[1].seconds());
  EXPECT_TRUE(collector.take().empty());
}

TEST(Trace, a_collector_of_everything_gets_the_spans_of_its_own_thread_alone) {
  Collector collector(Collector::Of::everything);
  std::thread([] { Span other("step", "of another thread"); }).join();
  {
    Span mine("step", "mine");
  }
  std::vector<Time> times = collector.take();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].name, "mine");
}

TEST(Trace, of_nested_collectors_the_inner_one_gets_what_ends_while_it_lives) {
  Collector outer;
  {
    Collector inner;
    {
      Phase phase("inner");
    }
    EXPECT_EQ(inner.take().size(), 1u);
  }
  {
    Phase phase("outer");
  }
  std::vector<Time> times = outer.take();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].name, "outer");
}

}  // namespace
}  // namespace fg::timing
