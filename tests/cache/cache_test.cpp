// The cache as a program uses it: switches, hits, misses, guards, counts.
#include "cache/cache.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "tests/base/child_process.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {

TEST(Cache, what_is_stored_is_found_in_memory_and_on_disk) {
  TestCache cache;
  EXPECT_FALSE(find(key("f")));
  store(key("f"), entry("code", 7));
  auto first = find(key("f"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->section("forward"), "code");
  Stats now = stats();
  EXPECT_EQ(now.misses, 1u);
  EXPECT_EQ(now.memory_hits, 1u);
  EXPECT_EQ(now.saved, 1u);
  EXPECT_EQ(now.milliseconds_saved, 7);
  cache.forget_memory();
  ASSERT_TRUE(find(key("f")));
  EXPECT_EQ(stats().local_hits, 1u);
  EXPECT_TRUE(stats().failures.empty());
}

TEST(Cache, another_value_of_any_field_is_a_miss) {
  TestCache cache;
  store(key("f", "v3"), entry("code"));
  EXPECT_EQ(found_code(cache, key("f", "baseline")), "nothing");
  EXPECT_EQ(found_code(cache, key("g", "v3")), "nothing");
  EXPECT_EQ(found_code(cache, key("f", "v3")), "code");
}

TEST(Cache, a_found_entry_lives_as_long_as_it_is_held) {
  TestCache cache;
  store(key("f"), entry("code"));
  cache.forget_memory();
  auto found = find(key("f"));
  clear();
  configure(cache.config());
  EXPECT_EQ(found->section("forward"), "code");
}

TEST(Cache, several_entries_of_one_key_are_told_apart_by_what_they_accept) {
  TestCache cache;
  store(key("f"), {{{"guard", "n > 4"}}, {}});
  store(key("f"), {{{"guard", "n <= 4"}}, {}});
  auto small = [](const Entry& entry) { return entry.section("guard") == "n <= 4"; };
  auto none = [](const Entry&) { return false; };
  for (int from_disk = 0; from_disk < 2; from_disk++) {
    ASSERT_TRUE(find(key("f"), small));
    EXPECT_EQ(find(key("f"), small)->section("guard"), "n <= 4");
    EXPECT_FALSE(find(key("f"), none));
    EXPECT_EQ(stats().guard_misses, 1u);
    EXPECT_EQ(stats().misses, 0u);
    cache.forget_memory();
  }
}

TEST(Cache, the_same_entry_twice_is_one_file) {
  TestCache cache;
  store(key("f"), entry("code", 1));
  store(key("f"), entry("code", 2));
  EXPECT_EQ(cache.store().list().size(), 1u);
}

TEST(Cache, a_tag_is_part_of_every_key) {
  TestCache cache;
  Digest plain = address_of(key("f"));
  store(key("f"), entry("code"));
  cache.config().tag = "experiment";
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
  EXPECT_NE(address_of(key("f")), plain);
  store(key("f"), entry("tagged"));
  EXPECT_EQ(found_code(cache, key("f")), "tagged");
  cache.config().tag = "";
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(Cache, with_no_store_it_is_off_and_does_nothing) {
  TestCache cache;
  cache.config().local = false;
  configure(cache.config());
  EXPECT_FALSE(enabled());
  store(key("f"), entry("code"));
  EXPECT_FALSE(find(key("f")));
  note_bypass("nobody asks");
  EXPECT_EQ(stats().misses, 0u);
  EXPECT_TRUE(stats().bypasses.empty());
  EXPECT_FALSE(std::filesystem::exists(cache.config().directory));
}

TEST_CHILD(Cache, says_whether_it_is_on) {
  try {
    Config config = cache::config();
    config.local = true;
    bool by_setting = enabled();
    configure(config);
    printf("setting %d program %d\n", by_setting, enabled());
    printf("directory %s key %s size %llu\n", config.directory.c_str(),
           config.key_directory.c_str(), static_cast<unsigned long long>(config.size_limit));
  } catch (const Error& e) {
    printf("error %s\n", e.what());
  }
}

TEST(Cache, settings_switch_it_and_the_global_switch_wins) {
  auto output = [](const std::string& settings) {
    return run_child("Cache.says_whether_it_is_on", settings).output;
  };
  auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(output(""), "setting 1 program 1");
  has(output("FOREGRAD_CACHE=0"), "setting 0 program 1");
  has(output("FOREGRAD_CACHE=remote"), "setting 0 program 1");
  has(output("FOREGRAD_CACHE=remote FOREGRAD_CACHE_REMOTE=redis://h"), "setting 1 program 1");
  has(output("FOREGRAD_CACHE=0 FOREGRAD_CACHE_REMOTE=redis://h"), "setting 0 program 1");
  has(output("FOREGRAD_CACHE=1 FOREGRAD_FORCE_DISABLE_CACHES=1"), "setting 0 program 0");
  has(output("XDG_CACHE_HOME=/a XDG_CONFIG_HOME=/b"), "directory /a/foregrad key /b/foregrad");
  has(output("-u XDG_CACHE_HOME -u XDG_CONFIG_HOME HOME=/h"),
      "directory /h/.cache/foregrad key /h/.config/foregrad size 2147483648");
  has(output("FOREGRAD_CACHE_DIR=/c FOREGRAD_CACHE_SIZE=5M"), "directory /c ");
  has(output("FOREGRAD_CACHE_SIZE=5M"), "size 5242880");
  has(output("FOREGRAD_CACHE_SIZE=5X"), "error FOREGRAD_CACHE_SIZE: got \"5X\"; expected bytes");
  has(output("FOREGRAD_CACHE=maybe"), "error FOREGRAD_CACHE: got \"maybe\"; expected 1, 0, local");
}

TEST(Cache, a_bypass_is_counted_with_its_reason) {
  TestCache cache;
  note_bypass("a hook that cannot be identified");
  note_bypass("a hook that cannot be identified");
  EXPECT_EQ(stats().bypasses.at("a hook that cannot be identified"), 2u);
  EXPECT_EQ(stats().lookups.back().outcome, Outcome::bypass);
}

TEST(Cache, strict_mode_raises_bypasses_and_failures) {
  TestCache cache;
  cache.config().strict = true;
  configure(cache.config());
  EXPECT_EQ(error_of([] { note_bypass("a hook"); }), "cache, in strict mode: bypassed: a hook");
  store(key("f"), entry("code"));
  std::string file = cache.only_file(), bytes = content_of(file);
  write_content(file, bytes.substr(0, bytes.size() - 1));
  configure(cache.config());
  std::string said = error_of([] { find(key("f")); });
  EXPECT_TRUE(said.starts_with("cache, in strict mode: damaged: the entry ")) << said;
}

TEST(Cache, memory_is_bounded_and_the_least_used_go_first) {
  TestCache cache;
  cache.config().memory_limit = 3000;
  configure(cache.config());
  std::string code(1000, 'x');
  for (const char* name : {"a", "b", "c"}) store(key(name), entry(code));
  find(key("a"));
  find(key("c"));
  EXPECT_EQ(stats().local_hits, 1u) << "a was dropped from memory";
  EXPECT_EQ(stats().memory_hits, 1u);
}

TEST(Cache, many_threads_use_it_at_once) {
  TestCache cache;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; i++) {
        std::string name = std::to_string(i % 10);
        if (i % 10 == t) store(key(name), entry("code " + name));
        auto found = find(key(name));
        if (found && found->section("forward") != "code " + name) wrong++;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stats().hits() + stats().misses, 400u);
  EXPECT_TRUE(stats().failures.empty());
}

TEST(Cache, a_forked_child_can_use_it) {
  TestCache cache;
  store(key("f"), entry("code"));
  EXPECT_EQ(in_forked_child([] {
              store(key("g"), entry("child"));
              if (!find(key("f")) || !find(key("g"))) _exit(3);
            }),
            0);
  EXPECT_EQ(found_code(cache, key("g")), "child");
}

TEST(Cache, lookups_are_kept_with_key_time_and_outcome) {
  TestCache cache;
  find(key("f"));
  store(key("f"), entry("code"));
  find(key("f"));
  auto lookups = stats().lookups;
  ASSERT_EQ(lookups.size(), 2u);
  EXPECT_EQ(lookups[0].outcome, Outcome::miss);
  EXPECT_EQ(lookups[1].outcome, Outcome::memory_hit);
  EXPECT_EQ(lookups[1].key, hex(address_of(key("f"))));
  EXPECT_GT(lookups[1].microseconds, 0);
  EXPECT_NEAR(static_cast<double>(lookups[1].at), static_cast<double>(std::time(nullptr)), 5);
  reset_stats();
  EXPECT_EQ(stats().hits(), 0u);
}

}  // namespace fg::cache
