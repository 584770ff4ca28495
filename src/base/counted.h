// Intrusive reference counts whose ownership can pass to a language object.
// The state is either `count << 1 | 1`, or the address of the object of another language that owns
// this one: from then on that language's count is the count (as nanobind's intrusive_counter), so
// one C++ object has one Python object and identity survives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fg {

struct LanguageHooks {
  void (*retain)(void* object) noexcept;
  void (*release)(void* object) noexcept;
};
void set_language_hooks(LanguageHooks hooks);

class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void retain() const noexcept {
    uintptr_t state = state_.load(std::memory_order_relaxed);
    while (state & 1) {
      if (state_.compare_exchange_weak(state, state + 2, std::memory_order_relaxed)) return;
    }
    retain_language(state);
  }
  // True when the last reference went and the caller must destroy the object.
  bool release() const noexcept {
    uintptr_t state = state_.load(std::memory_order_relaxed);
    while (state & 1) {
      if (state == 3) {  // the only reference: nobody else can change the count any more
        (void)state_.load(std::memory_order_acquire);  // sees what the others did with it
        return true;
      }
      if (state_.compare_exchange_weak(state, state - 2, std::memory_order_acq_rel)) return false;
    }
    release_language(state);
    return false;
  }
  // 0 when a language object owns this one.
  size_t use_count() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    return state & 1 ? state >> 1 : 0;
  }
  // Hands the native references over: the language object must already hold `use_count()` more.
  void set_language_object(void* object) noexcept {
    state_.store(reinterpret_cast<uintptr_t>(object), std::memory_order_release);
  }
  void* language_object() const noexcept {
    uintptr_t state = state_.load(std::memory_order_acquire);
    return state & 1 ? nullptr : reinterpret_cast<void*>(state);
  }

 private:
  static void retain_language(uintptr_t object) noexcept;
  static void release_language(uintptr_t object) noexcept;

  mutable std::atomic<uintptr_t> state_{3};  // one native reference: that of the creator
};

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
