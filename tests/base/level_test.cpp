// The level is read once per process, so each forced level runs in a process of its own.
#include "base/level.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/base/child_process.h"

namespace {

bool cpu_has(fg::Level level) {
  if (level == fg::Level::baseline) return true;
#if FG_HAS_V3
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
            __builtin_cpu_supports("bmi2");
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return v3 && (wide || level == fg::Level::v3);
#else
  return false;
#endif
}

std::string level_under(const std::string& settings) {
  return run_child("Level.print", settings).output;
}

}  // namespace

TEST_CHILD(Level, print) {
  try {
    printf("level is %s\n", fg::name(fg::level()));
  } catch (const fg::Error& e) {
    printf("error is %s\n", e.what());
    EXPECT_EQ(e.kind(), fg::ErrorKind::value);
    EXPECT_THROW(fg::level(), fg::Error) << "a second call must not get through";
  }
}

TEST(Level, is_the_best_the_cpu_has) {
  fg::Level best = fg::Level::baseline;
  for (fg::Level level : {fg::Level::v3, fg::Level::v4}) best = cpu_has(level) ? level : best;
  std::string expected = std::string("level is ") + fg::name(best) + "\n";
  EXPECT_NE(level_under("-u FOREGRAD_LEVEL").find(expected), std::string::npos);
  EXPECT_NE(level_under("FOREGRAD_LEVEL=auto").find(expected), std::string::npos);
  EXPECT_NE(level_under("FOREGRAD_LEVEL=").find(expected), std::string::npos);
}

TEST(Level, baseline_can_be_forced_everywhere) {
  std::string output = level_under("FOREGRAD_LEVEL=baseline");
  EXPECT_NE(output.find("level is baseline\n"), std::string::npos) << output;
}

TEST(Level, others_can_be_forced_where_the_cpu_has_them_and_are_errors_elsewhere) {
  for (fg::Level level : {fg::Level::v3, fg::Level::v4}) {
    std::string name = fg::name(level), output = level_under("FOREGRAD_LEVEL=" + name);
    std::string expected =
        cpu_has(level) ? "level is " + name + "\n"
                       : "error is FOREGRAD_LEVEL: got \"" + name + "\", but this CPU has no ";
    EXPECT_NE(output.find(expected), std::string::npos) << output;
  }
}

TEST(Level, an_unknown_name_is_an_error_that_says_what_is_possible) {
  std::string output = level_under("FOREGRAD_LEVEL=avx9");
  EXPECT_NE(
      output.find("error is FOREGRAD_LEVEL: got \"avx9\"; expected auto, baseline, v3 or v4\n"),
      std::string::npos)
      << output;
}
