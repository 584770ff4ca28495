// Dims: a short list of Dim, inline up to five entries. Sizes, strides, axes and pads alike.
#pragma once

#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tensor/dim.h"

namespace fg {

class Dims {
 public:
  using value_type = Dim;

  Dims() = default;
  Dims(std::initializer_list<Dim> values) : Dims(values.begin(), values.size()) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)          // a flag in the place of an axis is a mistake
  Dims(T value) : Dims({Dim(value)}) {}       // NOLINT: one axis or size may stand for a list
  Dims(const std::vector<int64_t>& values) {  // NOLINT: as libtorch's IntArrayRef
    resize(values.size());
    for (size_t i = 0; i < values.size(); i++) data()[i] = values[i];
  }
  Dims(std::span<const Dim> values) : Dims(values.data(), values.size()) {}  // NOLINT
  Dims(size_t count, Dim value) {
    resize(count);
    for (Dim& entry : *this) entry = value;
  }
  Dims(const Dims& other) : size_(other.size_) {
    if (size_ <= kInline)
      copy_inline(other.data());
    else
      assign_long(other);
  }
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(const Dims& other) {
    if (this == &other) return *this;
    if (!heap() && other.size_ <= kInline) {
      size_ = other.size_;
      copy_inline(other.data());
    } else {
      assign(other.data(), other.size_);
    }
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    if (this == &other) return *this;
    if (heap()) delete[] long_;
    take(other);
    return *this;
  }
  ~Dims() {
    if (heap()) delete[] long_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Dim* data() { return heap() ? long_ : short_; }
  const Dim* data() const { return heap() ? long_ : short_; }
  Dim* begin() { return data(); }
  Dim* end() { return data() + size_; }
  const Dim* begin() const { return data(); }
  const Dim* end() const { return data() + size_; }
  Dim& operator[](size_t i) { return data()[i]; }
  Dim operator[](size_t i) const { return data()[i]; }
  Dim front() const { return data()[0]; }
  Dim back() const { return data()[size_ - 1]; }
  std::vector<int64_t> vec() const;  // as libtorch's; every entry must be a constant

  // New entries are 0.
  void resize(size_t count) {
    if (count > capacity_) grow(count);
    for (size_t i = size_; i < count; i++) data()[i] = 0;
    size_ = static_cast<uint32_t>(count);
  }
  void push_back(Dim value) {
    if (size_ == capacity_) grow(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void insert(size_t position, Dim value) {
    push_back(value);
    for (size_t i = size_ - 1; i > position; i--) data()[i] = data()[i - 1];
    data()[position] = value;
  }
  void erase(size_t position) {
    for (size_t i = position + 1; i < size_; i++) data()[i - 1] = data()[i];
    --size_;
  }

#ifdef FOREGRAD_ASKS_KNOWN
  friend bool operator==(const Dims& a, const Dims& b) = delete;
#else
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; i++) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }
#endif
  friend bool same(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; i++) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kInline = 5;

  Dims(const Dim* values, size_t count) { assign(values, count); }
  void assign(const Dim* values, size_t count) {
    resize(count);
    std::memcpy(data(), values, count * sizeof(Dim));
  }
  bool heap() const { return capacity_ > kInline; }
  void grow(size_t count);
  // All of the room, whatever is used: a fixed number of moves is faster than a loop.
  void copy_inline(const Dim* from) { std::memcpy(&short_, from, sizeof(short_)); }
  void assign_long(const Dims& other);
  void take(Dims& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInline);
    std::memcpy(&short_, &other.short_, sizeof(short_));
  }

  uint32_t size_ = 0, capacity_ = kInline;
  union {  // the short form is not initialised: entries from size_ on mean nothing
    Dim short_[kInline];
    Dim* long_;
  };
};

// A list that may be absent. Braces with entries are a list, as in x.sum({0, 1}).
class OptDims : public std::optional<Dims> {
 public:
  using std::optional<Dims>::optional;
  OptDims() = default;
  OptDims(std::optional<Dims> dims) : std::optional<Dims>(std::move(dims)) {}        // NOLINT
  OptDims(std::initializer_list<Dim> values) : std::optional<Dims>(Dims(values)) {}  // NOLINT
#ifdef FOREGRAD_ASKS_KNOWN
  friend bool operator==(const OptDims& a, const OptDims& b) = delete;
#else
  friend bool operator==(const OptDims& a, const OptDims& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b);
  }
#endif
};

std::string text(const Dims& dims);  // "[2, 3]"
std::ostream& operator<<(std::ostream& out, const Dims& dims);
std::ostream& operator<<(std::ostream& out, Dim dim);
std::vector<int64_t> values(const Dims& dims);  // every entry must be a constant
Known known_equal(const Dims& a, const Dims& b);
Dim product(const Dims& dims);  // overflow and negative sizes are errors
Dims contiguous_strides(const Dims& sizes);
void set_contiguous_strides(const Dims& sizes, Dims& strides);
Dims broadcast(const Dims& a, const Dims& b, const char* who);
bool can_broadcast(const Dims& from, const Dims& to);

// A dimension index in [-rank, rank) made non-negative; a zero-dim tensor accepts 0 and -1.
int64_t wrap_axis(int64_t axis, size_t rank, const char* who);
// The axes as one flag per dimension; no or empty axes means all; duplicates are errors.
std::vector<bool> axis_set(const OptDims& axes, size_t rank, const char* who);

}  // namespace fg
