// Properties of tensors: shape, dtype, gradients, history.
#include "autograd/meta.h"
#include "base/fail.h"
#include "ops/view/views.h"
#include "python/tensor_type.h"
#include "python/types.h"

namespace fg::python {

namespace {

template <class F>
PyObject* get(PyObject* self, const F& f) {
  return guarded([&] { return f(tensor_of(self)); });
}

Tensor tensor_or_none(PyObject* value, const char* property) {
  if (!value || value == Py_None) return {};
  if (is_tensor(value)) return tensor_of(value);
  fail(ErrorKind::type, "{} must be a Tensor or None, not {}", property, Py_TYPE(value)->tp_name);
}

PyObject* shape(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return size_object(t.sizes()).release().ptr(); });
}
PyObject* dtype(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return Py_NewRef(dtype_object(t.dtype())); });
}
PyObject* ndim(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return PyLong_FromLongLong(t.dim()); });
}
PyObject* itemsize(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return PyLong_FromSize_t(item_size(t.dtype())); });
}
PyObject* nbytes(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    return PyLong_FromLongLong(t.numel() * static_cast<int64_t>(item_size(t.dtype())));
  });
}
PyObject* requires_grad(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "requires_grad");
    return PyBool_FromLong(t.requires_grad());
  });
}
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        if (!value || !PyBool_Check(value)) fail("requires_grad must be a bool");
        Tensor tensor = tensor_of(self);
        if (!tensor.is_leaf()) {
          fail("you can only change requires_grad flags of leaf tensors; detach() gives one");
        }
        tensor.requires_grad_(value == Py_True);
        return 0;
      },
      -1);
}
PyObject* grad(PyObject* self, void*) {
  return get(self, [](const Tensor& t) -> PyObject* {
    if (t.requires_grad() && !t.is_leaf() && !t.retains_grad() && !t.grad().defined()) {
      const char* text =
          "the .grad attribute of a tensor that is not a leaf is being accessed; it is not "
          "populated during backward: call .retain_grad() on it first";
      if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) return nullptr;
    }
    asked(t, "grad");
    return wrap(t.grad());
  });
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        tensor_of(self).set_grad(tensor_or_none(value, "grad"));
        return 0;
      },
      -1);
}
PyObject* grad_fn(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "grad_fn");
    return wrap(t.grad_fn());
  });
}
PyObject* is_leaf(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "is_leaf");
    return PyBool_FromLong(t.is_leaf());
  });
}
PyObject* output_nr(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return PyLong_FromLongLong(t.output_nr()); });
}
PyObject* retains_grad(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "retains_grad");
    return PyBool_FromLong(t.retains_grad());
  });
}
PyObject* data(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return wrap(t.data()); });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        if (!value) fail("the data of a tensor cannot be deleted; delete the tensor");
        Tensor given = tensor_or_none(value, "data");
        if (!given.defined()) fail(ErrorKind::type, "data must be a Tensor, not None");
        tensor_of(self).set_data(given);
        return 0;
      },
      -1);
}
PyObject* version(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "_version");
    return PyLong_FromUnsignedLong(t._version());
  });
}
PyObject* base(PyObject* self, void*) {
  return get(self, [](const Tensor& t) {
    asked(t, "_base");
    if (!t.is_view()) return Py_NewRef(Py_None);
    return wrap(t._base());
  });
}
PyObject* transposed(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return wrap(numpy_T(t)); });
}
PyObject* matrix_transposed(PyObject* self, void*) {
  return get(self, [](const Tensor& t) { return wrap(mT(t)); });
}
PyObject* yes(PyObject*, void*) { return Py_NewRef(Py_True); }
PyObject* no(PyObject*, void*) { return Py_NewRef(Py_False); }
PyObject* none(PyObject*, void*) { return Py_NewRef(Py_None); }

}  // namespace

PyGetSetDef tensor_properties[] = {
    {"shape", shape, nullptr, "The sizes, as a foregrad.Size.", nullptr},
    {"dtype", dtype, nullptr, "The type of the elements.", nullptr},
    {"ndim", ndim, nullptr, "How many dimensions there are.", nullptr},
    {"itemsize", itemsize, nullptr, "Bytes per element.", nullptr},
    {"nbytes", nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"requires_grad", requires_grad, set_requires_grad, "Whether gradients are computed.", nullptr},
    {"grad", grad, set_grad, "The gradient, or None.", nullptr},
    {"grad_fn", grad_fn, nullptr, "The node that made the tensor, or None.", nullptr},
    {"is_leaf", is_leaf, nullptr, "Whether no recorded call made the tensor.", nullptr},
    {"output_nr", output_nr, nullptr, "Which output of its node the tensor is.", nullptr},
    {"retains_grad", retains_grad, nullptr, "Whether a non-leaf keeps its gradient.", nullptr},
    {"data", data, set_data, "The same memory without history.", nullptr},
    {"_version", version, nullptr, "How often the memory was modified in place.", nullptr},
    {"_base", base, nullptr, "The tensor that this is a view of, or None.", nullptr},
    {"T", transposed, nullptr, "The tensor with its dimensions reversed.", nullptr},
    {"mH", matrix_transposed, nullptr, "As mT, for real numbers.", nullptr},
    {"mT", matrix_transposed, nullptr, "The tensor with its last two dimensions swapped.", nullptr},
    {"is_cpu", yes, nullptr, nullptr, nullptr},
    {"is_cuda", no, nullptr, nullptr, nullptr},
    {"is_sparse", no, nullptr, nullptr, nullptr},
    {"is_quantized", no, nullptr, nullptr, nullptr},
    {"is_meta", no, nullptr, nullptr, nullptr},
    {"is_nested", no, nullptr, nullptr, nullptr},
    {"is_mkldnn", no, nullptr, nullptr, nullptr},
    {"name", none, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace fg::python
