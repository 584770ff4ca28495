// A vector that stores its first N elements inside: graph nodes have one or two edges each.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace fg {

template <class T, size_t N>
class SmallVector {
 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;
  ~SmallVector() {
    clear();
    if (data_ != inline_data()) ::operator delete(data_);
  }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow();
    T* element = new (data_ + size_) T(std::forward<Args>(args)...);
    size_++;  // only now: a constructor that throws leaves nothing to destroy
    return *element;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void clear() {
    while (size_ > 0) data_[--size_].~T();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* inline_data() { return reinterpret_cast<T*>(room_); }
  void grow() {
    size_t capacity = 2 * capacity_;
    T* grown = static_cast<T*>(::operator new(capacity * sizeof(T)));
    for (size_t i = 0; i < size_; i++) {
      new (grown + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = grown;
    capacity_ = capacity;
  }

  T* data_ = inline_data();
  size_t size_ = 0, capacity_ = N;
  alignas(T) unsigned char room_[N * sizeof(T)];
};

}  // namespace fg
