#include "base/library.h"

#include <link.h>

#include <cstdint>
#include <filesystem>

namespace fg {
namespace {

namespace fs = std::filesystem;

// The loader's name of the library that holds this function; empty for the program itself, whose
// name in the loader is whatever its caller said.
int visit(dl_phdr_info* info, size_t, void* data) {
  auto here = reinterpret_cast<uintptr_t>(&visit);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& part = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || here < begin || here >= begin + part.p_memsz) continue;
    *static_cast<std::string*>(data) = info->dlpi_name ? info->dlpi_name : "";
    return 1;
  }
  return 0;
}

// Empty when it is not to be known: then nothing is found there.
std::string find_folder() {
  std::string name;
  std::error_code error;
  if (dl_iterate_phdr(visit, &name) == 0) return "";
  fs::path path = name.empty() ? fs::read_symlink("/proc/self/exe", error) : fs::path(name);
  if (!error) path = fs::absolute(path, error);
  return error ? "" : path.parent_path().string();
}

// Made while the library is loaded, when a relative name still means what the loader opened; kept
// for ever.
const std::string& folder = *new std::string(find_folder());

}  // namespace

std::string beside_this_library(const char* name) { return folder + "/" + name; }

}  // namespace fg
