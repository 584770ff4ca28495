#include "base/digest.h"

#include <gtest/gtest.h>

#include "base/build_id.h"
#include "base/pool.h"

namespace fg {

TEST(Digest, is_blake2b_of_32_bytes) {
  EXPECT_EQ(hex(digest("")), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(hex(digest("abc")), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(Hasher().add("a").add("bc").finish(), digest("abc"));
}

TEST(Digest, of_pieces_does_not_depend_on_threads_and_sees_every_byte) {
  std::string bytes(300000, 'x');
  Digest whole = digest_in_pieces(bytes);
  int threads = pool::num_threads();
  pool::set_num_threads(1);
  EXPECT_EQ(digest_in_pieces(bytes), whole);
  pool::set_num_threads(threads);
  for (size_t i : {0, 65535, 65536, 299999}) {
    std::string other = bytes;
    other[i] = 'y';
    EXPECT_NE(digest_in_pieces(other), whole) << i;
  }
  EXPECT_NE(digest_in_pieces(bytes + 'x'), whole);
  EXPECT_NE(digest_in_pieces(""), digest(""));
}

TEST(Digest, fields_are_prefixed_with_their_lengths) {
  EXPECT_NE(Hasher().add_field("ab", "c").finish(), Hasher().add_field("a", "bc").finish());
  EXPECT_NE(Hasher().add_field("a", "").finish(), Hasher().add_field("", "a").finish());
}

TEST(Digest, a_code_needs_its_key) {
  SecretKey one = random_key(), other = random_key();
  EXPECT_NE(one, other);
  EXPECT_TRUE(is_same(Hasher(one).add("x").finish(), Hasher(one).add("x").finish()));
  EXPECT_FALSE(is_same(Hasher(one).add("x").finish(), Hasher(other).add("x").finish()));
  EXPECT_FALSE(is_same(Hasher(one).add("x").finish(), digest("x")));
}

TEST(BuildId, names_the_library_and_the_program_that_hold_an_address) {
  EXPECT_EQ(build_id().size(), 40u);
  static int here;
  EXPECT_NE(build_id_of(&here), build_id());
  EXPECT_FALSE(is_in_this_library(&here));
  EXPECT_FALSE(is_in_this_library(nullptr));
  EXPECT_TRUE(is_in_this_library(reinterpret_cast<const void*>(&fg::build_id)));
  EXPECT_EQ(build_id_of(nullptr), "");
}

}  // namespace fg
