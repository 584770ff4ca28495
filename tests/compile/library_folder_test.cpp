// Files that the library loads later are those beside it, wherever the program has gone meanwhile.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "base/library.h"
#include "compile/counters.h"
#include "tests/base/child_process.h"
#include "tests/error_of.h"
#include "tests/folder.h"

namespace fg {

TEST_CHILD(LibraryFolder, compiles_beside_files_of_the_same_names) {
  Folder folder;
  for (const char* name : {"codegen", "onednn", "redis"}) {
    folder.file(std::string("libforegrad-") + name + ".so", "not a library");
  }
  ASSERT_EQ(chdir(folder.path.c_str()), 0);
  auto function = compile([](const Tensor& x) { return x.sin() * 2; }, {.fullgraph = true});
  function(ones({4}));
  printf("interpreted: %d\n", static_cast<int>(compiler::counters().interpreted));
}

// A sanitizer must be loaded before any other library: it would refuse to be preceded by ours.
#ifndef FOREGRAD_SANITIZE
TEST(LibraryFolder, files_of_another_folder_are_not_loaded) {
  std::string library = beside_this_library("libforegrad.so");
  std::string beside = library.substr(0, library.rfind('/'));
  Outcome outcome = run_child("LibraryFolder.compiles_beside_files_of_the_same_names",
                              "-C " + beside + " LD_LIBRARY_PATH=. LD_PRELOAD=./libforegrad.so");
  EXPECT_HAS(outcome.output, "interpreted: 0");
}
#endif

}  // namespace fg
