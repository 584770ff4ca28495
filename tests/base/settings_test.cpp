#include "base/settings.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/pool.h"
#include "tests/base/child_process.h"

namespace settings = fg::settings;

TEST(Settings, every_row_is_complete_and_found_by_its_id) {
  std::set<std::string> names;
  for (const settings::Setting& s : settings::all()) {
    EXPECT_EQ(&settings::setting(s.id), &s);
    EXPECT_TRUE(std::string(s.name).starts_with("FOREGRAD_"));
    EXPECT_TRUE(std::string(s.documentation).ends_with("."));
    EXPECT_NE(std::string(s.expected), "");
    EXPECT_TRUE(names.insert(s.name).second) << s.name;
  }
}

TEST_CHILD(Settings, print_threads) {
  try {
    printf("threads %d\n", fg::pool::num_threads());
    setenv("FOREGRAD_NUM_THREADS", "9", 1);
    printf("again %d\n", int(settings::integer(settings::Id::num_threads)));
  } catch (const fg::Error& e) {
    printf("error %s\n", e.what());
  }
}

TEST(Settings, a_value_is_read_once) {
  std::string output = run_child("Settings.print_threads", "FOREGRAD_NUM_THREADS=3").output;
  EXPECT_NE(output.find("threads 3\n"), std::string::npos) << output;
  EXPECT_NE(output.find("again 3\n"), std::string::npos) << output;
}

TEST(Settings, a_number_that_is_none_is_an_error_that_names_the_setting) {
  for (const char* bad : {"many", "0", "-2", "3x", "99999999999999999999"}) {
    std::string output =
        run_child("Settings.print_threads", std::string("FOREGRAD_NUM_THREADS=") + bad).output;
    EXPECT_NE(output.find(std::string("error FOREGRAD_NUM_THREADS: got \"") + bad +
                          "\"; expected auto or a number from 1 to 1024"),
              std::string::npos)
        << output;
  }
}

TEST(Settings, too_many_threads_is_an_error) {
  std::string output = run_child("Settings.print_threads", "FOREGRAD_NUM_THREADS=5000").output;
  EXPECT_NE(output.find("error FOREGRAD_NUM_THREADS: got \"5000\""), std::string::npos) << output;
}
