// The user's secret key: made once, for this user only.
#include "cache/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/error.h"
#include "tests/base/child_process.h"
#include "tests/cache/test_cache.h"
#include "tests/error_of.h"

namespace fg::cache {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

bool is_root() { return geteuid() == 0; }

}  // namespace

TEST(CacheSecret, is_made_on_first_use_and_stays) {
  TestCache cache;
  std::string folder = cache.path() + "/new/config";
  SecretKey made = user_key(folder);
  EXPECT_EQ(user_key(folder), made);
  EXPECT_EQ(mode_of(folder), 0700u);
  EXPECT_EQ(mode_of(folder + "/cache.key"), 0600u);
  EXPECT_EQ(content_of(folder + "/cache.key").size(), 32u);
  EXPECT_NE(user_key(cache.path() + "/other"), made);
}

TEST(CacheSecret, many_processes_that_make_it_at_once_have_one_key) {
  TestCache cache;
  std::string folder = cache.path() + "/race";
  int ready[2], results[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(results), 0);
  constexpr int kProcesses = 16;
  for (int i = 0; i < kProcesses; i++) {
    if (fork() == 0) {
      char go;
      close(ready[1]);
      if (read(ready[0], &go, 1) < 0) _exit(1);  // all begin when the parent closes the pipe
      SecretKey made = user_key(folder);
      _exit(write(results[1], made.data(), made.size()) == 32 ? 0 : 1);
    }
  }
  close(ready[0]);
  close(ready[1]);
  std::set<SecretKey> keys;
  for (int i = 0; i < kProcesses; i++) {
    SecretKey key;
    ASSERT_EQ(read(results[0], key.data(), key.size()), 32);
    keys.insert(key);
  }
  while (wait(nullptr) > 0) {
  }
  EXPECT_EQ(keys.size(), 1u);
  int files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder)) files++;
  EXPECT_EQ(files, 1);
}

TEST(CacheSecret, a_file_that_others_can_read_turns_the_cache_off_and_says_the_remedy) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.config().key_directory + "/cache.key";
  chmod(file.c_str(), 0644);
  testing::internal::CaptureStderr();
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
  store(key("f"), entry("code"));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("has mode 644; expected 600: chmod 600 " + file), std::string::npos) << said;
  EXPECT_EQ(said.find("has mode"), said.rfind("has mode")) << "said once: " << said;
  EXPECT_EQ(stats().failures.at("key file"), 2u);
  chmod(file.c_str(), 0600);
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(CacheSecret, a_folder_that_others_can_enter_is_refused) {
  TestCache cache;
  user_key(cache.path() + "/c");
  chmod((cache.path() + "/c").c_str(), 0755);
  EXPECT_EQ(error_of([&] { user_key(cache.path() + "/c"); }),
            "the folder of the cache's key " + cache.path() +
                "/c has mode 755; expected 700: " + "chmod 700 " + cache.path() + "/c");
}

TEST(CacheSecret, a_file_of_another_owner_is_refused) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  TestCache cache;
  user_key(cache.path() + "/c");
  std::string file = cache.path() + "/c/cache.key";
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  EXPECT_EQ(error_of([&] { user_key(cache.path() + "/c"); }),
            "the key file " + file + " belongs to user 65534; expected yours (0)");
}

TEST(CacheSecret, a_symbolic_link_is_no_key) {
  TestCache cache;
  user_key(cache.path() + "/c");
  std::string file = cache.path() + "/c/cache.key";
  std::filesystem::rename(file, cache.path() + "/elsewhere");
  std::filesystem::create_symlink(cache.path() + "/elsewhere", file);
  EXPECT_EQ(error_of([&] { user_key(cache.path() + "/c"); }),
            "the key file " + file + " cannot be opened: Too many levels of symbolic links");
}

TEST(CacheSecret, an_empty_file_is_no_key) {
  TestCache cache;
  user_key(cache.path() + "/c");
  std::string file = cache.path() + "/c/cache.key";
  write_content(file, "");
  EXPECT_EQ(error_of([&] { user_key(cache.path() + "/c"); }),
            "the key file " + file + " has 0 bytes; expected 32 or more random ones");
}

TEST(CacheSecret, without_a_shared_key_the_remedy_is_said) {
  std::string said = error_of([] { shared_key("", "an import"); });
  EXPECT_TRUE(
      said.starts_with("an import needs a shared key: make one with `(umask 77; head -c 32 "
                       "/dev/urandom > FILE)`"))
      << said;
  EXPECT_NE(
      error_of([] { shared_key("/nowhere/key", "an import"); }).find("/nowhere/key cannot be"),
      std::string::npos);
}

TEST(CacheSecret, clear_leaves_it) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string before = content_of(cache.config().key_directory + "/cache.key");
  clear();
  EXPECT_EQ(content_of(cache.config().key_directory + "/cache.key"), before);
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
}

}  // namespace fg::cache
