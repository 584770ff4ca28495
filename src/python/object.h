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

// The Python class of errors of the cache in strict mode; borrowed.
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

// The bytes of a Python text, or of str() of another object. Names of files may hold what is no
// UTF-8 (Python's surrogates): it becomes the bytes that it was.
std::string bytes_of(nb::handle text);
// The name without a copy; a "?" for one that is no UTF-8, which nothing here is called.
inline const char* name_of(PyObject* text) {
  if (const char* name = PyUnicode_AsUTF8(text)) return name;
  PyErr_Clear();
  return "?";
}
// The text of such bytes.
nb::object text_of_bytes(std::string_view bytes);

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

// While C++ code calls Python code. Python ends another thread than its main one by unwinding its
// stack at the next lock that it asks for, also inside of such a call: then C++ objects would give
// references back without the lock. So the end waits for these calls, which get SystemExit there;
// later ones get it here.
class CallsPython {
 public:
  CallsPython();
  ~CallsPython();
  CallsPython(const CallsPython&) = delete;
  CallsPython& operator=(const CallsPython&) = delete;
};

// Holds the lock of Python for a scope, on any thread, to call Python code.
class WithLock {
 public:
  WithLock() = default;
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  struct Lock {
    Lock() {
      AsksForLock asking;
      state = take_lock();
    }
    ~Lock() { PyGILState_Release(state); }
    PyGILState_STATE state;
  };
  Lock lock_;
  CallsPython calls_;
};

}  // namespace fg::python
