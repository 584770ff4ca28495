#include "tensor/storage.h"

#include <mutex>
#include <new>
#include <unordered_map>

#include "tensor/allocator.h"

namespace fg {

static constexpr size_t kLargestInline = 1024;
static constexpr size_t kHeader = (sizeof(Storage) + 31) / 32 * 32;

namespace {

// Memory of the user, given back through its deleter.
struct UserStorage : Storage {
  UserStorage(void* data, size_t bytes, Callback<void(void*)> deleter)
      : Storage(static_cast<char*>(data), bytes, Owner::user), deleter(std::move(deleter)) {}
  Callback<void(void*)> deleter;
};

}  // namespace

Ref<Storage> Storage::create(size_t bytes) {
  if (bytes <= kLargestInline) {
    char* block = static_cast<char*>(small_allocate(kHeader + bytes));
    return Ref<Storage>::adopt(new (block) Storage(block + kHeader, bytes, Owner::header));
  }
  void* block = small_allocate(kHeader);
  char* data;
  try {
    data = static_cast<char*>(allocate(bytes));
  } catch (...) {
    small_deallocate(block);
    throw;
  }
  return Ref<Storage>::adopt(new (block) Storage(data, bytes, Owner::allocator));
}

Ref<Storage> Storage::create_abstract(size_t bytes) {
  return Ref<Storage>::adopt(new (small_allocate(kHeader)) Storage(nullptr, bytes, Owner::nobody));
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, Callback<void(void*)> deleter) {
  void* block = small_allocate(sizeof(UserStorage));
  return Ref<Storage>::adopt(new (block) UserStorage(data, bytes, std::move(deleter)));
}

// Few storages share their counter: a table beside them costs the others nothing.
namespace {

struct SharedVersions {
  std::mutex lock;
  std::unordered_map<const Storage*, Ref<VersionCounter>> counters;

  static SharedVersions& all() {
    static auto& versions = *new SharedVersions;  // storages may outlive other static objects
    return versions;
  }
};

}  // namespace

Ref<VersionCounter> Storage::share_version() {
  SharedVersions& shared = SharedVersions::all();
  std::lock_guard locked(shared.lock);
  Ref<VersionCounter>& counter = shared.counters[this];
  if (!counter || version != kSharedVersion) {
    counter = Ref<VersionCounter>::adopt(new VersionCounter);
    counter->value = version.exchange(kSharedVersion);
  }
  return counter;
}

static void forget_version(const Storage* storage) {
  SharedVersions& shared = SharedVersions::all();
  std::lock_guard locked(shared.lock);
  shared.counters.erase(storage);
}

void Storage::destroy(Storage* storage) {
  if (storage->version == kSharedVersion) [[unlikely]]
    forget_version(storage);
  if (storage->owner_ == Owner::allocator) deallocate(storage->data_, storage->bytes_);
  if (storage->owner_ == Owner::user) {
    auto* user = static_cast<UserStorage*>(storage);
    if (user->deleter) user->deleter(user->data());
    user->~UserStorage();
  }
  small_deallocate(storage);
}

}  // namespace fg
