// The watch over a capture: sees the C functions and the Python code that run while a function is
// captured. A C function may read state without a guard (a clock, random numbers, a file), so one
// that is not known to be harmless ends the capture before it is called.
#pragma once

#include <unordered_map>

#include "python/object.h"

namespace fg::python {

class Watch {
 public:
  // `judge(function, frame)` returns the exception of a C function that must not be called, None
  // for one that always may be, anything else for one that may be called there.
  // `counts(frame)` says whether code is of interest; it is asked when the code runs first.
  Watch(nb::object judge, nb::object counts);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  void start();  // on this thread, which must stop it too
  void stop();
  nb::list frames() const;     // (code, globals) of the Python code that ran, each code once
  nb::object refused() const;  // the exception that ended the capture; None

 private:
  friend class Unwatched;
  static int on_event(PyObject* self, PyFrameObject* frame, int what, PyObject* argument);
  void enter(PyFrameObject* frame);
  int call(PyFrameObject* frame, PyObject* function);

  nb::object judge_, counts_, refused_ = nb::none();
  nb::object itself_;                                  // as the interpreter holds it
  std::unordered_map<PyObject*, nb::object> globals_;  // by code, which is held
  Py_tracefunc outer_ = nullptr;                       // of a profiler that was there before
  nb::object outer_argument_;
  Watch* around_ = nullptr;  // the outer watch of this thread, which goes on afterwards
  bool running_ = false, paused_ = false;
  bool collects_ = false;  // finalizers of garbage are not part of the function
};

// A scope in which code of this thread is no part of the captured function: a compiler of the user
// may call anything.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  Watch* watch_;
};

}  // namespace fg::python
