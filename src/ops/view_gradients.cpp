#include "ops/view_gradients.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/kernels/strided.h"
#include "ops/view_kind.h"
#include "ops/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

void ops::check_strided(const Tensor& self, const Dims& size, const Dims& stride, Dim offset) {
  if (size.size() != stride.size()) {
    fail("as_strided: got {} sizes and {} strides; give one stride per size", size.size(),
         stride.size());
  }
  product(size);  // refuses negative sizes
  Dim last = offset;
  for (size_t i = 0; i < size.size(); i++) {
    if (stride[i] < 0) fail("as_strided: strides must be 0 or more, got {}", text(stride));
    if (size[i] == 0) return;
    last += (size[i] - 1) * stride[i];
  }
  if (offset < 0) fail("as_strided: storage_offset must be 0 or more, got {}", offset.text());
  if (self.is_abstract()) return;
  int64_t room = static_cast<int64_t>(self.impl()->storage->bytes() / item_size(self.dtype()));
  if (!(last < room)) {
    fail(
        "as_strided: sizes {}, strides {} and offset {} reach element {} of a storage with {} "
        "elements",
        text(size), text(stride), offset.text(), last.text(), room);
  }
}

namespace {

void fill_zeros(const Tensor& tensor) {
  std::memset(tensor.data_ptr(), 0,
              static_cast<size_t>(tensor.numel()) * item_size(tensor.dtype()));
}

// ---- slice: the general case of select too

struct SliceBackwardParams {
  Dims input_sizes;
  int64_t dim;
  std::optional<Dim> start, end;
  Dim step;
  bool operator==(const SliceBackwardParams&) const = default;
};
const Registered slice_backward_p =
    plain_primitive<SliceBackwardParams,
                    [](Operands inputs, const SliceBackwardParams& p, Meta* out) {
                      out[0].sizes = p.input_sizes;
                      out[0].dtype = inputs[0]->dtype();
                    },
                    [](Operands inputs, const SliceBackwardParams& p, Tensor* out) {
                      fill_zeros(out[0]);
                      NoGradGuard below;
                      kernels::copy_elements(slice(out[0], p.dim, p.start, p.end, p.step),
                                             *inputs[0]);
                    }>("slice_backward", Kind::scatter)
        .vjp("SliceBackwardBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, const SliceBackwardParams& p) {
               return slice(v.grad(), p.dim, p.start, p.end, p.step);
             }));
const auto slice_backward_entry =
    define_as<slice_backward_p>(slice_backward, "The gradient of slice.").samples([] {
      return Samples{{{sample({2}), Dims{5}, Scalar(0), Scalar(1), Scalar(5), Scalar(2)}}};
    });

const auto select_backward_entry =
    define(select_backward, "The gradient of select.",
           [](const Tensor& grad, const Dims& sizes, int64_t dim, int64_t index) {
             int64_t axis = wrap_axis(dim, sizes.size(), "select_backward");
             Dim start = index < 0 ? sizes[axis] + index : Dim(index);
             return slice_backward(unsqueeze(grad, axis), sizes, axis, start, start + 1, 1);
           })
        .samples([] { return Samples{{{sample({2}), Dims{2, 3}, Scalar(1), Scalar(-1)}}}; });

// ---- as_strided: views may overlap, and so may the input

struct StridedBackwardParams {
  Dims input_sizes, input_strides;
  Dim input_offset;
  Dims size, stride;
  Dim offset;
  bool operator==(const StridedBackwardParams&) const = default;
};

// Adds `values` (contiguous, logical order) at the positions of a geometry, in index order.
template <class T>
void add_at(T* storage, const Dims& sizes, const Dims& strides, int64_t offset, const T* values) {
  int64_t count = product(sizes).value();
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t at = offset;
  for (int64_t i = 0; i < count; i++) {
    storage[at] = T(storage[at] + values[i]);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d].value();
      if (++index[d] < sizes[d].value()) break;
      at -= strides[d].value() * sizes[d].value();
      index[d] = 0;
    }
  }
}

int64_t reach(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i].value() - 1) * strides[i].value();
  }
  return last + 1;
}

// Gathers in the memory of the input, relative to the lower of the two offsets; where several
// elements of an overlapping input share memory each gets the whole sum divided by their number.
void strided_backward(const Tensor& grad, const StridedBackwardParams& p, const Tensor& out) {
  int64_t base = std::min(p.input_offset.value(), p.offset.value());
  int64_t view_at = p.offset.value() - base, input_at = p.input_offset.value() - base;
  int64_t length =
      std::max(view_at + reach(p.size, p.stride), input_at + reach(p.input_sizes, p.input_strides));
  Tensor memory = empty_tensor({length}, grad.dtype()),
         counts = empty_tensor({length}, grad.dtype());
  fill_zeros(memory);
  fill_zeros(counts);
  Tensor values = kernels::as_contiguous(grad);
  visit(grad.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) {
      auto* sums = reinterpret_cast<T*>(memory.data_ptr());
      auto* count = reinterpret_cast<T*>(counts.data_ptr());
      add_at(sums, p.size, p.stride, view_at, reinterpret_cast<const T*>(values.data_ptr()));
      std::vector<T> ones(static_cast<size_t>(product(p.input_sizes).value()), T(1));
      add_at(count, p.input_sizes, p.input_strides, input_at, ones.data());
      for (int64_t i = 0; i < length; i++) {
        if (count[i] != T(0)) sums[i] = T(sums[i] / count[i]);
      }
    }
  });
  kernels::copy_elements(out, alias(memory, p.input_sizes, p.input_strides, input_at));
}

const Registered as_strided_backward_p =
    plain_primitive<StridedBackwardParams,
                    [](Operands inputs, const StridedBackwardParams& p, Meta* out) {
                      out[0].sizes = p.input_sizes;
                      out[0].dtype = inputs[0]->dtype();
                    },
                    [](Operands inputs, const StridedBackwardParams& p, Tensor* out) {
                      strided_backward(*inputs[0], p, out[0]);
                    }>("as_strided_backward", Kind::scatter)
        .vjp("AsStridedBackwardBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, const StridedBackwardParams& p) {
               // The transpose: bring the gradient into the input's memory layout, then look again.
               Tensor memory =
                   as_strided_backward(v.grad(), p.input_sizes, p.input_strides, p.input_offset,
                                       p.input_sizes, p.input_strides, p.input_offset);
               Tensor laid_out =
                   empty_strided_tensor(p.input_sizes, p.input_strides, memory.dtype());
               return as_strided(laid_out.copy_(memory), p.size, p.stride,
                                 p.offset - p.input_offset);
             }));
const auto as_strided_backward_entry =
    define_as<as_strided_backward_p>(as_strided_backward, "The gradient of as_strided.")
        .samples([] {
          return Samples{
              {{sample({3, 2}), Dims{4}, Dims{1}, Scalar(0), Dims{3, 2}, Dims{1, 1}, Scalar(0)}}};
        });

}  // namespace
}  // namespace fg
