// Memory of a kernel for the time of a call, from the allocator of tensors.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/allocator.h"

namespace fg::kernels {

template <class T>
class Block {
 public:
  explicit Block(size_t count)
      : bytes_(std::max<size_t>(count * sizeof(T), 1)), data_(static_cast<T*>(allocate(bytes_))) {}
  ~Block() { deallocate(data_, bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  T* get() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace fg::kernels
