#include "python/object.h"

#include <cxxabi.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/carried.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cache/unusable.h"

namespace fg::python {

std::atomic<int64_t> held_objects = 0;

static PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value:
      return PyExc_ValueError;
    case ErrorKind::type:
      return PyExc_TypeError;
    case ErrorKind::index:
      return PyExc_IndexError;
    case ErrorKind::not_implemented:
      return PyExc_NotImplementedError;
    default:
      return PyExc_RuntimeError;
  }
}

PyObject* cache_error() {
  static PyObject* type = PyErr_NewExceptionWithDoc("foregrad._C.CacheError",
                                                    "What the cache cannot do, in strict mode.",
                                                    PyExc_RuntimeError, nullptr);
  return type;
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const cache::StrictError& error) {
    PyErr_SetString(cache_error(), error.what());
  } catch (const Error& error) {
    PyErr_SetString(exception_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {  // of a list that no memory can hold
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "foregrad: an unknown C++ exception");
  }
}

// ---- the end of the interpreter

static const unsigned long importing_thread = PyThread_get_thread_ident();
static std::atomic<bool> ending = false;
static std::atomic<int> asking = 0;

static bool is_other_thread() { return PyThread_get_thread_ident() != importing_thread; }

bool is_ending() { return ending && is_other_thread(); }

[[noreturn]] static void wait_for_the_end() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

AsksForLock::AsksForLock() {
  asking++;
  if (!is_ending() || PyGILState_Check()) return;
  asking--;
  wait_for_the_end();
}
AsksForLock::~AsksForLock() { asking--; }

void take_lock(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}
PyGILState_STATE take_lock() {
  try {
    return PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    wait_for_the_end();
  }
}

// Runs before the interpreter begins to end: those who wait for the lock get it now.
static void prepare_for_end() {
  ending = true;
  MayRelease released;
  for (int i = 0; i < 1000 && asking > 0; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// ---- references that are dropped without the lock

static std::mutex waiting_lock;
static std::vector<PyObject*>& waiting() {
  static auto* objects = new std::vector<PyObject*>;  // outlives every thread
  return *objects;
}

static int drop_waiting(void*) {
  std::vector<PyObject*> objects;
  {
    std::lock_guard locked(waiting_lock);
    objects.swap(waiting());
  }
  for (PyObject* object : objects) Py_DECREF(object);
  return 0;
}

void drop_reference(PyObject* object) noexcept {
  if (!Py_IsInitialized()) return;  // too late: the interpreter is gone, the memory goes with it
  if (PyGILState_Check()) {
    Py_DECREF(object);
    return;
  }
  std::lock_guard locked(waiting_lock);
  waiting().push_back(object);
  if (waiting().size() == 1) Py_AddPendingCall(drop_waiting, nullptr);
}

// ---- Ctrl-C in long native work

static void check_signals() {
  if (is_other_thread()) return;  // Python delivers signals to its main thread only
  using Clock = std::chrono::steady_clock;
  thread_local Clock::time_point next;
  auto now = Clock::now();
  if (now < next) return;
  next = now + std::chrono::milliseconds(20);
  if (!Py_IsInitialized()) return;
  WithLock lock;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

// ---- warnings, with the line of the user

static void warn_in_python(const std::string& text) {
  WithLock lock;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) nb::raise_python_error();
}

// ---- context variables, on threads of the engine

static CarriedWork carry_variables() {
  WithLock lock;
  Held context(own(PyContext_CopyCurrent()));
  return [context](const Callback<void()>& work) {
    WithLock own_state;  // for all of the work: the variables belong to the state of the thread
    bool entered = PyContext_Enter(context.get()) == 0;
    if (!entered) PyErr_Clear();
    {
      MayRelease released;
      work();
    }
    if (entered && PyContext_Exit(context.get()) != 0) PyErr_Clear();
  };
}

void install_hooks() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(prepare_for_end));
  interrupt_check = check_signals;
  carry_context = carry_variables;
  logging::set_warning_handler(warn_in_python);
}

}  // namespace fg::python
