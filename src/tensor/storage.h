// Storage: the bytes that a tensor and its views share. Up to one kilobyte the bytes follow the
// header in one block; above, they come from the allocator that keeps freed blocks. Memory of the
// user is shared through a deleter.
#pragma once

#include "base/callback.h"
#include "tensor/modes.h"

namespace fg {

// Version of a tensor that shares memory but not history with others (`x.data()`), or a history but
// not the memory (`x.set_data(y)`).
struct VersionCounter : Counted {
  std::atomic<uint32_t> value{0};
  static void destroy(VersionCounter* counter) { delete counter; }
};

class Storage : public Counted {
 public:
  static Ref<Storage> create(size_t bytes);
  // No memory: what a tensor of a captured function shares with its views.
  static Ref<Storage> create_abstract(size_t bytes);
  static Ref<Storage> borrow(void* data, size_t bytes, Callback<void(void*)> deleter);
  static void destroy(Storage* storage);

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool is_abstract() const { return owner_ == Owner::nobody; }
  // Memory of the user, who may look at it without a tensor.
  bool is_borrowed() const { return owner_ == Owner::user; }
  // Made by code that is being interpreted: its values are constants of that code.
  bool made_in_capture() const { return made_in_capture_; }

  // How often tensors over this storage were modified in place; see Tensor::_version.
  std::atomic<uint32_t> version{0};
  // A tensor went to other memory and took the counter along, which is an object of its own then.
  static constexpr uint32_t kSharedVersion = UINT32_MAX;
  Ref<VersionCounter> share_version();

 protected:
  enum class Owner : uint8_t { header, allocator, user, nobody };

  Storage(char* data, size_t bytes, Owner owner)
      : owner_(owner), made_in_capture_(modes.capturing != nullptr), data_(data), bytes_(bytes) {}
  ~Storage() = default;

 private:
  Owner owner_;
  bool made_in_capture_;
  char* data_;
  size_t bytes_;
};

}  // namespace fg
