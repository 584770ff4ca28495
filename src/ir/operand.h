// Operands and arguments: how a call passes its inputs and other arguments without their types.
#pragma once

#include <cstring>
#include <new>
#include <span>
#include <tuple>
#include <utility>

#include "tensor/tensor.h"

namespace fg::ir {

// One input: a tensor (possibly undefined), or a list of them.
struct Operand {
  const Tensor* data;
  int count;

  Operand(const Tensor& tensor) : data(&tensor), count(1) {}  // NOLINT
  Operand(const Tensors& list)
      : data(list.data()), count(static_cast<int>(list.size())) {}  // NOLINT
  const Tensor& operator*() const { return *data; }
  const Tensor* operator->() const { return data; }
  std::span<const Tensor> all() const { return {data, static_cast<size_t>(count)}; }
};
using Operands = std::span<const Operand>;

// Owns a copy of a call's non-tensor arguments, for the gradient rules of its node. Three words of
// plain data, such as one number, need no memory of their own.
class Arguments {
 public:
  Arguments() = default;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Arguments>)
  explicit Arguments(T value) {
    if constexpr (sizeof(T) <= sizeof(inline_) && std::is_trivially_copy_constructible_v<T> &&
                  std::is_trivially_destructible_v<T>) {
      new (inline_) T(std::move(value));
    } else {
      data_ = new T(std::move(value));
      destroy_ = [](void* data) { delete static_cast<T*>(data); };
    }
  }
  Arguments(Arguments&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), destroy_(other.destroy_) {
    std::memcpy(inline_, other.inline_, sizeof(inline_));
  }
  Arguments& operator=(Arguments&&) = delete;
  ~Arguments() {
    if (data_) destroy_(data_);
  }
  const void* get() const { return data_ ? data_ : inline_; }

 private:
  void* data_ = nullptr;
  void (*destroy_)(void*) = nullptr;
  alignas(8) unsigned char inline_[24];
};

}  // namespace fg::ir
