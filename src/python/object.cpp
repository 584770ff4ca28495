#include "python/object.h"

#include <cxxabi.h>
#include <pthread.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/carried.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/standard_error.h"
#include "base/terminal.h"
#include "cache/unusable.h"
#include "codegen/build.h"

namespace fg::python {

std::atomic<int64_t> held_objects = 0;

PyObject* linalg_error() {
  static PyObject* type = PyErr_NewExceptionWithDoc(
      "foregrad._C._LinAlgError", "A matrix without the factorisation or inverse asked for.",
      PyExc_RuntimeError, nullptr);
  return type;
}

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
    case ErrorKind::linalg:
      return linalg_error();
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
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {  // of a list that no memory can hold
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    Error ours = as_error(error);
    // Names of files may be in there, which are of any bytes.
    std::string text = terminal_text(ours.what());
    PyErr_SetString(exception_of(ours.kind()), text.c_str());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "foregrad: an unknown C++ exception");
  }
}

// ---- texts

std::string bytes_of(nb::handle object) {
  nb::object text =
      PyUnicode_Check(object.ptr()) ? nb::borrow(object) : own(PyObject_Str(object.ptr()));
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
    return {data, static_cast<size_t>(size)};
  }
  PyErr_Clear();
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (!bytes) {  // surrogates that stand for no byte
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass");
  }
  nb::object held = own(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

nb::object text_of_bytes(std::string_view bytes) {
  return own(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

// ---- the end of the interpreter

// The thread that ends the interpreter: until then the one that imported this, most often the same.
static std::atomic<unsigned long> ending_thread = PyThread_get_thread_ident();
static std::atomic<bool> ending = false;
static std::atomic<int> asking = 0;

static bool is_other_thread() { return PyThread_get_thread_ident() != ending_thread; }

bool is_ending() { return ending && is_other_thread(); }

namespace {

// The calls of one thread into Python.
struct Caller {
  unsigned long thread = PyThread_get_thread_ident();
  std::atomic<int> depth = 0;
  std::atomic<bool> parked = false;  // it never runs again
  Caller();
  ~Caller();
  bool is_inside() const { return depth > 0 && !parked; }
};

struct Callers {
  std::mutex lock;
  std::vector<Caller*> all;
};
std::atomic<Callers*> all_callers = new Callers;  // outlives every thread
Callers& callers() { return *all_callers; }
Caller::Caller() {
  std::lock_guard locked(callers().lock);
  callers().all.push_back(this);
}
Caller::~Caller() {
  std::lock_guard locked(callers().lock);
  std::erase(callers().all, this);
}
Caller& caller() {
  static thread_local Caller mine;
  return mine;
}

// A forked child has one thread, its main one; references that other threads held stay held.
void keep_this_thread_only() {
  ending_thread = PyThread_get_thread_ident();
  asking = 0;
  auto* fresh = new Callers;
  for (Caller* each : callers().all) {
    if (each->thread == ending_thread) fresh->all.push_back(each);
  }
  all_callers = fresh;
}

// The other threads that are in calls into Python.
std::vector<unsigned long> threads_inside() {
  std::vector<unsigned long> threads;
  std::lock_guard locked(callers().lock);
  for (const Caller* each : callers().all) {
    if (each->is_inside() && each->thread != ending_thread) threads.push_back(each->thread);
  }
  return threads;
}

}  // namespace

CallsPython::CallsPython() {
  if (is_ending()) {
    PyErr_SetNone(PyExc_SystemExit);
    nb::raise_python_error();
  }
  caller().depth++;
}
CallsPython::~CallsPython() { caller().depth--; }

[[noreturn]] static void wait_for_the_end() {
  caller().parked = true;
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

// Runs before the interpreter begins to end: threads that wait for the lock get it now, and calls
// into Python end. A call that catches SystemExit and goes on gets it again.
static void end_calls() {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now() + std::chrono::seconds(2);
  for (auto inside = threads_inside(); Clock::now() < last; inside = threads_inside()) {
    if (inside.empty() && asking == 0) return;
    for (unsigned long thread : inside) PyThreadState_SetAsyncExc(thread, PyExc_SystemExit);
    auto pause = Clock::now() + std::chrono::milliseconds(20);
    MayRelease released;
    while (Clock::now() < pause && (asking > 0 || !threads_inside().empty())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

static void prepare_for_end() {
  ending_thread = PyThread_get_thread_ident();
  ending = true;
  end_calls();
  MayRelease released;  // threads that compile may need it
  codegen::end_compiling();
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
  if (PyErr_WarnEx(PyExc_UserWarning, terminal_text(text).c_str(), 1) != 0)
    nb::raise_python_error();
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
  pthread_atfork(nullptr, nullptr, keep_this_thread_only);
  interrupt_check = check_signals;
  carry_context = carry_variables;
  logging::set_warning_handler(warn_in_python);
}

}  // namespace fg::python
