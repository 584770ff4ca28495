// Errors in both directions, Python's lock, and references to Python objects that C++ may hold and
// drop on any thread: the base of every file of the binding.
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
PyObject* linalg_error();  // foregrad.linalg.LinAlgError

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

// The bytes of a Python text, or of str() of another object. A name of a file may hold bytes that
// are no UTF-8 (Python's surrogates): they become the same bytes again.
std::string bytes_of(nb::handle text);
// The name without a copy; "?" for a name that is no UTF-8, as nothing here has such a name.
inline const char* name_of(PyObject* text) {
  if (const char* name = PyUnicode_AsUTF8(text)) return name;
  PyErr_Clear();
  return "?";
}
// The text of such bytes.
nb::object text_of_bytes(std::string_view bytes);

// Drops a reference now when this thread has the lock, else soon: no thread waits for the lock.
void drop_reference(PyObject* object) noexcept;

// Number of Python objects that C++ holds; at 0 the garbage collector need not look into graphs.
extern std::atomic<int64_t> held_objects;

// A Python object held by C++: copied with the lock only, dropped on any thread.
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

// Whether the interpreter ends. Python then kills threads that ask for its lock, and native code
// does not survive that. From the first sign of the end on, threads other than the main one sleep
// instead of asking for the lock, and do not release it.
bool is_ending();
class AsksForLock {  // marks a thread that waits for the lock; the end waits for such threads
 public:
  AsksForLock();
  ~AsksForLock();
};

// Takes the lock. After its end Python unwinds the stack of a thread that asks, which `noexcept`
// code does not survive: here such a thread waits for the end of the process instead.
void take_lock(PyThreadState* state);
PyGILState_STATE take_lock();

// Releases Python's lock for a scope with enough work to be worth it.
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

// A scope in which C++ code calls Python code. When Python ends, it unwinds the stack of any thread
// but the main one at the next lock that the thread asks for, even inside such a call: C++ objects
// would drop references without the lock. So the end waits for these calls and raises SystemExit
// in them; a call that begins later gets SystemExit here.
class CallsPython {
 public:
  CallsPython();
  ~CallsPython();
  CallsPython(const CallsPython&) = delete;
  CallsPython& operator=(const CallsPython&) = delete;
};

// Holds Python's lock for a scope, on any thread, to call Python code.
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
