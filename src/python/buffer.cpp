// The buffer protocol: numpy and memoryview see a tensor's memory without copies.
#include "base/fail.h"
#include "python/tensor_type.h"

namespace fg::python {

namespace {

// Memory, sizes and strides for as long as a view is open: the tensor may get other memory.
struct Geometry {
  Tensor held;
  std::vector<Py_ssize_t> sizes, strides;
};

const char* refusal_of(const Tensor& tensor, int flags) {
  if (tensor.requires_grad() && is_grad_enabled()) {
    return "a tensor that requires grad has no buffer; use tensor.detach()";
  }
  if (!buffer_format(tensor.dtype())) return "bfloat16 has no format in the buffer protocol";
  bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!strided && !tensor.is_contiguous()) return "the tensor is not contiguous";
  return nullptr;
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded(
      [&] {
        Tensor tensor = tensor_of(self);
        if (const char* reason = refusal_of(tensor, flags)) {
          PyErr_SetString(PyExc_BufferError, reason);
          return -1;
        }
        tensor.check_known();
        auto item = static_cast<Py_ssize_t>(item_size(tensor.dtype()));
        auto* geometry = new Geometry{alias(tensor), {}, {}};
        for (size_t i = 0; i < tensor.sizes().size(); i++) {
          Py_ssize_t size = tensor.sizes()[i].value();
          geometry->sizes.push_back(size);
          // A dimension of one element may have any stride, also one that bytes cannot count.
          geometry->strides.push_back(size > 1 ? tensor.strides()[i].value() * item : item);
        }
        *view = {};
        view->obj = Py_NewRef(self);
        view->buf = tensor.data_ptr();
        view->len = tensor.numel() * item;
        view->itemsize = item;
        view->ndim = static_cast<int>(tensor.dim());
        if (flags & PyBUF_FORMAT) view->format = const_cast<char*>(buffer_format(tensor.dtype()));
        if (flags & PyBUF_ND) view->shape = geometry->sizes.data();
        if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = geometry->strides.data();
        view->internal = geometry;
        return 0;
      },
      -1);
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Geometry*>(view->internal); }

}  // namespace fg::python
