#include "codegen/build.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>

#include "base/fail.h"
#include "base/trace.h"
#include "ir/runtime.h"

namespace fg::codegen {
namespace {

template <class T>
void rare(uint32_t which, uint32_t mask, const T* x, const T* y, T* results) {
  ir::RuntimeFunction function = ir::runtime_function(static_cast<ir::Runtime>(which));
  for (int i = 0; i < 16; i++) {
    if (mask >> i & 1) results[i] = static_cast<T>(function(x[i], y[i]));
  }
}
void copy(char* to, const char* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}
void scatter(char* to, int64_t stride, const char* from, int64_t item, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    std::memcpy(to + i * stride, from + i * item, static_cast<size_t>(item));
}

// Beside the library that holds this function.
std::string generator_path() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&generator_path), &here);
  return std::filesystem::path(here.dli_fname).parent_path() / "libforegrad-codegen.so";
}

using BuildObject = std::string* (*)(const std::vector<NamedKernel>*, Level);

BuildObject generator() {
  static BuildObject found = [] {
    timing::Phase phase("load generator");
    std::string path = generator_path();
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail("the code generator cannot be loaded: {}", dlerror());
    return reinterpret_cast<BuildObject>(dlsym(handle, "foregrad_build_object"));
  }();
  return found;
}

// The loader takes equal paths for one library, and descriptors are used again: the number of the
// library is spelled in the path, by slashes and dots that mean nothing.
std::string unique_path(int descriptor) {
  static std::atomic<uint64_t> libraries{0};
  std::string path = "/proc/self/fd";
  for (uint64_t number = libraries++; number > 0; number /= 2) path += number % 2 ? "/." : "/";
  return path + "/" + std::to_string(descriptor);
}

}  // namespace

const void* const services[] = {
    reinterpret_cast<const void*>(&rare<float>), reinterpret_cast<const void*>(&rare<double>),
    reinterpret_cast<const void*>(&copy), reinterpret_cast<const void*>(&scatter)};

std::string build(const std::vector<NamedKernel>& kernels, Level level) {
  BuildObject build_object = generator();
  timing::Phase phase("generate code");
  std::unique_ptr<std::string> bytes(build_object(&kernels, level));
  phase.note(fmt::format("{} kernels, {} bytes", kernels.size(), bytes->size()));
  return std::move(*bytes);
}

Library::Library(const std::string& bytes) {
  timing::Phase phase("load");
  int descriptor = memfd_create("foregrad-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  bool written = descriptor >= 0 && write(descriptor, bytes.data(), bytes.size()) ==
                                        static_cast<ssize_t>(bytes.size());
  if (written) {
    fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    handle_ = dlopen(unique_path(descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (descriptor >= 0) close(descriptor);
  if (!written || !handle_) fail("compiled code cannot be loaded: {}", written ? dlerror() : "");
}

Library::~Library() { dlclose(handle_); }

LoopFunction Library::find(const std::string& name) const {
  auto function = reinterpret_cast<LoopFunction>(dlsym(handle_, name.c_str()));
  if (!function) fail(ErrorKind::internal, "compiled code has no function {}", name);
  return function;
}

}  // namespace fg::codegen
