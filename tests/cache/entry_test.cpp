// The format of an entry: what is written is read, and nothing else is.
#include "cache/entry.h"

#include <gtest/gtest.h>

#include <random>

#include "cache/seal.h"
#include "cache/unusable.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {
namespace {

const SecretKey kSecret = digest("secret"), kOther = digest("another");

std::string sealed(const Key& key, const Entry& entry, const SecretKey& secret = kSecret) {
  std::string content = pack(key, entry);
  Header header = seal(content, key.digest(), secret);
  return std::string(bytes_of(header)) + content;
}

// "read", or the reason why not.
std::string outcome(std::string_view bytes, const Key& key, const SecretKey& secret = kSecret) {
  try {
    open_sealed(bytes, key.digest(), secret);
    return "read";
  } catch (const Unusable& problem) {
    return problem.reason();
  }
}

}  // namespace

TEST(CacheEntry, what_is_packed_is_unpacked) {
  std::string big(1 << 20, 'x');
  Key wanted = key("f(x) = x\n");
  Entry given = entry(big, 12.5);
  Bytes content = open_sealed(sealed(wanted, given), wanted.digest(), kSecret);
  Entry read = unpack(content);
  ASSERT_EQ(read.sections.size(), 2u);
  EXPECT_EQ(read.section("forward"), big);
  EXPECT_EQ(read.section("plan"), "a plan");
  EXPECT_EQ(read.section("backward").data(), nullptr);
  EXPECT_EQ(read.made.version, "0.1.0");
  EXPECT_EQ(read.made.build_id, "b1d");
  EXPECT_EQ(read.made.level, "v3");
  EXPECT_EQ(read.made.compile_milliseconds, 12.5);
  EXPECT_EQ(read.made.made_at, 1000);
  EXPECT_EQ(key_of(content), wanted);
  EXPECT_TRUE(has_key(content, wanted));
  EXPECT_FALSE(has_key(content, key("f(x) = x")));
}

TEST(CacheEntry, large_sections_are_not_copied) {
  Key wanted = key("f");
  Bytes content = open_sealed(sealed(wanted, entry("code")), wanted.digest(), kSecret);
  std::string_view code = unpack(content).section("forward");
  EXPECT_GE(code.data(), content.view().data());
  EXPECT_LT(code.data(), content.view().data() + content.size());
}

TEST(CacheEntry, sections_are_aligned_for_buffers_inside_of_them) {
  for (size_t size = 1; size < 40; size++) {
    Key wanted = key(std::string(size, 'f'));
    Entry read = unpack(
        open_sealed(sealed(wanted, entry(std::string(size, 'c'))), wanted.digest(), kSecret));
    for (const Section& section : read.sections) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(section.bytes.data()) % 16, 0u);
    }
  }
}

TEST(CacheEntry, sections_outlive_the_content_they_came_from) {
  Key wanted = key("f");
  Entry read = unpack(open_sealed(sealed(wanted, entry("code")), wanted.digest(), kSecret));
  EXPECT_EQ(read.section("forward"), "code");
}

TEST(CacheEntry, its_name_depends_on_its_sections_only) {
  EXPECT_EQ(name_of(entry("code", 1)), name_of(entry("code", 2)));
  EXPECT_NE(name_of(entry("code")), name_of(entry("edoc")));
}

TEST(CacheEntry, every_flipped_bit_is_refused) {
  Key wanted = key("f");
  std::string good = sealed(wanted, entry("code"));
  ASSERT_EQ(outcome(good, wanted), "read");
  for (size_t i = 0; i < good.size(); i++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      EXPECT_NE(outcome(bad, wanted), "read") << "byte " << i << " bit " << bit;
    }
  }
}

TEST(CacheEntry, every_truncated_or_longer_one_is_refused) {
  Key wanted = key("f");
  std::string good = sealed(wanted, entry("code"));
  for (size_t size = 0; size < good.size(); size++) {
    EXPECT_NE(outcome(good.substr(0, size), wanted), "read") << size;
  }
  EXPECT_EQ(outcome(good + '\0', wanted), "damaged");
}

TEST(CacheEntry, a_right_digest_with_a_wrong_code_is_not_authentic) {
  Key wanted = key("f");
  EXPECT_EQ(outcome(sealed(wanted, entry("code"), kOther), wanted), "not authentic");
}

TEST(CacheEntry, an_entry_under_another_key_is_not_authentic) {
  EXPECT_EQ(outcome(sealed(key("f"), entry("code")), key("g")), "not authentic");
}

TEST(CacheEntry, an_authentic_content_of_another_form_is_malformed) {
  Key wanted = key("f");
  std::mt19937 random(1);
  std::string good = pack(wanted, entry("code"));
  int refused = 0;
  for (int i = 0; i < 3000; i++) {  // whatever the verifier lets through must be safe to read
    std::string content = good;
    for (int k = 0; k < 3; k++) content[random() % content.size()] = static_cast<char>(random());
    Header header = seal(content, wanted.digest(), kSecret);
    std::string reason = outcome(std::string(bytes_of(header)) + content, wanted);
    refused += reason == "malformed";
    EXPECT_TRUE(reason == "read" || reason == "malformed") << reason;
  }
  EXPECT_GT(refused, 300);
}

TEST(CacheEntry, another_format_says_so) {
  Key wanted = key("f");
  std::string other = sealed(wanted, entry("code"));
  other[8] = 99;
  EXPECT_EQ(outcome(other, wanted), "another format");
}

}  // namespace fg::cache
