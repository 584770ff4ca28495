// The level is read once per process, so each forced level runs in a process of its own.
#include "base/level.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/base/child_process.h"

namespace {

bool cpu_has_v3() {
#if FG_HAS_V3
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

std::string level_under(const std::string& settings) {
  return run_this_test(settings, "Level.DISABLED_print").output;
}

}  // namespace

TEST(Level, DISABLED_print) {
  try {
    printf("level is %s\n", fg::name(fg::level()));
  } catch (const fg::Error& e) {
    printf("error is %s\n", e.what());
    EXPECT_EQ(e.kind(), fg::ErrorKind::value);
    EXPECT_THROW(fg::level(), fg::Error) << "a second call must not get through";
  }
}

TEST(Level, is_the_best_the_cpu_has) {
  std::string expected = cpu_has_v3() ? "level is v3\n" : "level is baseline\n";
  EXPECT_NE(level_under("-u FOREGRAD_LEVEL").find(expected), std::string::npos);
  EXPECT_NE(level_under("FOREGRAD_LEVEL=auto").find(expected), std::string::npos);
  EXPECT_NE(level_under("FOREGRAD_LEVEL=").find(expected), std::string::npos);
}

TEST(Level, baseline_can_be_forced_everywhere) {
  std::string output = level_under("FOREGRAD_LEVEL=baseline");
  EXPECT_NE(output.find("level is baseline\n"), std::string::npos) << output;
}

TEST(Level, v3_can_be_forced_where_the_cpu_has_it_and_is_an_error_elsewhere) {
  std::string output = level_under("FOREGRAD_LEVEL=v3");
  std::string expected =
      cpu_has_v3() ? "level is v3\n" : "error is FOREGRAD_LEVEL: got \"v3\", but this CPU has no ";
  EXPECT_NE(output.find(expected), std::string::npos) << output;
}

TEST(Level, an_unknown_name_is_an_error_that_says_what_is_possible) {
  std::string output = level_under("FOREGRAD_LEVEL=avx9");
  EXPECT_NE(output.find("error is FOREGRAD_LEVEL: got \"avx9\"; expected auto, baseline or v3\n"),
            std::string::npos)
      << output;
}
