#include <gtest/gtest.h>

#include <vector>

#include "base/fail.h"

TEST(Error, fail_formats_one_sentence_and_blames_the_user) {
  try {
    fg::fail("matmul: inner sizes differ: got {} and {}", std::vector{2, 3}, 4);
    FAIL();
  } catch (const fg::Error& e) {
    EXPECT_STREQ(e.what(), "matmul: inner sizes differ: got [2, 3] and 4");
    EXPECT_EQ(e.kind(), fg::ErrorKind::runtime);
  }
}

TEST(Error, fail_takes_another_kind) {
  try {
    fg::fail(fg::ErrorKind::index, "index {} is out of range", 7);
    FAIL();
  } catch (const fg::Error& e) {
    EXPECT_EQ(e.kind(), fg::ErrorKind::index);
  }
}

TEST(Error, is_a_runtime_error_to_those_who_know_nothing_of_us) {
  EXPECT_THROW(fg::raise(fg::ErrorKind::memory, "no memory"), std::runtime_error);
}
