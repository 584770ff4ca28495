// Faces: the Python wrappers of tensors and nodes, one per C++ object.
//
// A face holds a reference to its C++ object. Python may drop a face while C++ still refers to the
// object: a face without attributes is then made anew next time. A face with attributes, or of a
// subclass, passes into the ownership of the C++ object and comes back with it.
#pragma once

#include "autograd/node.h"
#include "python/object.h"

namespace fg::python {

struct FaceObject {
  PyObject_HEAD;
  Faced* native;  // null after the garbage collector cleared the face
  PyObject* dict;
  PyObject* weakrefs;
  bool owns;  // true: the face holds a reference to `native`; false: the other way round
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* node_type;

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyObject_TypeCheck(object, tensor_type);
}
inline bool is_node(PyObject* object) { return PyObject_TypeCheck(object, node_type); }

// The C++ object behind a face.
Tensor tensor_of(PyObject* face);
TensorImpl* impl_of(PyObject* face);
Ref<autograd::Node> node_of(PyObject* face);

// The face of a tensor or node as a new reference; None for an undefined one.
PyObject* wrap(const Tensor& tensor);
PyObject* wrap(const Ref<autograd::Node>& node);
// Makes `type`, a subclass, the type of the face of a tensor that has none yet.
PyObject* wrap_as(PyTypeObject* type, const Tensor& tensor);
PyObject* new_face(PyTypeObject* type, Faced* native);
// The attributes that a program set on a tensor or node; null if there are none yet. Borrowed.
PyObject* attributes_of(PyObject* face);

// Notes that a program asks about the tensor itself; see ir::Interpreter::asked.
void asked(const Tensor& tensor, const char* what);
// Notes that a program asks about a setting, which is refused while a function is captured.
void asked_outside(const char* what);

nb::object tuple_of(const Tensors& tensors);
nb::list list_of(const Tensors& tensors);
// A list or tuple of tensors; None stands for an undefined one where `optional`.
Tensors tensors_of(PyObject* sequence, const char* who, bool optional = false);

// Slots that both types share.
void face_dealloc(PyObject* self);
void face_finalize(PyObject* self);
int face_traverse(PyObject* self, visitproc visit, void* arg);
int face_clear(PyObject* self);
void install_face_release();
extern PyMemberDef face_members[];

}  // namespace fg::python

// Tensors and nodes in signatures that nanobind binds.
namespace nanobind::detail {
template <>
struct type_caster<fg::Tensor> {
  NB_TYPE_CASTER(fg::Tensor, const_name("foregrad.Tensor"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!fg::python::is_tensor(source.ptr())) return false;
    value = fg::python::tensor_of(source.ptr());
    return true;
  }
  static handle from_cpp(const fg::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return fg::python::guarded([&] { return fg::python::wrap(tensor); });
  }
};
template <>
struct type_caster<fg::Ref<fg::autograd::Node>> {
  NB_TYPE_CASTER(fg::Ref<fg::autograd::Node>, const_name("foregrad.autograd.graph.Node"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (!fg::python::is_node(source.ptr())) return false;
    value = fg::python::node_of(source.ptr());
    return true;
  }
  static handle from_cpp(const fg::Ref<fg::autograd::Node>& node, rv_policy,
                         cleanup_list*) noexcept {
    return fg::python::guarded([&] { return fg::python::wrap(node); });
  }
};
}  // namespace nanobind::detail
