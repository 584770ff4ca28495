#include "tensor/allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/fail.h"
#ifndef FOREGRAD_SANITIZE
#include <mimalloc.h>
#endif

namespace fg {

namespace {

#ifdef FOREGRAD_SANITIZE
constexpr bool kSanitize = true;
#else
constexpr bool kSanitize = false;
#endif

constexpr size_t kAlignment = 64;
constexpr size_t kPage = size_t{64} << 10;  // whole pages on every system, some have large ones
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallestMapped = size_t{256} << 10;  // below, blocks come from the C library
// A sanitizer ends the program when asked for more than it can give.
constexpr size_t kLargest = kSanitize ? size_t{1} << 39 : PTRDIFF_MAX;
constexpr int kFirstOctave = 10, kEndOctave = 26;  // blocks of 1 KiB to 64 MiB have classes
constexpr int kClasses = 4 * (kEndOctave - kFirstOctave) + 1;

// The whole block that serves a request: four sizes per power of two. Without headers, this pure
// function is how deallocate() knows the block from the bytes that were asked for.
struct BlockSize {
  size_t bytes;
  int size_class;  // the last class holds all larger sizes
};

BlockSize block_size(size_t bytes) {
  size_t last = std::max(bytes, (size_t{1} << kFirstOctave) + 1) - 1;
  int octave = std::bit_width(last) - 1;
  if (octave >= kEndOctave) return {(last / kPage + 1) * kPage, kClasses - 1};
  int quarter = static_cast<int>(last >> (octave - 2) & 3);
  size_t rounded = ((last >> (octave - 2)) + 1) << (octave - 2);
  return {rounded, 4 * (octave - kFirstOctave) + quarter};
}

// Whole huge pages are mapped with one fault instead of 512: fresh blocks are filled 5 to 10 times
// faster.
void* map_memory(size_t bytes) {
  // Slack to align them: older kernels do not by themselves.
  size_t slack = bytes >= kHugePage ? kHugePage : 0;
  if (bytes + slack < bytes) return nullptr;
  void* mapped =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  char* begin = static_cast<char*>(mapped);
  size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < slack) munmap(begin + before + bytes, slack - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // advice only: a kernel without them is fine
  return begin + before;
}

void* system_allocate(size_t bytes) {
  if (!kSanitize && bytes >= kSmallestMapped) return map_memory(bytes);
  void* block = nullptr;
  return posix_memalign(&block, kAlignment, bytes) == 0 ? block : nullptr;
}

void system_deallocate(void* block, size_t bytes) {
  if (kSanitize || bytes < kSmallestMapped) {
    std::free(block);
  } else {
    munmap(block, bytes);
  }
}

// A freed block holds its own place in two lists: the blocks of its class, newest first, and all
// blocks by age. So keeping a block allocates nothing and the oldest is found at once.
struct Kept {
  Kept *newer_in_class, *older_in_class;
  Kept *newer, *older;
  size_t bytes;
  int size_class;
};

struct Cache {
  std::mutex mutex;
  std::array<Kept*, kClasses> newest_in_class{};
  Kept *newest = nullptr, *oldest = nullptr;
  MemoryStats stats{.limit = int64_t{1} << 30};

  void push(Kept* block) {
    Kept*& first = newest_in_class[block->size_class];
    block->newer_in_class = nullptr;
    block->older_in_class = first;
    if (first) first->newer_in_class = block;
    first = block;
    block->newer = nullptr;
    block->older = newest;
    (newest ? newest->newer : oldest) = block;
    newest = block;
    stats.kept_bytes += static_cast<int64_t>(block->bytes);
  }

  void remove(Kept* block) {
    (block->newer_in_class ? block->newer_in_class->older_in_class
                           : newest_in_class[block->size_class]) = block->older_in_class;
    if (block->older_in_class) block->older_in_class->newer_in_class = block->newer_in_class;
    (block->newer ? block->newer->older : newest) = block->older;
    (block->older ? block->older->newer : oldest) = block->newer;
    stats.kept_bytes -= static_cast<int64_t>(block->bytes);
  }

  // Only the class of large blocks holds different sizes, and few of them.
  Kept* take(BlockSize size) {
    Kept* block = newest_in_class[size.size_class];
    while (block && block->bytes != size.bytes) block = block->older_in_class;
    if (block) remove(block);
    return block;
  }

  // Takes out the oldest blocks until at most `limit` bytes are kept; returns them as a list.
  Kept* trim(int64_t limit) {
    Kept* list = nullptr;
    while (stats.kept_bytes > limit) {
      Kept* block = oldest;
      remove(block);
      block->older = list;
      list = block;
    }
    return list;
  }

  void count_live(size_t bytes) {
    stats.live_bytes += static_cast<int64_t>(bytes);
    stats.peak_live_bytes = std::max(stats.peak_live_bytes, stats.live_bytes);
  }
};

constinit Cache cache;  // never destroyed: tensors of other static objects may outlive any order

// Another thread may hold the lock during fork(), and does not exist in the child to release it.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] { cache.mutex.lock(); }, [] { cache.mutex.unlock(); }, [] { cache.mutex.unlock(); });

// System calls are made outside the lock.
void return_to_system(Kept* list) {
  while (list) {
    Kept* block = list;
    list = block->older;
    system_deallocate(block, block->bytes);
  }
}

void trim_cache(int64_t limit) {
  std::unique_lock lock(cache.mutex);
  Kept* list = cache.trim(limit);
  lock.unlock();
  return_to_system(list);
}

std::string size_text(size_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024; value /= 1024) unit++;
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.1f} {} ({} bytes)", value, kUnits[unit], bytes);
}

[[noreturn]] void fail_allocation(size_t bytes) {
  int64_t live = memory_stats().live_bytes;
  fail(ErrorKind::memory,
       "allocating {} failed: the system gives no more memory while live tensors hold {}; free "
       "some of them or use smaller sizes",
       size_text(bytes), size_text(static_cast<size_t>(live)));
}

// Asks again after giving back what is kept.
template <class F>
void* get_or_fail(size_t bytes, const F& get) {
  if (void* block = get()) return block;
  release_kept_memory();
  if (void* block = get()) return block;
  fail_allocation(bytes);
}

void* allocate_fresh(size_t bytes, size_t block_bytes) {
  // Sanitizers get the exact size, to see an overrun of a single byte.
  size_t system_bytes = kSanitize ? bytes : block_bytes;
  void* block = get_or_fail(bytes, [&] { return system_allocate(system_bytes); });
  std::lock_guard lock(cache.mutex);
  cache.count_live(block_bytes);
  cache.stats.blocks_from_system++;
  return block;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes > kLargest) fail_allocation(bytes);
  BlockSize size = block_size(bytes);
  {
    std::lock_guard lock(cache.mutex);
    if (Kept* block = cache.take(size)) {
      cache.count_live(size.bytes);
      cache.stats.blocks_reused++;
      return block;
    }
  }
  return allocate_fresh(bytes, size.bytes);
}

void deallocate(void* block, size_t bytes) noexcept {
  if (!block) return;
  BlockSize size = block_size(bytes);
  std::unique_lock lock(cache.mutex);
  cache.stats.live_bytes -= static_cast<int64_t>(size.bytes);
  // A block over the limit would push out all others and then go itself.
  if (kSanitize || static_cast<int64_t>(size.bytes) > cache.stats.limit) {
    lock.unlock();
    system_deallocate(block, size.bytes);
    return;
  }
  Kept* kept = static_cast<Kept*>(block);
  kept->bytes = size.bytes;
  kept->size_class = size.size_class;
  cache.push(kept);
  if (cache.stats.kept_bytes <= cache.stats.limit) return;
  Kept* list = cache.trim(cache.stats.limit);
  lock.unlock();
  return_to_system(list);
}

#ifdef FOREGRAD_SANITIZE
void* small_allocate(size_t bytes) {
  return get_or_fail(
      bytes, [&] { return bytes > kLargest ? nullptr : std::malloc(bytes + (bytes == 0)); });
}
void small_deallocate(void* block) noexcept { std::free(block); }
#else
void* small_allocate(size_t bytes) {
  return get_or_fail(bytes, [&] { return mi_malloc(bytes); });
}
void small_deallocate(void* block) noexcept { mi_free(block); }
#endif

MemoryStats memory_stats() {
  std::lock_guard lock(cache.mutex);
  return cache.stats;
}

void reset_peak_memory() {
  std::lock_guard lock(cache.mutex);
  cache.stats.peak_live_bytes = cache.stats.live_bytes;
}

void set_memory_limit(size_t bytes) {
  int64_t limit = static_cast<int64_t>(std::min(bytes, size_t{PTRDIFF_MAX}));
  {
    std::lock_guard lock(cache.mutex);
    cache.stats.limit = limit;
  }
  trim_cache(limit);
}

void release_kept_memory() { trim_cache(0); }

}  // namespace fg
