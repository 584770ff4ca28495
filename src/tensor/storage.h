// Storage: the bytes that a tensor and its views share. Up to one kilobyte the bytes follow the
// header in one block; above, they come from the allocator that keeps freed blocks. Memory of the
// user is shared through a deleter.
#pragma once

#include "base/callback.h"

namespace fg {

class Storage : public Counted {
 public:
  static Ref<Storage> create(size_t bytes);
  static Ref<Storage> borrow(void* data, size_t bytes, Callback<void(void*)> deleter);
  static void destroy(Storage* storage);

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  // How often tensors over this storage were modified in place; see Tensor::_version.
  std::atomic<uint32_t> version{0};

 protected:
  enum class Owner : uint8_t { header, allocator, user };

  Storage(char* data, size_t bytes, Owner owner) : owner_(owner), data_(data), bytes_(bytes) {}
  ~Storage() = default;

 private:
  Owner owner_;
  char* data_;
  size_t bytes_;
};

}  // namespace fg
