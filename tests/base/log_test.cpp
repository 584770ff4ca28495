#include "base/log.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/base/child_process.h"

namespace logging = fg::logging;

TEST_CHILD(Log, write) {
  try {
    logging::write<"hit {}">(logging::Topic::cache, 7);
    logging::write<"worker {}">(logging::Topic::pool, "one");
  } catch (const fg::Error& e) {
    printf("error %s\n", e.what());
  }
}

TEST(Log, is_silent_without_topics) {
  std::string output = run_child("Log.write", "-u FOREGRAD_LOG").output;
  EXPECT_EQ(output.find("foregrad "), std::string::npos) << output;
}

TEST(Log, prints_the_chosen_topics_only) {
  std::string output = run_child("Log.write", "FOREGRAD_LOG=graph,cache").output;
  EXPECT_NE(output.find("foregrad cache: hit 7\n"), std::string::npos) << output;
  EXPECT_EQ(output.find("worker one"), std::string::npos) << output;
}

TEST(Log, all_means_every_topic) {
  std::string output = run_child("Log.write", "FOREGRAD_LOG=all").output;
  EXPECT_NE(output.find("foregrad cache: hit 7\n"), std::string::npos) << output;
  EXPECT_NE(output.find("foregrad pool: worker one\n"), std::string::npos) << output;
}

TEST(Log, an_unknown_topic_is_an_error_that_lists_the_known_ones) {
  std::string output = run_child("Log.write", "FOREGRAD_LOG=cache,grpah").output;
  EXPECT_NE(output.find("error FOREGRAD_LOG: got \"cache,grpah\" with topic \"grpah\"; expected "
                        "topics separated by commas: pool, graph, cache, compile or all\n"),
            std::string::npos)
      << output;
}

TEST(Log, warn_once_says_each_text_once) {
  static std::string said;
  logging::set_warning_handler([](const std::string& text) { said += text + "|"; });
  for (int i = 0; i < 3; ++i) {
    logging::warn_once<"slow: {}">(i);
    logging::warn_once<"other">();
  }
  logging::set_warning_handler(nullptr);
  EXPECT_EQ(said, "slow: 0|other|");
}

TEST(Log, warnings_go_to_standard_error_when_nobody_takes_them) {
  testing::internal::CaptureStderr();
  logging::warn("take care");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "foregrad warning: take care\n");
}
