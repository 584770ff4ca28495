// Programs with more rights than their user, and programs that go to another folder.
#include "base/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/library.h"
#include "base/settings.h"
#include "tests/base/child_process.h"
#include "tests/error_of.h"

namespace fg {
namespace {

namespace fs = std::filesystem;

struct Folder {
  char name[40] = "/tmp/foregrad-rights-XXXXXX";
  std::string path = mkdtemp(name);
  ~Folder() { fs::remove_all(path); }
};

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

constexpr const char* kSettings =
    "FOREGRAD_LEVEL=baseline FOREGRAD_CACHE_DIR=/tmp/theirs TMPDIR=/tmp/theirs HOME=/tmp/theirs";

}  // namespace

TEST(Environment, DISABLED_says_what_it_reads) {
  std::cout << "foreign rights: " << has_foreign_rights()
            << ", level: " << settings::text(settings::Id::level)
            << ", folder: " << settings::text(settings::Id::cache_dir)
            << ", HOME: " << (environment("HOME") ? environment("HOME") : "none") << "\n";
}

TEST(Environment, a_program_with_foreign_rights_reads_no_setting) {
  const std::string says = "--gtest_also_run_disabled_tests --gtest_filter=*says_what_it_reads";
  std::string usual = run_this_test(kSettings, "*says_what_it_reads").output;
  EXPECT_HAS(usual, "foreign rights: 0, level: baseline, folder: /tmp/theirs, HOME: /tmp/theirs");
  std::optional<gid_t> group = another_group();
  if (!group) GTEST_SKIP() << "this user has one group only: no program can be made setgid";
  Folder folder;
  std::string program = folder.path + "/program";
  fs::copy_file("/proc/self/exe", program);
  ASSERT_EQ(chown(program.c_str(), geteuid(), *group), 0);
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  Outcome outcome = run_command(std::string("env ") + kSettings + " " + program + " " + says);
  if (has(outcome.output, "foreign rights: 0")) {
    GTEST_SKIP() << "programs in /tmp get no rights of others here";
  }
  EXPECT_HAS(outcome.output, "foreign rights: 1, level: auto, folder: , HOME: none");
}

TEST(Library, files_beside_it_are_where_it_was_loaded_from) {
  std::string path = beside_this_library("libforegrad.so");
  EXPECT_TRUE(fs::path(path).is_absolute()) << path;
  EXPECT_TRUE(fs::exists(path)) << path;
}

TEST(Library, DISABLED_goes_elsewhere_and_says_its_folder) {
  ASSERT_EQ(chdir("/"), 0);
  std::cout << "beside: " << beside_this_library("it") << "\n";
}

TEST(Library, a_relative_path_of_the_loader_survives_a_change_of_the_folder) {
#ifdef FOREGRAD_SANITIZE
  GTEST_SKIP() << "a sanitizer must be loaded before any other library";
#endif
  fs::path library = beside_this_library("libforegrad.so");
  if (!fs::exists(library)) GTEST_SKIP() << "the library is part of this program";
  std::string self = fs::read_symlink("/proc/self/exe").string();
  // The loader takes the library from a relative folder, and its name for its path.
  Outcome outcome = run_command("cd " + library.parent_path().string() +
                                " && LD_LIBRARY_PATH=. LD_PRELOAD=./libforegrad.so " + self +
                                " --gtest_also_run_disabled_tests --gtest_filter=*says_its_folder");
  EXPECT_HAS(outcome.output, "beside: " + library.parent_path().string() + "/");
}

}  // namespace fg
