// The callable that compile() makes: finds the version for a call and runs it; calls of a new kind
// are handed to Python.
#include "base/fail.h"
#include "compile/version_policy.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/guarded_version.h"

namespace fg::python {

namespace {

struct CompiledObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject *dict, *weakrefs;
  PyObject* function;
  PyObject* entries;  // a list, which Python changes too
  PyObject* owner;    // the Compiled that makes an entry when none matches
  PyObject* policy_object;
  const compiler::VersionPolicy* policy;  // in that object: whether the function runs eagerly
  Py_ssize_t last;                        // the index of the last match
};

CompiledObject* compiled_in(PyObject* self) { return reinterpret_cast<CompiledObject*>(self); }

// The result of a call that entry `i` matches, else null. Checking the reads may run Python code,
// which may change the list.
PyObject* try_entry(CompiledObject* self, Py_ssize_t i, const Flat& flat) {
  nb::object held = nb::borrow(PyList_GET_ITEM(self->entries, i));
  GuardedVersion* entry = entry_of(held.ptr());
  Tensors inputs;
  if (!entry || !entry->fits(flat) || !entry->matches(flat, inputs, nullptr)) return nullptr;
  self->last = i;
  return entry->call(inputs);
}

PyObject* find_and_call(CompiledObject* self, const Flat& flat) {
  Py_ssize_t last = self->last;
  if (last < PyList_GET_SIZE(self->entries)) {
    if (PyObject* result = try_entry(self, last, flat)) return result;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(self->entries); i++) {
    if (i == last) continue;
    if (PyObject* result = try_entry(self, i, flat)) return result;
  }
  return nullptr;
}

// The owner makes an entry and calls it, or decides that the function runs eagerly. It gets the
// arguments flattened, so that nothing flattens them again, and as they came.
PyObject* call_owner(CompiledObject* self, Flat& flat, PyObject* const* args, size_t flags,
                     PyObject* names) {
  CallsPython calls;
  auto count = static_cast<size_t>(PyVectorcall_NARGS(flags));
  nb::object given = nb::cast(Flat(std::move(flat)));
  nb::object positional = own(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; i++) {
    PyTuple_SET_ITEM(positional.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  }
  nb::dict named;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
    named[nb::handle(PyTuple_GET_ITEM(names, i))] = nb::handle(args[count + i]);
  }
  return nb::handle(self->owner).attr("miss")(given, positional, named).release().ptr();
}

PyObject* vectorcall(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
  CompiledObject* self = compiled_in(object);
  if (modes.interpreter) return PyObject_Vectorcall(self->function, args, flags, names);
  if (self->policy->runs_eagerly()) [[unlikely]]
    return PyObject_Vectorcall(self->function, args, flags, names);
  return guarded([&]() -> PyObject* {
    Flat flat;
    flat.add_call(args, static_cast<size_t>(PyVectorcall_NARGS(flags)), names);
    if (PyObject* result = find_and_call(self, flat)) return result;
    return call_owner(self, flat, args, flags, names);
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  CompiledObject* self = compiled_in(object);
  Py_VISIT(Py_TYPE(object));
  for (PyObject* held : {self->dict, self->function, self->entries, self->owner}) Py_VISIT(held);
  return 0;
}
int clear(PyObject* object) {
  CompiledObject* self = compiled_in(object);
  Py_CLEAR(self->dict);
  // A finaliser may still call it while its cycle is taken apart: it stays whole, and empty.
  if (self->entries) PyList_SetSlice(self->entries, 0, PyList_GET_SIZE(self->entries), nullptr);
  return 0;
}
void dealloc(PyObject* object) {
  CompiledObject* self = compiled_in(object);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->weakrefs) PyObject_ClearWeakRefs(object);
  for (PyObject* held :
       {self->dict, self->function, self->entries, self->owner, self->policy_object}) {
    Py_XDECREF(held);
  }
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object ? PyMethod_New(self, object) : Py_NewRef(self);
}
PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<compiled %R>", compiled_in(self)->function);
}
// Copied as itself and pickled by name, as functions are.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CompiledObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(CompiledObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CompiledObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject* make_type() {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_members, members},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, properties},
                         {0, nullptr}};
  PyType_Spec spec{"foregrad.compiled_function", sizeof(CompiledObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  return reinterpret_cast<PyTypeObject*>(own(PyType_FromSpec(&spec)).release().ptr());
}

}  // namespace

void add_compiled(nb::module_& module) {
  add_structure(module);
  add_reads(module);
  add_guarded_version(module);
  add_version_policy(module);
  static PyTypeObject* type = make_type();
  module.def("compiled_function", [](nb::object owner) {
    nb::object object = own(type->tp_alloc(type, 0));
    CompiledObject* self = compiled_in(object.ptr());
    self->vectorcall = vectorcall;
    self->function = nb::object(owner.attr("function")).release().ptr();
    self->entries = nb::object(owner.attr("entries")).release().ptr();
    self->policy_object = nb::object(owner.attr("policy")).release().ptr();
    self->policy = nb::cast<const compiler::VersionPolicy*>(nb::handle(self->policy_object));
    self->owner = owner.release().ptr();
    return object;
  });
}

}  // namespace fg::python
