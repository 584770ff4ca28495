#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/error_of.h"

namespace fg {
namespace {

struct Folder {
  char name[32] = "/tmp/foregrad-file-XXXXXX";
  std::string path = mkdtemp(name);
  Descriptor opened{open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ~Folder() { std::filesystem::remove_all(path); }
  int64_t files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
};

}  // namespace

TEST(File, is_written_whole_and_replaced_whole) {
  Folder folder;
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"one ", "two"}));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "one two");
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"three"}));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "three");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, an_existing_one_can_be_kept) {
  Folder folder;
  EXPECT_TRUE(write_file(folder.opened.number(), "a", {"first"}, Existing::keep));
  EXPECT_FALSE(write_file(folder.opened.number(), "a", {"second"}, Existing::keep));
  EXPECT_EQ(read_file(folder.path + "/a", 100), "first");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, what_cannot_be_written_leaves_nothing) {
  Folder folder;
  std::filesystem::create_directory(folder.path + "/a");
  EXPECT_EQ(error_of([&] { write_file(folder.opened.number(), "a", {"x"}); }),
            "cannot name a: Is a directory");
  EXPECT_EQ(folder.files(), 1);
}

TEST(File, what_cannot_be_read_says_why) {
  Folder folder;
  write_file(folder.opened.number(), "a", {"12345"});
  EXPECT_EQ(error_of([&] { read_file(folder.path + "/b", 9); }),
            "cannot read " + folder.path + "/b: No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(folder.path + "/a", 4); }),
            "cannot read " + folder.path + "/a: it has 5 bytes; expected at most 4");
  EXPECT_EQ(error_of([&] { read_file(folder.path, 9); }),
            "cannot read " + folder.path + ": it is not a plain file");
}

}  // namespace fg
