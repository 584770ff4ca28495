// Faults of the files: killed writers, damage, full and read-only disks, hostile entries. A program
// gets the right entry or none, and goes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cache/bundle.h"
#include "cache/seal.h"
#include "tests/base/child_process.h"
#include "tests/base/failing_calls.h"
#include "tests/cache/test_cache.h"

namespace fg::cache {
namespace {

int steps_left = 0;

void kill_at_step(const char*) {
  if (steps_left-- == 0) raise(SIGKILL);
}

// How the child ended that writes and is killed before the given step: 0 is not killed.
int write_and_die(TestCache& cache, int step, const char* code) {
  return in_forked_child([&] {
    cache.forget_memory();
    steps_left = step;
    before_write_step = kill_at_step;
    store(key("f"), entry(code));
  });
}

bool is_root() { return geteuid() == 0; }

}  // namespace

TEST(CacheFault, a_writer_killed_at_any_step_leaves_a_store_that_works) {
  int killed = 0;
  for (int step = 0;; step++) {
    TestCache cache;
    int status = write_and_die(cache, step, "first");
    std::string found = found_code(cache, key("f"));
    EXPECT_TRUE(found == "nothing" || found == "first") << found;
    store(key("f"), entry("first"));
    EXPECT_EQ(found_code(cache, key("f")), "first") << step;
    EXPECT_TRUE(stats().failures.empty());
    if (status == 0) break;
    killed++;
  }
  EXPECT_GE(killed, 6) << "folders, key, file, parts, name";
}

TEST(CacheFault, a_writer_killed_while_it_replaces_an_entry_leaves_the_old_or_the_new) {
  for (int step = 0;; step++) {
    TestCache cache;
    store(key("f"), entry("same"));
    int status = write_and_die(cache, step, "same");
    EXPECT_EQ(found_code(cache, key("f")), "same") << step;
    if (status == 0) break;
  }
}

TEST(CacheFault, a_collector_killed_at_any_step_leaves_whole_entries) {
  for (int step = 0; step < 4; step++) {
    TestCache cache;
    for (const char* name : {"a", "b", "c"}) store(key(name), entry(name));
    in_forked_child([&] {
      steps_left = step;
      before_write_step = kill_at_step;
      cache.store().collect(0);
    });
    for (const char* name : {"a", "b", "c"}) {
      std::string found = found_code(cache, key(name));
      EXPECT_TRUE(found == "nothing" || found == name) << found;
    }
    EXPECT_EQ(cache.store().list().size(), static_cast<size_t>(3 - std::min(step, 3)));
  }
}

TEST(CacheFault, every_flipped_byte_of_a_file_is_a_counted_miss) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file(), good = content_of(file);
  testing::internal::CaptureStderr();
  for (size_t i = 0; i < good.size(); i++) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_content(file, bad);
    EXPECT_EQ(found_code(cache, key("f")), "nothing") << i;
    EXPECT_EQ(stats().misses, 1u);
    EXPECT_EQ(stats().failures.size(), 1u) << i;
  }
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("said once"), std::string::npos) << said;
  write_content(file, good);
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(CacheFault, every_truncated_file_is_a_miss_and_goes) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file(), good = content_of(file);
  for (size_t size = 0; size < good.size(); size += size < 100 ? 1 : 7) {
    write_content(file, good.substr(0, size));
    EXPECT_EQ(found_code(cache, key("f")), "nothing") << size;
    EXPECT_EQ(stats().failures.at("damaged"), 1u) << size;
    EXPECT_FALSE(std::filesystem::exists(file)) << "damage is removed";
  }
  store(key("f"), entry("code"));
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(CacheFault, a_hostile_entry_with_a_right_digest_is_not_taken) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file();
  std::string content = pack(key("f"), entry("evil"));
  Header header = seal(content, address_of(key("f")), digest("a guess"));
  write_content(file, std::string(bytes_of(header)) + content);
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
  EXPECT_EQ(stats().failures.at("not authentic"), 1u);
}

TEST(CacheFault, a_valid_entry_under_another_key_is_not_taken) {
  TestCache cache;
  store(key("f"), entry("code of f"));
  std::string f = cache.only_file();
  store(key("g"), entry("code of g"));
  for (const StoredFile& file : cache.store().list()) {
    if (cache.file(file) == f) continue;
    std::filesystem::copy_file(f, cache.file(file),
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(found_code(cache, key("g")), "nothing");
  EXPECT_EQ(stats().failures.at("not authentic"), 1u);
  EXPECT_EQ(found_code(cache, key("f")), "code of f");
}

// Two keys with one digest, which needs the secret key to make. The fields decide.
TEST(CacheFault, an_authentic_entry_with_other_fields_is_not_taken) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string content = pack(key("g"), entry("code of g"));
  cache.store().write(address_of(key("f")), "0", content);
  EXPECT_EQ(found_code(cache, key("f")), "code") << "the one beside it is";
  EXPECT_EQ(stats().failures.at("another key"), 1u);
}

TEST(CacheFault, entries_of_another_user_s_key_are_misses_and_stay) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::filesystem::remove(cache.config().key_directory + "/cache.key");  // a new one is made
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
  EXPECT_EQ(stats().failures.at("not authentic"), 1u);
  EXPECT_TRUE(std::filesystem::exists(cache.only_file()));
  store(key("f"), entry("code"));
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

TEST(CacheFault, folders_pipes_and_links_in_the_place_of_a_file_are_misses) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string file = cache.only_file(), good = content_of(file);
  auto expect_miss = [&](const char* what) {
    EXPECT_EQ(found_code(cache, key("f")), "nothing") << what;
    EXPECT_EQ(stats().failures.at("damaged"), 1u) << what;
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(file))) << what;
  };
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  expect_miss("a pipe that nobody writes");
  std::filesystem::create_directories(file + "/with/folders");
  write_content(file + "/with/a file", "of somebody");
  expect_miss("a folder");
  write_content(cache.path() + "/elsewhere", good);
  std::filesystem::create_symlink(cache.path() + "/elsewhere", file);
  expect_miss("a link");
  EXPECT_TRUE(std::filesystem::exists(cache.path() + "/elsewhere")) << "what it leads to stays";
  std::filesystem::create_directory(file);  // and there is no lookup before it is stored
  store(key("f"), entry("code"));
  EXPECT_TRUE(stats().failures.contains("damaged") && stats().failures.size() == 1);
  EXPECT_EQ(found_code(cache, key("f")), "code");
}

// Anything in the place of one of the store's own files or folders: no program waits for it, and
// a stored entry is found.
TEST(CacheFault, pipes_folders_files_and_links_in_the_place_of_the_store_s_own_are_removed) {
  auto pipe = [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); };
  auto folder = [](const std::string& path) { std::filesystem::create_directories(path + "/a"); };
  auto file = [](const std::string& path) { write_content(path, "nonsense"); };
  auto link = [](const std::string& path) { std::filesystem::create_symlink("/tmp", path); };
  using Make = std::function<void(const std::string&)>;
  for (const Make& make : {Make(pipe), Make(folder), Make(file), Make(link)}) {
    for (const char* name : {"lookups", "lookups.old", "usage", "entries", "locks"}) {
      TestCache cache;
      store(key("first"), entry("first"));
      std::filesystem::remove_all(cache.config().directory + "/" + name);
      make(cache.config().directory + "/" + name);
      int status = in_forked_child([&] {
        cache.forget_memory();
        Search search = find_or_take_turn(key("f"));
        if (search.entry || search.turn.state() != Turn::State::mine) _exit(1);
        store(key("f"), entry("code"));
        search = {};
        cache.store().collect(1 << 30);
        read_log(cache.store().folder());
        if (found_code(cache, key("f")) != "code") _exit(2);
        if (!stats().failures.empty()) _exit(3);
      });
      EXPECT_EQ(status, 0) << name << "; -1: it hung";
    }
  }
}

TEST(CacheFault, a_log_beside_a_folder_of_its_old_name_stays_small) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::string log = cache.config().directory + "/lookups";
  std::filesystem::create_directories(log + ".old/folder");
  write_content(log, std::string(300 << 10, '\n'));
  found_code(cache, key("f"));
  found_code(cache, key("f"));
  EXPECT_LT(std::filesystem::file_size(log), 10000u);
}

// Errors of the system at each step of storing. The program goes on with its compiled code.
TEST(CacheFault, every_call_that_a_broken_disk_refuses_is_counted_and_said_once) {
  struct Fault {
    std::initializer_list<long> calls;
    int error;
    const char* reason;
  };
  const Fault faults[] = {
      {{SYS_write, SYS_pwrite64}, ENOSPC, "disk full"},
      {{SYS_write, SYS_pwrite64}, EDQUOT, "disk full"},
      {{SYS_write, SYS_pwrite64}, EIO, "file system"},
      {{SYS_close}, EIO, "file system"},
      {{SYS_rename, SYS_renameat, SYS_renameat2}, ENOSPC, "disk full"},
      {{SYS_rename, SYS_renameat, SYS_renameat2}, EROFS, "read-only"},
      {{SYS_mkdir, SYS_mkdirat}, EROFS, "read-only"},
      {{SYS_flock}, ENOLCK, ""},
      {{SYS_pread64, SYS_read}, EIO, ""},
  };
  for (const Fault& fault : faults) {
    TestCache cache;
    store(key("before"), entry("before"));
    std::string said = cache.path() + "/said";
    int status = in_forked_child([&] {
      if (!freopen(said.c_str(), "w", stderr)) _exit(9);
      cache.forget_memory();
      find(key("nothing"));  // the store is open
      if (!fail_calls(fault.calls, fault.error)) _exit(77);
      for (const char* name : {"f", "g"}) {
        Search search = find_or_take_turn(key(name));
        if (search.entry) _exit(1);
        store(key(name), entry(name));
        auto found = find(key(name));
        if (!found || found->section("forward") != name) _exit(2);
      }
      uint64_t counted = *fault.reason ? stats().failures[fault.reason] : 2;
      _exit(counted >= 2 ? 0 : 3);
    });
    if (status == 77) GTEST_SKIP() << "this machine forbids filters of system calls";
    EXPECT_EQ(status, 0) << fault.error << " " << fault.reason;
    EXPECT_EQ(found_code(cache, key("before")), "before") << fault.error;
    std::string text = content_of(said), line = "said once";
    bool is_said = text.find(line) != text.npos, can_write = fault.calls.begin()[0] != SYS_write;
    EXPECT_TRUE(is_said == can_write || !*fault.reason) << fault.reason << ": " << text;
    EXPECT_EQ(text.find(line), text.rfind(line)) << text;
    for (const StoredFile& file : cache.store().list()) EXPECT_FALSE(file.name.starts_with(".new"));
  }
}

TEST(CacheFault, no_umask_spoils_the_key_or_the_store) {
  for (mode_t mask : {0777, 0700, 0400, 0200, 0100}) {
    TestCache cache;
    chmod(cache.path().c_str(), 0777);
    int status = in_child_without_rights([&] {
      umask(mask);
      cache.config().directory = cache.path() + "/a/b/cache";
      cache.config().key_directory = cache.path() + "/c/d/config";
      cache.forget_memory();
      store(key("f"), entry("code"));
      if (!stats().failures.empty()) _exit(1);
      if (found_code(cache, key("f")) != "code") _exit(2);
      if (find_or_take_turn(key("g")).turn.state() != Turn::State::mine) _exit(3);
    });
    EXPECT_EQ(status, 0) << mask;
  }
}

TEST(CacheFault, a_full_disk_is_a_miss_that_is_said_once) {
  if (!is_root()) GTEST_SKIP() << "only root can mount a small disk; the next test does without";
  TestCache cache;
  std::string disk = cache.path() + "/disk";
  std::filesystem::create_directory(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=128k,mode=700")) {
    GTEST_SKIP() << "this machine does not let us mount a small disk; the next test does without";
  }
  cache.config().directory = disk + "/cache";
  configure(cache.config());
  store(key("small"), entry("small"));
  std::string big(200 << 10, 'x');
  testing::internal::CaptureStderr();
  store(key("big"), entry(big));
  store(key("big"), entry(big));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(stats().failures.at("disk full"), 2u);
  EXPECT_EQ(said.find("No space left"), said.rfind("No space left")) << said;
  EXPECT_NE(said.find("No space left"), std::string::npos) << said;
  EXPECT_EQ(find(key("big"))->section("forward"), big) << "in memory it is there";
  EXPECT_EQ(found_code(cache, key("big")), "nothing");
  EXPECT_EQ(found_code(cache, key("small")), "small");
  store(key("more"), entry("more"));
  EXPECT_EQ(found_code(cache, key("more")), "more") << "nothing of the big one was left behind";
  Config off = cache.config();
  off.local = false;
  configure(off);
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

TEST(CacheFault, a_write_of_a_forked_child_that_is_cut_short_is_a_miss) {
  TestCache cache;
  store(key("small"), entry("small"));
  int status = in_forked_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit small{65536, 65536};
    setrlimit(RLIMIT_FSIZE, &small);
    cache.forget_memory();
    store(key("big"), entry(std::string(200 << 10, 'x')));
    _exit(stats().failures["disk full"] == 1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(found_code(cache, key("big")), "nothing");
  EXPECT_EQ(cache.store().list().size(), 1u);
}

TEST(CacheFault, a_read_only_folder_is_read) {
  TestCache cache;
  store(key("f"), entry("code"));
  auto each = [&](const std::string& folder, const auto& change) {
    change(folder);
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      change(file.path().string());
    }
  };
  auto give = [](const std::string& path) { ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0); };
  if (is_root()) each(cache.path(), give);
  each(cache.config().directory, [](const std::string& path) {
    chmod(path.c_str(), std::filesystem::is_directory(path) ? 0500 : 0400);
  });
  int status = in_child_without_rights([&] {
    cache.forget_memory();
    auto found = find(key("f"));
    if (!found || found->section("forward") != "code") _exit(1);
    store(key("g"), entry("code"));
    if (stats().failures["read-only"] != 1) _exit(2);
    Search search = find_or_take_turn(key("h"));
    if (search.entry || search.turn.state() != Turn::State::alone) _exit(3);
  });
  EXPECT_EQ(status, 0);
  // So that it can be removed.
  each(cache.config().directory, [](const std::string& path) { chmod(path.c_str(), 0700); });
}

TEST(CacheFault, a_folder_that_cannot_be_read_is_a_miss) {
  TestCache cache;
  store(key("f"), entry("code"));
  chmod(cache.path().c_str(), is_root() ? 0700 : 0);  // the child cannot enter
  int status = in_child_without_rights([&] {
    cache.forget_memory();
    if (find(key("f"))) _exit(1);
    store(key("f"), entry("code"));
    if (stats().failures.size() != 1 || stats().misses != 1) _exit(2);
    if (!find(key("f"))) _exit(3);  // in memory
  });
  EXPECT_EQ(status, 0);
  chmod(cache.path().c_str(), 0700);
}

TEST(CacheFault, a_lock_that_somebody_holds_for_ever_stops_nobody) {
  TestCache cache;
  store(key("f"), entry("code"));
  int usage = open((cache.config().directory + "/usage").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(usage, LOCK_EX), 0);
  store(key("g"), entry("code of g"));
  EXPECT_EQ(cache.store().collect(0).removed, 0u) << "whoever holds it is collecting";
  EXPECT_EQ(found_code(cache, key("g")), "code of g");
  close(usage);
}

TEST(CacheFault, a_folder_that_is_removed_meanwhile_is_made_anew) {
  TestCache cache;
  store(key("f"), entry("code"));
  std::filesystem::remove_all(cache.config().directory);
  store(key("g"), entry("again"));
  EXPECT_TRUE(stats().failures.empty());
  EXPECT_EQ(found_code(cache, key("g")), "again");
  EXPECT_EQ(found_code(cache, key("f")), "nothing");
}

TEST(CacheFault, artifacts_are_loaded_although_the_folder_and_its_parents_are_gone) {
  TestCache cache;
  cache.with_shared_key();
  cache.config().directory = cache.path() + "/parent/of/cache";
  cache.forget_memory();
  store(key("f"), entry("code"));
  std::string bytes = save_artifacts()->bytes;
  std::filesystem::remove_all(cache.path() + "/parent");
  EXPECT_EQ(load_artifacts(bytes).size(), 1u);
  EXPECT_EQ(found_code(cache, key("f")), "code");
  std::filesystem::remove_all(cache.path() + "/parent");
  EXPECT_EQ(find_or_take_turn(key("g")).turn.state(), Turn::State::mine);
  std::filesystem::remove_all(cache.path() + "/parent");
  clear();
  EXPECT_TRUE(stats().failures.empty());
}

TEST(CacheFault, a_relative_folder_is_that_of_the_beginning) {
  TestCache cache;
  int status = in_forked_child([&] {
    if (chdir(cache.path().c_str())) _exit(1);
    cache.config().directory = "relative/cache";
    cache.forget_memory();
    if (chdir("/")) _exit(1);
    store(key("f"), entry("code"));
    if (!stats().failures.empty()) _exit(2);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(cache.path() + "/relative/cache/entries"));
}

TEST(CacheFault, a_file_in_the_place_of_the_folder_is_a_miss) {
  TestCache cache;
  write_content(cache.config().directory, "not a folder");
  EXPECT_FALSE(find(key("f")));
  store(key("f"), entry("code"));
  EXPECT_EQ(stats().failures.at("no folder"), 2u);
}

}  // namespace fg::cache
