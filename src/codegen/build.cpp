#include "codegen/build.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/fail.h"
#include "base/library.h"
#include "base/trace.h"
#include "base/unforked.h"
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

// The code of a library goes from this process's memory (50 MB of LLVM's); the system still has the
// file at hand and gives it back page by page when it runs again. Only what cannot be written to is
// surely the same as in the file.
void release_code_of(const char* library) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* wanted) {
        if (!info->dlpi_name || !std::strstr(info->dlpi_name, static_cast<const char*>(wanted)))
          return 0;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W)) continue;
          auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
          uintptr_t begin = (info->dlpi_addr + part.p_vaddr + page - 1) / page * page;
          uintptr_t end = (info->dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
          madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
        }
        return 1;
      },
      const_cast<char*>(library));
}

// While the generator works. When the program ends, LLVM takes its globals down, which a thread
// that still compiles does not survive.
class AtWork {
 public:
  AtWork() {
    working++;
    if (!ending || pthread_equal(pthread_self(), ending_thread)) return;
    working--;
    fail("the program ends: nothing more is compiled");
  }
  ~AtWork() {
    working--;
    // After LLVM made its globals: what is registered last runs first.
    static const bool registered = std::atexit(end_compiling) == 0;
    (void)registered;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

  static void end() {
    if (ending.exchange(true)) return;
    ending_thread = pthread_self();
    for (int i = 0; i < 5000 && working > 0; i++) usleep(1000);
  }

 private:
  Unforked unforked_;
  static inline std::atomic<int> working = 0;
  static inline std::atomic<bool> ending = false;
  static inline std::atomic<pthread_t> ending_thread{};
};

using BuildObject = std::string* (*)(const std::vector<NamedKernel>*, Level);

BuildObject generator() {
  static BuildObject found = [] {
    timing::Phase phase("load generator");
    std::string path = beside_this_library("libforegrad-codegen.so");
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail("the code generator cannot be loaded: {}", dlerror());
    auto id = reinterpret_cast<const char* (*)()>(dlsym(handle, "foregrad_generator"));
    if (!id || std::string_view(id()) != FOREGRAD_GENERATOR)
      fail("the code generator {} is not of the build of this library; install both anew", path);
    return reinterpret_cast<BuildObject>(dlsym(handle, "foregrad_build_object"));
  }();
  return found;
}

}  // namespace

const void* const services[] = {
    reinterpret_cast<const void*>(&rare<float>), reinterpret_cast<const void*>(&rare<double>),
    reinterpret_cast<const void*>(&copy), reinterpret_cast<const void*>(&scatter)};

void end_compiling() { AtWork::end(); }

std::string build(const std::vector<NamedKernel>& kernels, Level level) {
  AtWork at_work;
  BuildObject build_object = generator();
  timing::Phase phase("generate code");
  std::unique_ptr<std::string> bytes(build_object(&kernels, level));
  release_code_of("libLLVM");
  phase.note(fmt::format("{} kernels, {} bytes", kernels.size(), bytes->size()));
  return std::move(*bytes);
}

Library::Library(const std::string& bytes, CodeFile file) {
  timing::Phase phase("load");
  Unforked unforked;
  handle_ = load_code(bytes, file);
}

Library::~Library() {
  Unforked unforked;
  dlclose(handle_);
}

LoopFunction Library::find(const std::string& name) const {
  auto function = reinterpret_cast<LoopFunction>(dlsym(handle_, name.c_str()));
  if (!function) fail(ErrorKind::internal, "compiled code has no function {}", name);
  return function;
}

}  // namespace fg::codegen
