#include "tensor/storage.h"

#include <new>

#include "tensor/allocator.h"

namespace fg {

static constexpr size_t kLargestInline = 1024;
static constexpr size_t kHeader = (sizeof(Storage) + 31) / 32 * 32;

Ref<Storage> Storage::create(size_t bytes) {
  if (bytes <= kLargestInline) {
    char* block = static_cast<char*>(small_allocate(kHeader + bytes));
    return Ref<Storage>::adopt(new (block) Storage(block + kHeader, bytes, Owner::header));
  }
  char* data = static_cast<char*>(allocate(bytes));
  void* block = small_allocate(kHeader);
  return Ref<Storage>::adopt(new (block) Storage(data, bytes, Owner::allocator));
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, std::function<void(void*)> deleter) {
  auto* storage =
      new (small_allocate(kHeader)) Storage(static_cast<char*>(data), bytes, Owner::user);
  storage->deleter_ = std::move(deleter);
  return Ref<Storage>::adopt(storage);
}

void Storage::destroy(Storage* storage) {
  if (storage->owner_ == Owner::allocator) deallocate(storage->data_, storage->bytes_);
  if (storage->owner_ == Owner::user && storage->deleter_) storage->deleter_(storage->data_);
  storage->~Storage();
  small_deallocate(storage);
}

}  // namespace fg
