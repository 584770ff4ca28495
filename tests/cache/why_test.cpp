// The last lookups and what is said of them.
#include "cache/why.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/cache/test_cache.h"

namespace fg::cache {
namespace {

std::vector<std::string> sentences(const TestCache& cache, size_t count = 100) {
  std::vector<std::string> result;
  for (const Explained& explained : explain_lookups(cache.store(), count)) {
    result.push_back(sentence(explained));
  }
  return result;
}

std::string differs_in_level(const Key& nearest, const std::string& values) {
  return "miss: the nearest entry " + hex(address_of(nearest)).substr(0, 12) +
         " differs in level (" + values + ")";
}

const std::string kNothingToCompare = "miss: there was no other entry to compare with";

}  // namespace

TEST(CacheWhy, a_lookup_survives_being_written_as_a_line) {
  Lookup given;
  given.at = 1234567890;
  given.process = 42;
  given.outcome = Outcome::guard_miss;
  given.key = "abc123";
  given.reason = "a\ttab, a\nline, \\ and =";
  given.microseconds = 12.5;
  given.waited = true;
  given.fields = {{"graph", "digest 0123"}, {"odd=name", "x\n\xff"}};
  Lookup read;
  ASSERT_TRUE(from_line(to_line(given), read));
  EXPECT_EQ(to_line(read), to_line(given));
  EXPECT_EQ(read.reason, given.reason);
  EXPECT_EQ(read.fields, given.fields);
  EXPECT_EQ(to_line(given).find('\n'), std::string::npos);
}

TEST(CacheWhy, lines_that_are_none_are_left_out) {
  Lookup read;
  for (const char* bad : {"", "x", "1\t2\t99\tabc\t1\t0\t", "1\t2\t3\tnot hex\t1\t0\t",
                          "1\t2\t3\tabc\t1\t0\t\tno equals sign"}) {
    EXPECT_FALSE(from_line(bad, read)) << bad;
  }
}

TEST(CacheWhy, a_miss_names_the_fields_in_which_the_nearest_entry_differs) {
  TestCache cache;
  store(key("f(x)\nreturn x", "v3"), entry("code"));
  store(key("something else", "v9"), entry("code"));
  find(key("f(x)\nreturn x", "baseline"));
  EXPECT_EQ(sentences(cache), std::vector<std::string>{differs_in_level(
                                  key("f(x)\nreturn x", "v3"), "\"baseline\" and \"v3\"")});
}

TEST(CacheWhy, an_entry_that_was_made_after_its_miss_is_not_its_own_nearest) {
  TestCache cache;
  find(key("f"));
  store(key("f"), entry("code"));
  EXPECT_EQ(sentences(cache), std::vector<std::string>{kNothingToCompare});
}

TEST(CacheWhy, a_miss_is_compared_only_with_what_was_stored_before_it) {
  TestCache cache;
  Key one = key("f", "v3"), other = key("f", "baseline");
  for (const Key& wanted : {one, other}) {
    find(wanted);
    store(wanted, entry("code"));
  }
  std::string second = differs_in_level(one, "\"baseline\" and \"v3\"");
  EXPECT_EQ(sentences(cache), (std::vector<std::string>{kNothingToCompare, second}));
  EXPECT_EQ(sentences(cache, 1), std::vector<std::string>{second}) << "without the first";
}

TEST(CacheWhy, an_entry_counts_from_when_it_was_stored_last_and_only_if_it_was_not_there) {
  TestCache cache;
  Key one = key("f", "v3"), other = key("f", "baseline");
  store(one, entry("code"));
  find(other);
  store(one, entry("code"));  // it is there already
  std::string compared = differs_in_level(one, "\"baseline\" and \"v3\"");
  EXPECT_EQ(sentences(cache), std::vector<std::string>{compared});
  cache.store().collect(0);
  find(other);
  store(one, entry("code"));
  EXPECT_EQ(sentences(cache), (std::vector<std::string>{kNothingToCompare, kNothingToCompare}));
}

TEST(CacheWhy, an_entry_of_which_the_log_says_nothing_is_older_than_the_log) {
  TestCache cache;
  store(key("f", "v3"), entry("code"));
  std::filesystem::remove(cache.config().directory + "/lookups");
  find(key("f", "baseline"));
  EXPECT_EQ(sentences(cache),
            std::vector<std::string>{differs_in_level(key("f", "v3"), "\"baseline\" and \"v3\"")});
}

TEST(CacheWhy, hits_guard_misses_and_bypasses_say_what_they_are) {
  TestCache cache;
  store(key("f"), entry("code"));
  find(key("f"));
  find(key("f"), [](const Entry&) { return false; });
  note_bypass("a hook that cannot be identified");
  EXPECT_EQ(sentences(cache),
            (std::vector<std::string>{
                "hit (memory)", "guard miss: there are entries for this key, but for other sizes",
                "bypass: a hook that cannot be identified"}));
}

TEST(CacheWhy, the_log_is_shared_by_processes_and_bounded) {
  TestCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([t] {
      for (int i = 0; i < 600; i++) find(key("f" + std::to_string(t), std::string(40, 'x')));
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t bytes = 0;
  for (const char* name : {"/lookups", "/lookups.old"}) {
    if (std::filesystem::exists(cache.config().directory + name)) {
      bytes += std::filesystem::file_size(cache.config().directory + name);
    }
  }
  EXPECT_LT(bytes, 600u << 10);
  auto log = read_log(cache.store().folder()).lookups;
  EXPECT_GT(log.size(), 500u);
  for (const Lookup& lookup : log) EXPECT_EQ(lookup.fields.size(), 3u) << "no mixed lines";
}

}  // namespace fg::cache
