// A file that is written in full or not at all, whatever has its name.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "tests/base/child_process.h"
#include "tests/base/failing_calls.h"
#include "tests/error_of.h"
#include "tests/folder.h"

namespace fg {
namespace {

namespace fs = std::filesystem;

void write(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace

TEST(AtomicFile, a_link_stays_and_what_it_leads_to_is_replaced) {
  Folder folder;
  std::string link = folder.path + "/link", file = folder.path + "/file";
  fs::create_symlink("file", link);
  write(link, "made through a link");
  EXPECT_EQ(read_file(file, 99), "made through a link");
  write(link, "again");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(file, 99), "again");
  fs::create_symlink("loop", folder.path + "/loop");
  EXPECT_HAS(error_of([&] { write(folder.path + "/loop", "x"); }), "cannot be opened for writing");
  EXPECT_EQ(folder.files(), 3);
}

TEST(AtomicFile, keeps_the_mode_of_the_file_it_replaces) {
  Folder folder;
  std::string path = folder.path + "/secret";
  write(path, "one");
  chmod(path.c_str(), 0600);
  write(path, "two");
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(AtomicFile, a_device_is_written_to_and_stays_one) {
  Folder folder;
  std::string nothing = "/dev/null";
  if (geteuid() == 0) {  // root could replace that of the machine
    nothing = folder / "null";
    ASSERT_EQ(mknod(nothing.c_str(), S_IFCHR | 0666, makedev(1, 3)), 0);
  }
  write(nothing, "into nothing");
  EXPECT_TRUE(fs::is_character_file(nothing));
  std::string pipe = folder.path + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int status = in_forked_child([&] {
    if (error_of([&] { write(pipe, "x"); }).find("cannot be opened for writing") ==
        std::string::npos) {
      _exit(1);
    }
    int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write(pipe, "read");
    char text[9] = {};
    if (read(reader, text, 8) != 4 || std::string(text) != "read") _exit(2);
  });
  EXPECT_EQ(status, 0) << "-1: it hung";
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_HAS(error_of([&] { write(folder.path, "x"); }), "Is a directory");
}

TEST(AtomicFile, names_may_be_as_long_as_the_system_has_them) {
  Folder folder;
  std::string path = folder.path + "/" + std::string(255, 'n');
  write(path, "long");
  EXPECT_EQ(read_file(path, 9), "long");
  EXPECT_HAS(error_of([&] { write(path + "n", "x"); }), "File name too long");
  EXPECT_EQ(folder.files(), 1);
}

TEST(AtomicFile, each_step_that_fails_leaves_the_old_file_and_nothing_else) {
  const std::initializer_list<std::pair<long, int>> faults = {
      {SYS_write, ENOSPC}, {SYS_write, EDQUOT},  {SYS_write, EIO},    {SYS_fsync, EIO},
      {SYS_close, EIO},    {SYS_rename, ENOSPC}, {SYS_rename, EROFS},
  };
  for (auto [call, code] : faults) {
    Folder folder;
    std::string path = folder.path + "/file";
    write(path, "old");
    int status = in_forked_child([&, call = call, code = code] {
      if (!fail_calls({call}, code)) _exit(77);
      std::string error = error_of([&] { write(path, "new"); });
      _exit(error.find(std::strerror(code)) == std::string::npos ? 1 : 0);
    });
    if (status == 77) GTEST_SKIP() << "this machine forbids filters of system calls";
    EXPECT_EQ(status, 0) << call << " " << code;
    EXPECT_EQ(read_file(path, 9), "old");
    EXPECT_EQ(folder.files(), 1) << call << " " << code;
  }
}

TEST(AtomicFile, a_limit_of_the_size_of_files_is_an_error_and_no_signal) {
  Folder folder;
  int status = in_forked_child([&] {
    rlimit small{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &small);  // SIGXFSZ ends a program that does nothing about it
    std::string error = error_of([&] { write(folder.path + "/file", std::string(9999, 'x')); });
    _exit(error.find("File too large") == std::string::npos ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace fg
