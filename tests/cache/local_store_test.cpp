// The files of the local store: bounded, private, tidy.
#include "cache/local_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "cache/entry.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

void set_time(const std::string& path, int64_t seconds_from_now) {
  timespec at{std::time(nullptr) + seconds_from_now, 0};
  timespec times[2] = {at, at};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

int64_t age(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return std::time(nullptr) - status.st_mtime;
}

std::string file_of(TestCache& cache, const Key& key) {
  for (const StoredFile& file : cache.store().list()) {
    if (file.key == hex(address_of(key))) return cache.file(file);
  }
  ADD_FAILURE() << "no such entry";
  return "";
}

}  // namespace

TEST(LocalStore, everything_is_for_this_user_only) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file();
  EXPECT_EQ(mode_of(cache.config().directory), 0700u);
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_EQ(mode_of(file.substr(0, file.rfind('/'))), 0700u);
}

TEST(LocalStore, a_folder_that_others_can_enter_is_not_used) {
  TestCache cache;
  std::filesystem::create_directory(cache.config().directory);
  chmod(cache.config().directory.c_str(), 0755);
  find(key("f"));
  store(key("f"), entry("code"));
  EXPECT_EQ(stats().failures.at("open folder"), 2u);
  EXPECT_EQ(stats().misses, 1u);
  EXPECT_TRUE(std::filesystem::is_empty(cache.config().directory));
  EXPECT_TRUE(find(key("f"))) << "what is in memory still counts";
}

TEST(LocalStore, a_folder_or_link_of_another_user_is_not_used) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  TestCache cache;
  std::filesystem::create_directory(cache.path() + "/real");
  chmod((cache.path() + "/real").c_str(), 0700);
  std::filesystem::create_symlink(cache.path() + "/real", cache.config().directory);
  store(key("f"), entry("code"));
  EXPECT_TRUE(stats().failures.empty()) << "a link of our own is fine";
  ASSERT_EQ(lchown(cache.config().directory.c_str(), 65534, 65534), 0);
  cache.forget_memory();
  find(key("f"));
  EXPECT_EQ(stats().failures.at("foreign folder"), 1u);
  std::filesystem::remove(cache.config().directory);
  std::filesystem::rename(cache.path() + "/real", cache.config().directory);
  ASSERT_EQ(chown(cache.config().directory.c_str(), 65534, 65534), 0);
  cache.forget_memory();
  find(key("f"));
  EXPECT_EQ(stats().failures.at("foreign folder"), 1u);
}

TEST(LocalStore, a_link_of_another_user_anywhere_in_the_path_is_not_followed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  TestCache cache;
  std::string base = cache.path();
  std::filesystem::create_directories(base + "/real/folder/cache");
  chmod((base + "/real/folder/cache").c_str(), 0700);
  std::filesystem::create_symlink("real", base + "/link");
  std::filesystem::create_symlink(base + "/link/folder", base + "/absolute");
  std::filesystem::create_symlink("../link/../link/folder", base + "/real/winding");
  auto failures = [&](const std::string& folder) {
    cache.config().directory = base + folder;
    cache.forget_memory();
    store(key("f"), entry("code"));
    return stats().failures;
  };
  const char* paths[] = {"/link/folder/cache", "/absolute/cache", "/real/winding/cache",
                         "/link/new/folders", "/real/folder/../../link/./folder//cache/"};
  for (const char* path : paths) EXPECT_TRUE(failures(path).empty()) << path;
  ASSERT_EQ(lchown((base + "/link").c_str(), 65534, 65534), 0);
  for (const char* path : paths) EXPECT_EQ(failures(path)["foreign folder"], 1u) << path;
  EXPECT_FALSE(std::filesystem::exists(base + "/link/newer"));
  std::string said = error_of([&] { LocalStore(base + "/link/newer", {}, 1); });
  EXPECT_EQ(said,
            "the cache folder " + base +
                "/link/newer leads through a symbolic link of user 65534; expected yours (0)");
  EXPECT_FALSE(std::filesystem::exists(base + "/real/newer")) << "nothing is made behind it";
  ASSERT_EQ(chown((base + "/real").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(failures("/real/folder/cache").empty()) << "folders on the way may be of others";
}

TEST(LocalStore, links_in_a_circle_end) {
  TestCache cache;
  std::filesystem::create_symlink("two", cache.path() + "/one");
  std::filesystem::create_symlink("one", cache.path() + "/two");
  std::string said = error_of([&] { LocalStore(cache.path() + "/one/cache", {}, 1); });
  EXPECT_EQ(said, "the cache folder " + cache.path() +
                      "/one/cache cannot be opened: Too many levels of symbolic links");
}

TEST(LocalStore, the_least_recently_used_entries_make_room) {
  TestCache cache;
  cache.config().size_limit = 100 * 1024;
  configure(cache.config());
  std::string code(10000, 'x');
  for (int i = 0; i < 5; i++) {
    store(key(std::to_string(i)), entry(code));
    set_time(file_of(cache, key(std::to_string(i))), -1000 + i);
  }
  EXPECT_EQ(found_code(cache, key("0")), code);  // used now
  for (int i = 5; i < 8; i++) store(key(std::to_string(i)), entry(code));
  EXPECT_GT(stats().evicted, 0u);
  EXPECT_EQ(found_code(cache, key("0")), code);
  EXPECT_EQ(found_code(cache, key("1")), "nothing");
  EXPECT_EQ(found_code(cache, key("7")), code);
  uint64_t bytes = 0;
  for (const StoredFile& file : cache.store().list()) bytes += file.bytes;
  EXPECT_LE(bytes, cache.config().size_limit);
}

TEST(LocalStore, a_hit_says_so_but_not_at_every_lookup) {
  TestCache cache;
  store(key("f"), entry("code"));
  set_time(cache.only_file(), -30);
  found_code(cache, key("f"));
  EXPECT_GE(age(cache.only_file()), 29);
  set_time(cache.only_file(), -3000);
  found_code(cache, key("f"));
  EXPECT_LE(age(cache.only_file()), 5);
}

TEST(LocalStore, clocks_may_jump) {
  TestCache cache;
  for (const char* name : {"past", "future", "now"}) store(key(name), entry(name));
  std::string past = file_of(cache, key("past")), future = file_of(cache, key("future"));
  set_time(past, -400 * 86400);
  set_time(future, 400 * 86400);
  EXPECT_EQ(found_code(cache, key("past")), "past");
  cache.store().collect(1 << 20);
  EXPECT_LE(std::abs(age(future)), 5) << "a time in the future would keep it for ever";
  set_time(future, 400 * 86400);
  EXPECT_EQ(found_code(cache, key("future")), "future");
  EXPECT_LE(std::abs(age(future)), 5);
  EXPECT_EQ(found_code(cache, key("now")), "now");
}

TEST(LocalStore, one_key_has_a_bounded_number_of_entries) {
  TestCache cache;
  for (int i = 0; i < 70; i++) store(key("f"), entry(std::to_string(i)));
  EXPECT_EQ(cache.store().list().size(), 64u);
}

TEST(LocalStore, what_killed_processes_left_is_collected_when_it_is_old) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file(), folder = file.substr(0, file.rfind('/'));
  write_content(folder + "/.new-1-2-3", "half an ent");
  std::filesystem::create_directory(cache.config().directory + "/locks");
  write_content(cache.config().directory + "/locks/abc", "");
  EXPECT_EQ(found_code(cache, key("f")), "code") << "orphans are no entries";
  Collected young = cache.store().collect(1 << 30);
  EXPECT_EQ(young.orphans + young.stale_locks, 0u) << "somebody may be at it";
  set_time(folder + "/.new-1-2-3", -7200);
  set_time(cache.config().directory + "/locks/abc", -7200);
  Collected old = cache.store().collect(1 << 30);
  EXPECT_EQ(old.orphans, 1u);
  EXPECT_EQ(old.stale_locks, 1u);
  EXPECT_EQ(old.entries, 1u);
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(LocalStore, collecting_to_nothing_leaves_empty_folders_behind_it) {
  TestCache cache;
  for (const char* name : {"a", "b", "c"}) store(key(name), entry(name));
  Collected result = cache.store().collect(0);
  EXPECT_EQ(result.removed, 3u);
  EXPECT_EQ(result.entries, 0u);
  EXPECT_TRUE(cache.store().list().empty());
  store(key("a"), entry("a"));
  EXPECT_EQ(found_code(cache, key("a")), "a");
}

TEST(LocalStore, a_wrong_count_of_bytes_is_put_right) {
  TestCache cache;
  store(key("f"), entry("code"));
  write_content(cache.config().directory + "/usage", "99999999999999999");
  store(key("g"), entry("code"));
  EXPECT_EQ(cache.store().list().size(), 2u) << "nothing had to go";
  EXPECT_LT(std::stoull(content_of(cache.config().directory + "/usage")), 100000u);
  write_content(cache.config().directory + "/usage", "nonsense");
  store(key("h"), entry("code"));
  EXPECT_EQ(found_code(cache, key("h")), "code");
}

}  // namespace fg::cache
