// Programs with more rights than their user, and programs that go to another folder.
#include "base/environment.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/library.h"
#include "base/settings.h"
#include "tests/base/child_process.h"
#include "tests/error_of.h"
#include "tests/folder.h"

namespace fg {
namespace {

namespace fs = std::filesystem;

// A group of this user that is not its first one.
std::optional<gid_t> another_group() {
  if (geteuid() == 0) return 65534;
  gid_t groups[64];
  int count = getgroups(64, groups);
  for (int i = 0; i < count; i++) {
    if (groups[i] != getegid()) return groups[i];
  }
  return std::nullopt;
}

// Whether the system ignores setuid and setgid there, or for this process and its children.
bool is_nosuid(const std::string& path) {
  struct statvfs status;
  bool mounted_so = statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_NOSUID);
  return mounted_so || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

constexpr const char* kSettings =
    "FOREGRAD_LEVEL=baseline FOREGRAD_CACHE_DIR=/tmp/theirs TMPDIR=/tmp/theirs HOME=/tmp/theirs";

}  // namespace

TEST_CHILD(Environment, says_what_it_reads) {
  std::cout << "foreign rights: " << has_foreign_rights()
            << ", level: " << settings::text(settings::Id::level)
            << ", folder: " << settings::text(settings::Id::cache_dir)
            << ", HOME: " << (environment("HOME") ? environment("HOME") : "none") << "\n";
}

TEST(Environment, a_program_with_foreign_rights_reads_no_setting) {
  std::string usual = run_child("Environment.says_what_it_reads", kSettings).output;
  EXPECT_HAS(usual, "foreign rights: 0, level: baseline, folder: /tmp/theirs, HOME: /tmp/theirs");
  std::optional<gid_t> group = another_group();
  // Only the system can give a program foreign rights, and only where it allows that.
  if (!group) GTEST_SKIP() << "this user has one group only and cannot make a setgid program";
  Folder folder;
  std::string program = folder.path + "/program";
  fs::copy_file("/proc/self/exe", program);
  ASSERT_EQ(chown(program.c_str(), geteuid(), *group), 0);
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  Outcome outcome = run_child("Environment.says_what_it_reads", kSettings, program);
  if (is_nosuid(folder.path)) {
    GTEST_SKIP() << "the temporary folder is mounted nosuid: no program there is setgid";
  }
  EXPECT_HAS(outcome.output, "foreign rights: 1, level: auto, folder: , HOME: none");
}

TEST(Library, files_beside_it_are_where_it_was_loaded_from) {
  std::string path = beside_this_library("libforegrad.so");
  EXPECT_TRUE(fs::path(path).is_absolute()) << path;
  EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_CHILD(Library, goes_elsewhere_and_says_its_folder) {
  ASSERT_EQ(chdir("/"), 0);
  std::cout << "beside: " << beside_this_library("it") << "\n";
}

// A sanitizer must be loaded before any other library: it would refuse to be preceded by ours.
#ifndef FOREGRAD_SANITIZE
TEST(Library, a_relative_path_of_the_loader_survives_a_change_of_the_folder) {
  fs::path library = beside_this_library("libforegrad.so");
  // The loader takes the library from a relative folder, and its name for its path.
  Outcome outcome = run_child(
      "Library.goes_elsewhere_and_says_its_folder",
      "-C " + library.parent_path().string() + " LD_LIBRARY_PATH=. LD_PRELOAD=./libforegrad.so");
  EXPECT_HAS(outcome.output, "beside: " + library.parent_path().string() + "/");
}
#endif

}  // namespace fg
