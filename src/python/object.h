// What every file of the binding needs of Python: errors in both directions, and references to
// Python objects that C++ may hold and drop on any thread.
#pragma once

#include <nanobind/nanobind.h>
#include <structmember.h>

#include "tensor/tensor.h"

namespace nb = nanobind;

namespace fg::python {

// Sets the Python error for the C++ exception being handled.
void set_error() noexcept;

// What an Error of the cache in strict mode is in Python; borrowed.
PyObject* cache_error();

// Calls f at the boundary to Python: an exception becomes a Python error and the result `failed`.
template <class F, class R = std::invoke_result_t<F>>
R guarded(const F& f, R failed = {}) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return failed;
  }
}

// A new reference, or the Python error as an exception.
inline nb::object own(PyObject* result) {
  if (!result) nb::raise_python_error();
  return nb::steal(result);
}

// Drops a reference now when this thread has the lock, else soon: nobody waits for the lock.
void drop_reference(PyObject* object) noexcept;

// How many Python objects C++ holds: without any, the garbage collector need not look into graphs.
extern std::atomic<int64_t> held_objects;

// A Python object held by C++: may be copied with the lock only, dropped anywhere.
class Held {
 public:
  Held() = default;
  explicit Held(nb::object object) : object_(object.release().ptr()) { held_objects++; }
  Held(const Held& other) : object_(other.object_) {
    Py_XINCREF(object_);
    if (object_) held_objects++;
  }
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() {
    if (!object_) return;
    held_objects--;
    drop_reference(object_);
  }
  PyObject* get() const { return object_; }
  nb::object object() const { return nb::borrow(object_); }
  explicit operator bool() const { return object_ != nullptr; }
  void* face() const { return object_; }

 private:
  PyObject* object_ = nullptr;
};

// Python kills threads that want its lock while the interpreter ends, which native code does not
// survive. From the first sign of the end on, other threads than the main one sleep instead of
// asking for the lock, and do not give it away.
bool is_ending();
class AsksForLock {  // while a thread waits for the lock; the end waits for those
 public:
  AsksForLock();
  ~AsksForLock();
};

// Python ends a thread that asks for the lock after its end by unwinding the stack, which C++ code
// that must not throw does not survive: such a thread waits for the end of the process instead.
void take_lock(PyThreadState* state);
PyGILState_STATE take_lock();

// Releases the lock of Python for work that is worth it.
class MayRelease {
 public:
  explicit MayRelease(bool release = true)
      : state_(release && !is_ending() ? PyEval_SaveThread() : nullptr) {}
  ~MayRelease() {
    if (!state_) return;
    AsksForLock asking;
    take_lock(state_);
  }
  MayRelease(const MayRelease&) = delete;
  MayRelease& operator=(const MayRelease&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the lock of Python for a scope, on any thread.
class WithLock {
 public:
  WithLock() {
    AsksForLock asking;
    state_ = take_lock();
  }
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace fg::python
