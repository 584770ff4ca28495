// Compiled code is loaded where the system has no memory files: from a private temporary file.
#include "codegen/code_file.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "codegen/build.h"
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

// From now on this process has no memory files, as on a kernel without them.
bool forbid_memfd_create() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int kLoaded = 10, kWrong = 11, kNotForbidden = 12;

TEST(CodeFileDeathTest, falls_back_where_memfd_create_is_missing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::string bytes = code_of_times(7);
        if (!forbid_memfd_create()) _exit(kNotForbidden);
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

}  // namespace
}  // namespace fg::codegen
