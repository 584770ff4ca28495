// Intrusive reference counts, and the Python wrapper (here `face`): the object of another language
// that stands for a C++ object, one for one, so that identity survives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fg {

class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // True when the last reference went and the caller must destroy the object. The count stays at
  // one then: a weak reference may still find the object and take it over.
  bool release() const noexcept {
    uint32_t count = count_.load(std::memory_order_relaxed);
    while (count > 1) {
      if (count_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return false;
    }
    (void)count_.load(std::memory_order_acquire);  // sees the writes of other threads
    return true;
  }
  size_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  mutable std::atomic<uint32_t> count_{1};  // one reference: that of the creator
};

// While a face is in use in its language, it holds a reference of the C++ object. When only C++
// refers to the object, the object may own its face and the attributes that users gave it. The lock
// of the language guards this pointer.
struct Faced : Counted {
  void* face = nullptr;
};
// Sets the function that frees a face whose C++ object is gone; it is called on any thread, with or
// without the lock of the language.
void set_face_release(void (*release)(void* face) noexcept);
void release_face(void* face) noexcept;

// A strong reference. T provides `static void destroy(T*)`.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: as a plain pointer
  Ref(const Ref& other) noexcept : pointer_(other.pointer_) {
    if (pointer_) pointer_->retain();
  }
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> other) noexcept : pointer_(other.detach()) {}  // NOLINT: upcast
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_ && pointer_->release()) T::destroy(pointer_);
  }

  // Takes over the reference of the creator.
  static Ref adopt(T* pointer) noexcept {
    Ref ref;
    ref.pointer_ = pointer;
    return ref;
  }
  static Ref share(T* pointer) noexcept {
    if (pointer) pointer->retain();
    return adopt(pointer);
  }
  T* detach() noexcept { return std::exchange(pointer_, nullptr); }

  T* get() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  T* operator->() const noexcept { return pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.pointer_ == b.pointer_; }

 private:
  T* pointer_ = nullptr;
};

}  // namespace fg
