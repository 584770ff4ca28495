#include "python/face.h"

#include "autograd/accumulate_grad.h"
#include "autograd/saved_value.h"
#include "base/fail.h"
#include "ir/capturing.h"
#include "ir/primitive.h"
#include "python/custom_node.h"
#include "python/hooks.h"

namespace fg::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* node_type = nullptr;

static FaceObject* face_of(PyObject* object) { return reinterpret_cast<FaceObject*>(object); }
static TensorImpl* as_impl(Faced* native) { return static_cast<TensorImpl*>(native); }
static autograd::Node* as_node(Faced* native) { return static_cast<autograd::Node*>(native); }

static Faced* native_of(PyObject* object) {
  Faced* native = face_of(object)->native;
  if (!native) {
    fail("a {} was used that the garbage collector has already cleared", Py_TYPE(object)->tp_name);
  }
  return native;
}

TensorImpl* impl_of(PyObject* face) { return as_impl(native_of(face)); }
Tensor tensor_of(PyObject* face) { return Tensor(Ref<TensorImpl>::share(impl_of(face))); }
Ref<autograd::Node> node_of(PyObject* face) {
  return Ref<autograd::Node>::share(as_node(native_of(face)));
}

// ---- ownership

// A finaliser runs once per object; one that came back may need it again.
static void may_finalize_again(PyObject* self) {
  constexpr uintptr_t kFinalized = 1;  // the lowest bit of the second word before the object
  reinterpret_cast<uintptr_t*>(self)[-1] &= ~kFinalized;
}

PyObject* new_face(PyTypeObject* type, Faced* native) {
  nb::object object = own(type->tp_alloc(type, 0));
  FaceObject* face = face_of(object.ptr());
  native->retain();
  face->native = native;
  face->owns = true;
  native->face = face;
  return object.release().ptr();
}

static PyObject* existing_face(Faced* native) {
  auto* object = static_cast<PyObject*>(native->face);
  FaceObject* face = face_of(object);
  if (face->owns) return Py_NewRef(object);
  native->retain();  // comes back to Python: the reference of the C++ object is the result
  face->owns = true;
  held_objects--;
  may_finalize_again(object);
  return object;
}

PyObject* wrap(const Tensor& tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  TensorImpl* impl = tensor.impl();
  return impl->face ? existing_face(impl) : new_face(tensor_type, impl);
}

PyObject* wrap_as(PyTypeObject* type, const Tensor& tensor) {
  return new_face(type, tensor.impl());
}

PyObject* wrap(const Ref<autograd::Node>& node) {
  if (!node) Py_RETURN_NONE;
  return node->face ? existing_face(node.get()) : new_face(type_of_node(*node), node.get());
}

static bool worth_keeping(PyObject* self) {
  FaceObject* face = face_of(self);
  if (face->weakrefs || (face->dict && PyDict_GET_SIZE(face->dict) > 0)) return true;
  return is_tensor(self) && Py_TYPE(self) != tensor_type;
}

// Runs when Python drops the face. If C++ still refers to the object, it takes over the face.
void face_finalize(PyObject* self) {
  FaceObject* face = face_of(self);
  if (!face->native || !face->owns || face->native->use_count() < 2) return;
  if (!worth_keeping(self)) return;
  Py_INCREF(self);
  face->owns = false;
  held_objects++;
  if (is_tensor(self))
    Ref<TensorImpl>::adopt(as_impl(face->native));  // drops the face's reference
  else
    Ref<autograd::Node>::adopt(as_node(face->native));
}

static void drop_native(PyObject* self) {
  FaceObject* face = face_of(self);
  Faced* native = std::exchange(face->native, nullptr);
  if (!native || !face->owns) return;
  native->face = nullptr;
  if (is_tensor(self))
    Ref<TensorImpl>::adopt(as_impl(native));
  else
    Ref<autograd::Node>::adopt(as_node(native));
}

void face_dealloc(PyObject* self) {
  FaceObject* face = face_of(self);
  PyTypeObject* type = Py_TYPE(self);
  // A subclass has run the finaliser already.
  if (type->tp_dealloc == face_dealloc && (face->dict || face->weakrefs)) {
    if (PyObject_CallFinalizerFromDealloc(self) < 0) return;
  }
  PyObject_GC_UnTrack(self);
  if (face->weakrefs) PyObject_ClearWeakRefs(self);
  drop_native(self);
  Py_CLEAR(face->dict);
  type->tp_free(self);
  Py_DECREF(type);
}

// Runs when the C++ object goes and leaves a face behind that it owned.
static void release_owned_face(void* pointer) noexcept {
  auto* object = static_cast<PyObject*>(pointer);
  face_of(object)->native = nullptr;
  held_objects--;
  drop_reference(object);
}
void install_face_release() { set_face_release(release_owned_face); }

// ---- the garbage collector

namespace {

// Visits Python objects that a face's C++ object owns alone, for the collector. Shared objects are
// left out: they do not go when this face goes.
class Walk {
 public:
  Walk(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  int from(Faced* native, bool tensor) {
    tensor ? add_contents(*as_impl(native)) : add_contents(*as_node(native));
    while (result_ == 0 && !nodes_.empty()) {
      autograd::Node* node = nodes_.back();
      nodes_.pop_back();
      add_contents(*node);
    }
    return result_;
  }

 private:
  void see(void* object) {
    if (object && result_ == 0) result_ = visit_(static_cast<PyObject*>(object), arg_);
  }
  void see_face(const Faced& native) {
    if (native.face && !static_cast<FaceObject*>(native.face)->owns) see(native.face);
  }
  void add(const Tensor& tensor) {
    if (!tensor.defined() || tensor.impl()->use_count() != 1) return;
    see_face(*tensor.impl());
    add_contents(*tensor.impl());
  }
  void add(const Ref<autograd::Node>& node) {
    if (!node || node->use_count() != 1) return;
    see_face(*node);
    nodes_.push_back(node.get());
  }
  void add_contents(TensorImpl& impl) {
    auto* meta = static_cast<autograd::AutogradMeta*>(impl.autograd);
    if (!meta) return;
    add(meta->grad);
    add(meta->grad_fn);
    add(meta->view.base);
    if (meta->leaf_hooks && meta->leaf_hooks->use_count() == 1) add_hooks(*meta->leaf_hooks);
  }
  void add_hooks(const autograd::NodeHooks& hooks) {
    for (auto& entry : hooks.tensor.entries) see(entry.call.face());
    for (auto& entry : hooks.pre.entries) see(entry.call.face());
    for (auto& entry : hooks.post.entries) see(entry.call.face());
    for (auto& entry : hooks.post_accumulate.entries) see(entry.call.face());
    for (auto& [name, value] : hooks.metadata) {
      if (auto* held = std::any_cast<Held>(&value)) see(held->get());
      if (auto* bound = std::any_cast<BoundHooks>(&value)) see(bound->dictionary.get());
    }
  }
  void add_contents(autograd::Node& node) {
    autograd::NodeHooks* hooks = node.hooks();
    if (hooks && hooks->use_count() == 1) add_hooks(*hooks);
    for (const autograd::Edge& edge : node.next_edges()) add(edge.node);
    for (size_t i = 0; i < node.saved_count(); i++) {
      const autograd::SavedValue& saved = *node.saved_value(i);
      add(saved.held());
      if (auto* packed = saved.packed()) {
        if (auto* made = std::any_cast<Packed>(packed)) {
          see(made->value.get());
          see(made->unpack.get());
        }
        see(saved.unpack_hook()->face());
      }
    }
    if (auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(&node)) add(leaf->variable());
    if (auto* custom = dynamic_cast<PythonNode*>(&node)) {
      see(custom->type());
      see(custom->needs_input_grad.get());
    }
  }

  visitproc visit_;
  void* arg_;
  int result_ = 0;
  std::vector<autograd::Node*> nodes_;
};

}  // namespace

int face_traverse(PyObject* self, visitproc visit, void* arg) {
  FaceObject* face = face_of(self);
  Py_VISIT(Py_TYPE(self));
  // The collector clears weak references before it asks whether C++ still needs the object; so an
  // object with weak references that C++ uses counts as in use.
  if (face->weakrefs && face->native && face->owns && face->native->use_count() > 1) return 0;
  Py_VISIT(face->dict);
  if (held_objects == 0 || !face->native || !face->owns || face->native->use_count() != 1) return 0;
  return Walk(visit, arg).from(face->native, is_tensor(self));
}

int face_clear(PyObject* self) {
  FaceObject* face = face_of(self);
  // An object that C++ still refers to lives on; its face is whole when it comes back.
  if (face->native && face->owns && face->native->use_count() > 1) return 0;
  Py_CLEAR(face->dict);
  drop_native(self);
  return 0;
}

PyMemberDef face_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(FaceObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FaceObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* attributes_of(PyObject* face) { return face_of(face)->dict; }

// ---- lists

void asked(const Tensor& tensor, const char* what) {
  if (modes.capturing) modes.capturing->asked(tensor, what);
}

void asked_outside(const char* what) {
  if (!modes.capturing) return;
  fail(
      "capture: the function asks {}, which may be another one at the next call; ask before and "
      "pass the answer as an argument",
      what);
}

nb::object tuple_of(const Tensors& tensors) {
  nb::object tuple = own(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); i++) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), wrap(tensors[i]));
  }
  return tuple;
}

nb::list list_of(const Tensors& tensors) {
  nb::list result;
  for (const Tensor& tensor : tensors) result.append(nb::steal(wrap(tensor)));
  return result;
}

Tensors tensors_of(PyObject* sequence, const char* who, bool optional) {
  nb::object fast = own(PySequence_Fast(sequence, "expected a list or tuple of tensors"));
  Tensors tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(fast.ptr(), i);
    if (is_tensor(item)) {
      tensors.push_back(tensor_of(item));
    } else if (optional && item == Py_None) {
      tensors.emplace_back();
    } else {
      fail(ErrorKind::type, "{}: element {} must be a Tensor{}, not {}", who, i,
           optional ? " or None" : "", Py_TYPE(item)->tp_name);
    }
  }
  return tensors;
}

}  // namespace fg::python
