// Compiled code is loaded where the system has no memory files: from a private temporary file.
#include "codegen/code_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "codegen/build.h"
#include "codegen/scratch.h"
#include "tests/base/child_process.h"
#include "tests/base/failing_calls.h"
#include "tests/error_of.h"

namespace fg::codegen {
namespace {

namespace fs = std::filesystem;

// Code of a function that multiplies its argument by a number.
std::string code_of_times(double factor) {
  LoopKernel kernel;
  kernel.sizes = {1};
  kernel.operands = {{DType::f32, {1}}, {DType::f32, {1}}};
  kernel.inputs = 1;
  ir::Expr x = ir::Expr::input(0, DType::f32);
  kernel.program = ir::Program(x * ir::like(x, factor));
  return build({{"times", &kernel}}, level());
}

float call(const Library& library, float x) {
  float result = 0;
  char* operands[] = {reinterpret_cast<char*>(&x), reinterpret_cast<char*>(&result)};
  library.find("times")(operands, 0, 1, services);
  return result;
}

// TMPDIR is an empty folder for as long as this lives.
class OwnTemporaryFolder {
 public:
  OwnTemporaryFolder() : before_(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "") {
    std::string name = fs::temp_directory_path() / "code_file_test-XXXXXX";
    path = mkdtemp(name.data());
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~OwnTemporaryFolder() {
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    fs::remove_all(path);
  }
  fs::path path;

 private:
  std::string before_;
};

TEST(CodeFile, loads_from_a_temporary_file_that_is_gone_directly_after) {
  OwnTemporaryFolder folder;
  Library library(code_of_times(3), CodeFile::temporary);
  EXPECT_TRUE(fs::is_empty(folder.path));
  EXPECT_EQ(call(library, 2), 6);
}

TEST(CodeFile, keeps_libraries_apart_whichever_way_they_came) {
  std::vector<std::unique_ptr<Library>> libraries;
  for (int i = 0; i < 20; i++) {
    CodeFile file = i % 3 ? CodeFile::temporary : CodeFile::memory;
    libraries.push_back(std::make_unique<Library>(code_of_times(i), file));
    if (i % 4 == 3) libraries[i / 2].reset();  // descriptors, inodes and memory are used again
  }
  for (int i = 0; i < 20; i++) {
    if (libraries[i]) {
      EXPECT_EQ(call(*libraries[i], 2), 2 * i);
    }
  }
}

TEST(CodeFile, works_in_a_folder_that_everybody_writes_and_with_any_umask) {
  OwnTemporaryFolder folder;
  fs::permissions(folder.path, fs::perms::all);
  mode_t before = umask(0);
  Library library(code_of_times(5), CodeFile::temporary);
  umask(before);
  EXPECT_EQ(call(library, 2), 10);
}

TEST(CodeFile, says_what_to_do_when_no_file_can_be_made) {
  OwnTemporaryFolder folder;
  std::string missing = folder.path / "missing";
  setenv("TMPDIR", missing.c_str(), 1);
  EXPECT_EQ(error_of([] { load_code("", CodeFile::temporary); }),
            "compiled code cannot be loaded: a private file in " + missing +
                " cannot be made (No such file or directory); set TMPDIR to a folder where files "
                "can be written and executed");
}

TEST(CodeFile, refuses_bytes_that_are_no_library_and_leaves_nothing) {
  OwnTemporaryFolder folder;
  std::string error = error_of([] { load_code("no library", CodeFile::memory); });
  EXPECT_HAS(error, "compiled code cannot be loaded: ");
  EXPECT_HAS(error, "set TMPDIR to a folder where files can be written and executed");
  EXPECT_TRUE(fs::is_empty(folder.path));
}

constexpr int kLoaded = 10, kWrong = 11, kNotForbidden = 12;

TEST(CodeFileDeathTest, falls_back_where_memfd_create_is_missing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::string bytes = code_of_times(7);
        if (!fail_calls({SYS_memfd_create}, ENOSYS)) _exit(kNotForbidden);
        if (memfd_create("probe", 0) >= 0) _exit(kWrong);
        _exit(call(Library(bytes), 2) == 14 ? kLoaded : kWrong);
      },
      [](int status) {
        // Some containers forbid filters: then there is nothing to see.
        return WIFEXITED(status) &&
               (WEXITSTATUS(status) == kLoaded || WEXITSTATUS(status) == kNotForbidden);
      },
      "");
}

// ---- linking

constexpr int kNotHere = 77;

int in_child_without_memory_files(const std::function<void()>& body) {
  code_of_times(1);  // the generator is loaded
  return in_forked_child([&] {
    if (!fail_calls({SYS_memfd_create}, ENOSYS)) _exit(kNotHere);
    body();
  });
}

// A small disk in the place of a folder, for this process only; all but `room` bytes are taken.
bool put_small_disk(const std::string& folder, size_t room) {
  constexpr size_t kSize = 256 << 10;
  if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
      mount("none", folder.c_str(), "tmpfs", 0, "size=256k,mode=1777")) {
    return false;
  }
  Descriptor file = open_plain(AT_FDCWD, folder + "/large", O_RDWR | O_CREAT);
  return write_all(file.number(), std::string(kSize - room, 'x'));
}

TEST(Link, full_disks_do_not_matter) {
  code_of_times(1);
  for (size_t room : {0, 4096, 8192, 16384}) {
    int status = in_forked_child([&] {
      OwnTemporaryFolder folder;
      if (!put_small_disk("/dev/shm", room) || !put_small_disk(folder.path, room)) _exit(kNotHere);
      _exit(call(Library(code_of_times(3)), 2) == 6 ? 0 : 1);
    });
    if (status == kNotHere) GTEST_SKIP() << "only root can mount small disks, and not everywhere";
    EXPECT_EQ(status, 0) << room << " bytes are free; -1: a signal ended it";
  }
}

TEST(Link, without_memory_files_a_full_disk_is_said) {
  for (size_t room : {0, 4096}) {
    OwnTemporaryFolder folder;
    int status = in_child_without_memory_files([&] {
      if (!put_small_disk(folder.path, room)) _exit(kNotHere);
      std::string error = error_of([] { code_of_times(3); });
      bool said = error == "codegen: linking needs a file in " + folder.path.string() +
                               ": No space left on device; set TMPDIR to a folder that can be "
                               "written to";
      _exit(said || (room > 0 && error == "no error") ? 0 : 1);
    });
    if (status == kNotHere) GTEST_SKIP() << "only root can mount small disks, and not everywhere";
    EXPECT_EQ(status, 0) << room << " bytes are free; -1: a signal ended it";
  }
}

TEST(Link, works_without_memory_files_and_with_any_umask) {
  OwnTemporaryFolder folder;
  fs::permissions(folder.path, fs::perms::all);
  for (mode_t mask : {0, 0777, 0700, 0400}) {
    int status = in_child_without_memory_files([&] {
      if (geteuid() == 0 && (setgid(65534) || setuid(65534))) _exit(kNotHere);
      umask(mask);
      _exit(call(Library(code_of_times(5)), 2) == 10 ? 0 : 1);
    });
    if (status == kNotHere) GTEST_SKIP() << "this machine forbids filters of system calls";
    EXPECT_EQ(status, 0) << mask;
    EXPECT_TRUE(fs::is_empty(folder.path));
  }
}

TEST(Link, a_program_that_is_forked_meanwhile_does_not_hold_it_up) {
  code_of_times(1);
  pid_t parent = getpid();
  std::vector<pid_t> children;
  std::thread forking([&] {
    for (int i = 0; i < 40; i++) {
      pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) pause();  // with copies of all that is open
        _exit(0);
      }
      children.push_back(child);
      usleep(500);
    }
  });
  for (int i = 0; i < 10; i++) EXPECT_EQ(call(Library(code_of_times(i)), 2), 2.0f * i);
  forking.join();
  for (pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(Link, a_child_that_is_forked_while_others_compile_compiles_too) {
  std::atomic<bool> done = false;
  std::vector<std::thread> compiling;
  for (int t = 0; t < 2; t++) {
    compiling.emplace_back([&done, t] {
      for (int i = 1; !done; i++) call(Library(code_of_times(i + t * 0.5)), 2);
    });
  }
  for (int i = 0; i < 40; i++) {
    usleep(static_cast<useconds_t>(700 * i));
    int status =
        in_forked_child([&] { _exit(call(Library(code_of_times(i)), 2) == 2 * i ? 0 : 1); });
    EXPECT_EQ(status, 0) << "child " << i << "; -1: a signal ended it";
  }
  done = true;
  for (std::thread& thread : compiling) thread.join();
}

TEST(Scratch, of_a_killed_process_is_removed_by_the_next_and_that_of_a_living_one_stays) {
  OwnTemporaryFolder folder;
  fs::create_directory(folder.path / "foregrad-code-of-a-user");
  int status = in_forked_child([&] {
    Scratch* left = new Scratch;
    if (!*left) _exit(1);
    fs::create_directories(left->path("some/folders"));
    raise(SIGKILL);
  });
  EXPECT_EQ(status, -1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 2);
  Scratch alive;
  ASSERT_TRUE(bool(alive));
  EXPECT_TRUE(fs::exists(alive.path("")));
  status = in_forked_child([&] { Scratch another; });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(alive.path(""))) << "its process lives";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 2) << "and that of a user";
}

}  // namespace
}  // namespace fg::codegen
