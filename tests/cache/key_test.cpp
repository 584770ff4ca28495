#include "cache/key.h"

#include <gtest/gtest.h>

namespace fg::cache {

TEST(CacheKey, equal_fields_have_one_digest_that_never_changes) {
  Key key{{{"graph", "f(x)"}, {"level", "v3"}}};
  EXPECT_EQ(key.digest(), (Key{{{"graph", "f(x)"}, {"level", "v3"}}}).digest());
  EXPECT_EQ(hex(key.digest()).substr(0, 16), "154652d5302d983a");
}

TEST(CacheKey, where_a_field_ends_matters) {
  EXPECT_NE((Key{{{"ab", "c"}}}).digest(), (Key{{{"a", "bc"}}}).digest());
  EXPECT_NE((Key{{{"a", "b"}, {"c", "d"}}}).digest(), (Key{{{"a", "bc"}, {"", "d"}}}).digest());
  EXPECT_NE((Key{{{"a", ""}}}).digest(), (Key{{{"a", ""}, {"", ""}}}).digest());
  EXPECT_NE((Key{{{"a", std::string(1, '\0')}}}).digest(), (Key{{{"a", ""}}}).digest());
}

TEST(CacheKey, differences_are_found_field_by_field) {
  Key one{{{"graph", "f"}, {"level", "v3"}, {"old", "1"}}};
  Key other{{{"graph", "f"}, {"level", "baseline"}, {"new", "2"}}};
  auto found = differences(one, other);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "level");
  EXPECT_EQ(found[0].other, "baseline");
  EXPECT_EQ(found[1].name, "old");
  EXPECT_FALSE(found[1].in_other);
  EXPECT_EQ(found[2].name, "new");
  EXPECT_FALSE(found[2].in_one);
  EXPECT_TRUE(differences(one, one).empty());
}

TEST(CacheKey, the_first_line_that_differs_is_shown) {
  EXPECT_EQ(first_difference("a\nb\nc", "a\nx\nc"), "line 2: \"b\" and \"x\"");
  EXPECT_EQ(first_difference("v3", "baseline"), "\"v3\" and \"baseline\"");
  EXPECT_EQ(first_difference("a\nb", "a\nb\nc"), "line 2: \"b\" and \"b\"");
}

TEST(CacheKey, a_terminal_is_shown_nothing_that_it_would_obey) {
  EXPECT_EQ(printable("a\x1b[2J\xc2\x9b"), "a?[2J??");
}

}  // namespace fg::cache
