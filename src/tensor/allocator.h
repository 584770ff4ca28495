// Memory of tensors. Freed blocks are kept in size classes and handed out again, because the page
// faults of a fresh block cost more than the kernel that fills it. Thread-safe; a forked child may
// allocate at once. With FOREGRAD_SANITIZE every block comes from and returns to the system, so
// that the sanitizers see it; statistics stay right.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fg {

// A block of at least `bytes`, aligned to 64, contents undefined. For blocks above one kilobyte:
// smaller ones take a kilobyte each. When the system has no memory, the kept blocks are released
// and it is asked again; then Error(ErrorKind::memory).
void* allocate(size_t bytes);
// Frees a block; `bytes` must be the number that was asked for. nullptr is ignored.
void deallocate(void* block, size_t bytes) noexcept;

// Small objects: headers, nodes, inline storage. Aligned to 16 if they have 16 bytes or more.
void* small_allocate(size_t bytes);
void small_deallocate(void* block) noexcept;

// Statistics in bytes of whole blocks: a request is rounded up to its size class (at most a quarter
// more; above 64 MiB to whole pages of 64 KiB). Small objects are not counted.
struct MemoryStats {
  int64_t live_bytes = 0;
  int64_t peak_live_bytes = 0;
  int64_t kept_bytes = 0;
  int64_t blocks_from_system = 0;
  int64_t blocks_reused = 0;
  int64_t limit = 0;
};

MemoryStats memory_stats();
void reset_peak_memory();
// The limit of freed bytes that are kept, 1 GiB unless set. The longest unused blocks go first.
void set_memory_limit(size_t bytes);
void release_kept_memory();

}  // namespace fg
