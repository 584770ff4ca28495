#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "tests/base/child_process.h"
#include "tests/error_of.h"
#include "tests/folder.h"

namespace fg {
namespace {

struct OpenFolder : Folder {
  Descriptor opened{open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

}  // namespace

TEST(File, is_written_whole_and_replaced_whole) {
  OpenFolder folder;
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"one ", "two"}));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "one two");
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"three"}));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "three");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, an_existing_one_can_be_kept) {
  OpenFolder folder;
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"first"}, Existing::keep));
  EXPECT_FALSE(write_file(folder.opened.number(), "a", {"second"}, Existing::keep));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "first");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, what_cannot_be_written_leaves_nothing) {
  OpenFolder folder;
  std::filesystem::create_directory(folder.path + "/a");
  EXPECT_EQ(error_of([&] { write_file(folder.opened.number(), "a", {"x"}); }),
            "cannot name a: Is a directory");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, what_cannot_be_read_says_why) {
  OpenFolder folder;
  write_file(folder.opened.number(), "a", {"12345"});
  EXPECT_EQ(error_of([&] { read_file(folder.path + "/b", 9); }),
            "cannot read " + folder.path + "/b: No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder.path + "/a", 4); }),
            "cannot read " + folder.path + "/a: it has 5 bytes; expected at most 4");
  EXPECT_EQ(error_of([&] { read_file(folder.path, 9); }),
            "cannot read " + folder.path + ": it is not a plain file");
}

TEST(File, what_may_wait_for_others_is_refused_at_once) {
  OpenFolder folder;
  ASSERT_EQ(mkfifo((folder.path + "/pipe").c_str(), 0600), 0);
  int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder.path + "/socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  std::filesystem::create_symlink("pipe", folder.path + "/link");
  for (std::string path : {folder.path + "/pipe", folder.path + "/socket", folder.path + "/link",
                           folder.path, std::string("/dev/null"), std::string("/dev/zero")}) {
    for (int flags : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR | O_CREAT}) {
      int status = in_forked_child([&] {
        Descriptor file = open_plain(AT_FDCWD, path, flags);
        _exit(!file && errno == kNotPlain ? 0 : 1);
      });
      EXPECT_EQ(status, 0) << path << " " << flags << "; -1: it hung";
    }
    EXPECT_EQ(error_of([&] { read_file(path, 9); }),
              "cannot read " + path + ": it is not a plain file");
  }
  close(listening);
}

TEST(File, no_umask_takes_the_owner_s_rights) {
  OpenFolder folder;
  mode_t before = umask(0777);
  int number = folder.opened.number();
  bool made = make_private_folder(number, "folder");
  write_file(number, "file", {"text"});
  Descriptor opened = open_plain(number, "opened", O_RDWR | O_CREAT);
  umask(before);
  ASSERT_TRUE(made);
  auto mode_of = [&](const char* name) {
    struct stat status{};
    EXPECT_EQ(fstatat(number, name, &status, 0), 0);
    return status.st_mode & 0777;
  };
  EXPECT_EQ(mode_of("folder"), 0700u);
  EXPECT_EQ(mode_of("file"), 0600u);
  EXPECT_EQ(mode_of("opened"), 0600u);
}

TEST(File, anything_can_be_removed_and_links_are_not_followed) {
  OpenFolder folder;
  namespace fs = std::filesystem;
  int number = folder.opened.number();
  fs::create_directories(folder.path + "/kept");
  fs::create_directories(folder.path + "/a/b/c");
  fs::create_symlink("../../kept", folder.path + "/a/b/link");
  ASSERT_EQ(mkfifo((folder.path + "/a/pipe").c_str(), 0600), 0);
  write_file(number, "file", {"text"});
  fs::create_symlink("kept", folder.path + "/link");
  for (const char* name : {"a", "file", "link"}) EXPECT_TRUE(remove_anything(number, name)) << name;
  EXPECT_FALSE(remove_anything(number, "nothing"));
  EXPECT_EQ(names_in(number), std::vector<std::string>{"kept"});
}

}  // namespace fg
