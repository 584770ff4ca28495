// Tensors over memory that another process sees too, for the batches of foregrad.utils.data: made
// in place of a copy, and filled by one copy of each sample. The caller keeps memory and threads
// apart; nothing here is captured or recorded.
#include <cstring>

#include "base/fail.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

namespace {

Dims dims_of(nb::handle numbers) {
  Dims result;
  for (nb::handle number : numbers) result.push_back(nb::cast<int64_t>(number));
  return result;
}

// The bytes from the first element to behind the last one. The numbers come from another process
// of the same program, so they are checked once more before memory is read by them.
int64_t reach_of(const Dims& sizes, const Dims& strides, int64_t item) {
  if (sizes.size() != strides.size()) fail("_tensor_in: sizes and strides differ in their number");
  __int128 last = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t size = sizes[i].value(), stride = strides[i].value();
    if (size < 0 || stride < 0) fail("_tensor_in: a negative size or stride");
    if (size == 0) return 0;
    last += static_cast<__int128>(size - 1) * stride;
    if (last > (int64_t{1} << 60)) fail("_tensor_in: sizes and strides reach too far");
  }
  return (static_cast<int64_t>(last) + 1) * item;
}

// A tensor over a writable buffer, from an offset in bytes on. It holds `keep`, and through that
// the buffer, which the caller never resizes.
Tensor tensor_in(nb::handle memory, int64_t offset, nb::handle dtype, nb::handle sizes,
                 nb::handle strides, nb::object keep) {
  OptDType type = dtype_of(dtype.ptr());
  if (!type) fail(ErrorKind::type, "_tensor_in: expected a dtype");
  Py_buffer view;
  if (PyObject_GetBuffer(memory.ptr(), &view, PyBUF_WRITABLE)) nb::raise_python_error();
  auto* start = static_cast<char*>(view.buf);
  const int64_t length = view.len;
  PyBuffer_Release(&view);
  Dims shape = dims_of(sizes), steps = dims_of(strides);
  const int64_t reach = reach_of(shape, steps, static_cast<int64_t>(item_size(*type)));
  if (offset < 0 || offset > length || reach > length - offset) {
    fail("_tensor_in: {} bytes at {} reach beyond the {} bytes in memory", reach, offset, length);
  }
  return from_blob(start + offset, shape, *type, [held = Held(std::move(keep))](void*) {}, steps);
}

// Copies tensors of the dtype and sizes of the rows of `out` into these, one after the other.
// Returns whether it did: others, and those that need a gradient, are left to stack().
bool stack_into(nb::handle tensors, const Tensor& out) {
  nb::object items = own(PySequence_Fast(tensors.ptr(), "expected a sequence of tensors"));
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
  PyObject** first = PySequence_Fast_ITEMS(items.ptr());
  const TensorImpl& rows = *out.impl();
  if (!rows.contiguous || rows.sizes.size() == 0 || !(rows.sizes[0] == count)) return false;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!is_tensor(first[i])) return false;
    const TensorImpl& one = *impl_of(first[i]);
    bool fits = one.contiguous && one.dtype == rows.dtype && one.numel * count == rows.numel &&
                one.sizes.size() + 1 == rows.sizes.size() && (one.data || one.numel == 0) &&
                std::equal(one.sizes.begin(), one.sizes.end(), rows.sizes.begin() + 1);
    if (!fits || tensor_of(first[i]).requires_grad()) return false;
  }
  auto* to = static_cast<char*>(out.data_ptr());
  const auto total = static_cast<size_t>(rows.numel.value()) * item_size(rows.dtype);
  const size_t bytes = count ? total / static_cast<size_t>(count) : 0;
  for (Py_ssize_t i = 0; bytes > 0 && i < count; i++, to += bytes) {
    std::memcpy(to, impl_of(first[i])->data, bytes);
  }
  return true;
}

}  // namespace

void add_shared(nb::module_& module) {
  module.def("_tensor_in", tensor_in);
  module.def("_stack_into", stack_into);
}

}  // namespace fg::python
