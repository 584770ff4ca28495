// Entries carried elsewhere: all or nothing, and only between users of one key.
#include "cache/bundle.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "cache/unusable.h"
#include "tests/base/child_process.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {
namespace {

const SecretKey kShared = digest("shared");

BundledEntry bundled(const Key& key, const Entry& entry) {
  return {key.digest(), name_of(entry), Bytes(pack(key, entry))};
}

bool is_read(std::string_view bundle, const SecretKey& shared = kShared) {
  try {
    read_bundle(bundle, shared);
    return true;
  } catch (const Unusable& problem) {
    EXPECT_STREQ(problem.reason(), "bundle");
    return false;
  }
}

}  // namespace

TEST(CacheBundle, what_is_bundled_is_read) {
  std::string bundle = make_bundle(
      {bundled(key("f"), entry("code")), bundled(key("g"), entry(std::string(100000, 'x')))},
      kShared);
  EXPECT_LT(bundle.size(), 10000u) << "compressed";
  auto entries = read_bundle(bundle, kShared);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, key("f").digest());
  EXPECT_EQ(entries[0].name, name_of(entry("code")));
  EXPECT_EQ(key_of(entries[1].content), key("g"));
  EXPECT_TRUE(read_bundle(make_bundle({}, kShared), kShared).empty());
}

TEST(CacheBundle, every_flipped_bit_and_every_truncation_is_refused) {
  std::string good = make_bundle({bundled(key("f"), entry("code"))}, kShared);
  ASSERT_TRUE(is_read(good));
  for (size_t i = 0; i < good.size(); i++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      EXPECT_FALSE(is_read(bad)) << i;
    }
    EXPECT_FALSE(is_read(good.substr(0, i))) << i;
  }
  EXPECT_FALSE(is_read(good + "x"));
}

TEST(CacheBundle, another_key_is_refused_with_a_sentence) {
  std::string bundle = make_bundle({bundled(key("f"), entry("code"))}, digest("others"));
  EXPECT_EQ(error_of([&] { read_bundle(bundle, kShared); }),
            "the bundle is refused, nothing of it was taken: it is damaged, or was made with "
            "another shared key");
}

TEST(CacheBundle, artifacts_of_one_cache_are_hits_in_another) {
  std::string bytes;
  {
    TestCache here;
    here.with_shared_key();
    EXPECT_FALSE(save_artifacts()) << "nothing to save";
    store(key("f"), entry("code of f"));
    store(key("g"), entry("code of g"));
    store(key("g"), entry("code of g"));
    auto saved = save_artifacts();
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->keys.size(), 2u) << "each once";
    bytes = saved->bytes;
  }
  TestCache there;
  there.with_shared_key();
  EXPECT_EQ(load_artifacts(bytes).size(), 2u);
  EXPECT_TRUE(find(key("f")));
  EXPECT_EQ(stats().memory_hits, 1u);
  EXPECT_EQ(found_code(there, key("g")), "code of g") << "authenticated anew with the local key";
}

TEST(CacheBundle, what_was_loaded_is_in_the_next_bundle_though_nobody_asked_for_it) {
  TestCache cache;
  cache.with_shared_key();
  store(key("f"), entry("code"));
  std::string bytes = save_artifacts()->bytes;
  cache.forget_memory();
  load_artifacts(bytes);
  EXPECT_EQ(save_artifacts()->keys.size(), 1u);
}

TEST(CacheBundle, a_hit_is_an_artifact_too) {
  TestCache cache;
  cache.with_shared_key();
  store(key("f"), entry("code"));
  cache.forget_memory();
  EXPECT_FALSE(save_artifacts());
  find(key("f"));
  EXPECT_EQ(save_artifacts()->keys.size(), 1u);
}

TEST(CacheBundle, a_fresh_scope_sees_only_what_comes_after) {
  TestCache cache;
  cache.with_shared_key();
  store(key("f"), entry("code"));
  {
    FreshArtifacts fresh;
    EXPECT_FALSE(save_artifacts());
    store(key("g"), entry("code"));
    EXPECT_EQ(save_artifacts()->keys, std::vector<std::string>{hex(address_of(key("g")))});
  }
  EXPECT_EQ(save_artifacts()->keys, std::vector<std::string>{hex(address_of(key("f")))});
}

TEST(CacheBundle, without_a_shared_key_nothing_is_carried) {
  TestCache cache;
  store(key("f"), entry("code"));
  EXPECT_TRUE(error_of([] {
                save_artifacts();
              }).starts_with("saving what was compiled needs a shared key: make one with"));
  EXPECT_TRUE(error_of([] {
                load_artifacts("anything");
              }).starts_with("loading what was compiled elsewhere needs a shared key"));
}

TEST(CacheBundle, a_damaged_bundle_leaves_the_store_as_it_was) {
  TestCache cache;
  cache.with_shared_key();
  store(key("f"), entry("code"));
  std::string bytes = save_artifacts()->bytes;
  clear();
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_TRUE(error_of([&] { load_artifacts(bytes); }).starts_with("the bundle is refused"));
  EXPECT_TRUE(cache.store().list().empty());
}

TEST(CacheBundle, when_one_entry_cannot_be_written_none_is) {
  TestCache cache;
  store(key("old"), entry("old"));
  std::vector<BundledEntry> entries = {bundled(key("old"), entry("old")),
                                       bundled(key("small"), entry("small")),
                                       bundled(key("big"), entry(std::string(200 << 10, 'x')))};
  int status = in_forked_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit small{65536, 65536};
    setrlimit(RLIMIT_FSIZE, &small);
    try {
      write_all_or_none(cache.store(), entries);
    } catch (const Error&) {
      _exit(7);
    }
  });
  EXPECT_EQ(status, 7);
  EXPECT_EQ(cache.store().list().size(), 1u) << "what was there before stays";
  EXPECT_EQ(found_code(cache, key("old")), "old");
}

}  // namespace fg::cache
