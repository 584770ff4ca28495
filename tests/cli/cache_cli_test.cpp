// `foregrad cache`, as a user runs it: clear, stats, explain, bundles.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/settings.h"
#include "cache/cache.h"
#include "tests/base/child_process.h"
#include "tests/cache/test_cache.h"

namespace fg::cache {
namespace {

using Json = nlohmann::json;

// A cache that this process fills and the command looks into.
class CacheCommand : public testing::Test {
 protected:
  CacheCommand() {
    cache_.config().key_directory = cache_.path() + "/home/foregrad";
    configure(cache_.config());
    mkdir((cache_.path() + "/home").c_str(), 0700);
  }
  ::Outcome run(const std::string& arguments) const {
    return run_command("env FOREGRAD_CACHE_DIR=" + cache_.path() + "/cache XDG_CONFIG_HOME=" +
                       cache_.path() + "/home " + FOREGRAD_CLI + " cache " + arguments);
  }
  std::string output(const std::string& arguments) const {
    ::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
  }
  Json json(const std::string& arguments) const {
    return Json::parse(output(arguments + " --json"));
  }

  TestCache cache_;
};

std::string digits(const Key& key) { return hex(address_of(key)); }
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_F(CacheCommand, an_empty_cache_has_nothing_to_say) {
  EXPECT_TRUE(has(output("stats"), "entries                  0\n"));
  EXPECT_EQ(json("ls").size(), 0u);
  EXPECT_EQ(output("why"), "no lookups are known\n");
  EXPECT_TRUE(has(output("verify"), "0 entries are good, 0 are not"));
  EXPECT_TRUE(has(output("clear"), "0 entries removed"));
}

TEST_F(CacheCommand, stats_counts_entries_and_lookups) {
  find(key("f"));
  store(key("f"), entry("code"));
  find(key("f"));
  note_bypass("a hook");
  Json stats = json("stats");
  EXPECT_EQ(stats["entries"], 1);
  EXPECT_EQ(stats["recent_lookups"]["miss"], 1);
  EXPECT_EQ(stats["recent_lookups"]["hit (memory)"], 1);
  EXPECT_EQ(stats["recent_bypasses"]["a hook"], 1);
  EXPECT_TRUE(has(output("stats"), "size                     8.0 KB of 2.0 GB"));
}

TEST_F(CacheCommand, ls_lists_keys_sizes_and_sections) {
  store(key("f"), entry("code", 37));
  Json rows = json("ls");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["key"], digits(key("f")));
  EXPECT_EQ(rows[0]["made"]["compile_milliseconds"], 37);
  std::string text = output("ls");
  EXPECT_TRUE(has(text, digits(key("f")).substr(0, 12))) << text;
  EXPECT_TRUE(has(text, "37 ms  v3")) << text;
  EXPECT_TRUE(has(text, "forward plan")) << text;
}

TEST_F(CacheCommand, inspect_takes_the_first_digits_of_a_key) {
  store(key("f(x)\nreturn x"), entry("code"));
  std::string all = digits(key("f(x)\nreturn x"));
  std::string text = output("inspect " + all.substr(0, 6));
  EXPECT_TRUE(has(text, "key       " + all)) << text;
  EXPECT_TRUE(has(text, "f(x)\\nreturn x")) << text;
  EXPECT_EQ(json("inspect " + all)[0]["fields"]["graph"]["value"], "f(x)\nreturn x");
  EXPECT_EQ(json("inspect " + all)[0]["sections"]["forward"], 4);
  ::Outcome none = run("inspect ffff0000");
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.output, "foregrad: cache: no key begins with ffff0000; see foregrad cache ls\n");
  EXPECT_TRUE(has(run("inspect a").output, "\"a\" is too short; expected at least 4 digits"));
}

TEST_F(CacheCommand, explain_shows_the_fields_that_differ) {
  Key one = key("f\na", "v3"), other = key("f\nb", "v3");
  store(one, entry("code"));
  store(other, entry("code"));
  std::string arguments = "explain " + digits(one).substr(0, 12) + " " + digits(other);
  EXPECT_EQ(output(arguments), "graph                line 2: \"a\" and \"b\"\n");
  Json rows = json(arguments);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["field"], "graph");
  EXPECT_EQ(rows[0]["other"], "f\nb");
  EXPECT_EQ(output("explain " + digits(one) + " " + digits(one)), "the keys are the same\n");
}

TEST_F(CacheCommand, why_says_which_field_made_a_miss) {
  store(key("f", "v3"), entry("code"));
  find(key("f", "baseline"));
  find(key("f", "v3"));
  note_bypass("a hook that cannot be identified");
  std::string text = output("why");
  EXPECT_TRUE(has(text, "miss: the nearest entry " + digits(key("f", "v3")).substr(0, 12) +
                            " differs in level (\"baseline\" and \"v3\")\n"))
      << text;
  EXPECT_TRUE(has(text, "hit (memory)\n")) << text;
  EXPECT_TRUE(has(text, "bypass: a hook that cannot be identified\n")) << text;
  Json rows = json("why");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["nearest"]["differs_in"], Json::array({"level"}));
  EXPECT_EQ(json("why -n 1").size(), 1u);
}

TEST_F(CacheCommand, why_does_not_explain_a_miss_by_what_was_stored_after_it) {
  for (const char* level : {"v3", "baseline"}) {
    find(key("f", level));
    store(key("f", level), entry("code"));
  }
  Json rows = json("why");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[0].contains("nearest")) << rows[0];
  EXPECT_EQ(rows[1]["nearest"]["key"], digits(key("f", "v3")));
}

TEST_F(CacheCommand, verify_finds_what_is_damaged_and_removes_it_when_told) {
  store(key("f"), entry("code"));
  std::string file = cache_.only_file(), bytes = content_of(file);
  store(key("g"), entry("code"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_content(file, bytes);
  ::Outcome outcome = run("verify");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.output, "1 entries are good, 1 are not")) << outcome.output;
  EXPECT_EQ(json("verify --remove")["bad"].size(), 1u);
  EXPECT_EQ(run("verify").status, 0);
}

TEST_F(CacheCommand, gc_and_clear_remove) {
  for (const char* name : {"a", "b", "c"}) store(key(name), entry(name));
  EXPECT_EQ(json("gc")["removed"], 0);
  Json result = json("gc --size 20K");
  EXPECT_EQ(result["removed"], 1);
  EXPECT_EQ(result["entries"], 2);
  EXPECT_TRUE(has(run("gc --size lots").output, "the size lots is not understood"));
  EXPECT_EQ(output("clear"), "2 entries removed; the secret key stays\n");
  EXPECT_EQ(json("ls").size(), 0u);
}

TEST_F(CacheCommand, export_and_import_carry_entries_among_those_who_share_a_key) {
  store(key("f"), entry("code"));
  std::string bundle = cache_.path() + "/bundle", shared = cache_.path() + "/shared";
  ::Outcome refused = run("export " + bundle);
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(has(refused.output,
                  "cache export needs a shared key: make one with `(umask 77; head "
                  "-c 32 /dev/urandom > FILE)`"))
      << refused.output;
  ASSERT_EQ(run_command("umask 77; head -c 32 /dev/urandom > " + shared).status, 0);
  EXPECT_EQ(json("export --key " + shared + " " + bundle)["entries"], 1);
  output("clear");
  EXPECT_TRUE(has(run("import " + bundle).output, "cache import needs a shared key"));
  write_content(cache_.path() + "/other", "another secret of 32 characters!");
  chmod((cache_.path() + "/other").c_str(), 0600);
  EXPECT_TRUE(has(run("import --key " + cache_.path() + "/other " + bundle).output,
                  "made with another shared key"));
  EXPECT_EQ(json("ls").size(), 0u);
  EXPECT_EQ(output("import --key " + shared + " " + bundle), "1 entries imported\n");
  EXPECT_EQ(found_code(cache_, key("f")), "code");
}

}  // namespace fg::cache
