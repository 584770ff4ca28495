#include "python/watch.h"

#include <Python.h>
#include <frameobject.h>

#include <unordered_set>

#include "python/bindings.h"

namespace fg::python {

namespace {

// C functions that were found harmless, by their definition, which is static in nearly all modules.
// Others are held, so that no second one gets the address.
std::unordered_set<const PyMethodDef*>& harmless() {
  static auto* known = new std::unordered_set<const PyMethodDef*>();
  return *known;
}

const PyMethodDef* definition_of(PyObject* function) {
  return PyCFunction_Check(function) ? reinterpret_cast<PyCFunctionObject*>(function)->m_ml
                                     : nullptr;
}

void remember(PyObject* function, const PyMethodDef* definition) {
  PyObject* self = PyCFunction_GET_SELF(function);
  if (!self || PyModule_Check(self)) Py_INCREF(function);
  harmless().insert(definition);
}

}  // namespace

static thread_local Watch* watching = nullptr;

Unwatched::Unwatched() : watch_(watching) {
  if (watch_) watch_->paused_ = true;
}
Unwatched::~Unwatched() {
  if (watch_) watch_->paused_ = false;
}

Watch::Watch(nb::object judge, nb::object counts)
    : judge_(std::move(judge)), counts_(std::move(counts)) {}

Watch::~Watch() {
  for (auto& [code, globals] : globals_) Py_DECREF(code);
}

void Watch::start() {
  PyThreadState* state = PyThreadState_Get();
  outer_ = state->c_profilefunc;
  outer_argument_ = nb::borrow(state->c_profileobj);
  itself_ = own(PyCapsule_New(this, nullptr, nullptr));
  running_ = true;
  around_ = std::exchange(watching, this);
  collects_ = PyGC_Disable() != 0;
  PyEval_SetProfile(on_event, itself_.ptr());
}

void Watch::stop() {
  if (!std::exchange(running_, false)) return;
  watching = around_;
  PyEval_SetProfile(outer_, outer_argument_.ptr());
  if (collects_) PyGC_Enable();
  outer_argument_.reset();
  itself_.reset();
}

int Watch::on_event(PyObject* self, PyFrameObject* frame, int what, PyObject* argument) {
  auto* watch = static_cast<Watch*>(PyCapsule_GetPointer(self, nullptr));
  if (watch->outer_ && watch->outer_(watch->outer_argument_.ptr(), frame, what, argument) != 0) {
    return -1;
  }
  if (watch->paused_) return 0;
  return guarded(
      [&] {
        if (what == PyTrace_CALL) watch->enter(frame);
        return what == PyTrace_C_CALL ? watch->call(frame, argument) : 0;
      },
      -1);
}

void Watch::enter(PyFrameObject* frame) {
  auto* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
  bool known = globals_.contains(code);
  if (known) return Py_DECREF(code);
  nb::handle running(reinterpret_cast<PyObject*>(frame));
  bool counts = nb::cast<bool>(counts_(running));
  globals_.emplace(code, counts ? nb::object(running.attr("f_globals")) : nb::none());
}

int Watch::call(PyFrameObject* frame, PyObject* function) {
  const PyMethodDef* definition = definition_of(function);
  if (!definition || harmless().contains(definition)) return 0;
  nb::object error = judge_(nb::handle(function), nb::handle(reinterpret_cast<PyObject*>(frame)));
  if (error.is_none()) return remember(function, definition), 0;
  if (!PyExceptionInstance_Check(error.ptr())) return 0;  // harmless here, not everywhere
  refused_ = error;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  return -1;
}

nb::list Watch::frames() const {
  nb::list result;
  for (const auto& [code, globals] : globals_) {
    if (!globals.is_none()) result.append(nb::make_tuple(nb::handle(code), globals));
  }
  return result;
}

nb::object Watch::refused() const { return refused_; }

// Whether a class was made by a class statement: its objects hold what Python can see.
static bool is_python_class(nb::handle type) {
  static const destructor python_dealloc = [] {
    nb::object plain =
        nb::handle(reinterpret_cast<PyObject*>(&PyType_Type))("Plain", nb::tuple(), nb::dict());
    return reinterpret_cast<PyTypeObject*>(plain.ptr())->tp_dealloc;
  }();
  return reinterpret_cast<PyTypeObject*>(type.ptr())->tp_dealloc == python_dealloc;
}

void add_watch(nb::module_& module) {
  nb::class_<Watch>(module, "Watch")
      .def(nb::init<nb::object, nb::object>())
      .def("start", &Watch::start)
      .def("stop", &Watch::stop)
      .def_prop_ro("frames", &Watch::frames)
      .def_prop_ro("refused", &Watch::refused);
  module.def("is_python_class", is_python_class);
}

}  // namespace fg::python
