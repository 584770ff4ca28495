#include "ops/view/view_gradients.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"
#include "tensor/geometry.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

void ops::check_strided(const Tensor& self, const Dims& size, const Dims& stride, Dim offset) {
  if (size.size() != stride.size()) {
    fail("as_strided: got {} sizes and {} strides; give one stride per size", size.size(),
         stride.size());
  }
  for (Dim each : stride) {
    if (each < 0) fail("as_strided: strides must be 0 or more, got {}", text(stride));
  }
  if (offset < 0) fail("as_strided: storage_offset must be 0 or more, got {}", offset.text());
  if (product(size) == 0 || !self.impl()->storage) return;  // the product refuses negative sizes
  int64_t room = static_cast<int64_t>(self.impl()->storage->bytes() / item_size(self.dtype()));
  Dim length = reach(size, stride);
  if (offset > room || length > Dim(room) - offset) {
    fail(
        "as_strided: sizes {}, strides {} and offset {} reach {} elements beyond the offset of a "
        "storage with {} elements",
        text(size), text(stride), offset.text(), length.text(), room);
  }
}

void ops::check_grad_sizes(const Tensor& grad, const Dims& expected, const char* who) {
  if (grad.sizes() == expected) return;
  fail("{}: expected a gradient of sizes {}, got {}", who, text(expected), text(grad.sizes()));
}

namespace {

// The shape rule of all gradients here: the input's sizes, for a gradient of the view's sizes.
void infer_as_input(const Tensor& grad, const Dims& input_sizes, const Dims& view_sizes,
                    const char* who, Meta& out) {
  product(input_sizes);  // refuses negative sizes
  ops::check_grad_sizes(grad, view_sizes, who);
  out.sizes = input_sizes;
  out.dtype = grad.dtype();
}

void fill_zeros(const Tensor& tensor) {
  std::memset(tensor.data_ptr(), 0,
              static_cast<size_t>(tensor.numel()) * item_size(tensor.dtype()));
}

// ---- a part of zeros

// The times that a view shows an element of its input at most.
enum class Shows : uint8_t { once, often };

// Adds `values` (contiguous, logical order) at the positions of a geometry, in index order.
template <class T>
void add_at(T* storage, const Dims& sizes, const Dims& strides, const T* values) {
  int64_t count = product(sizes).value();
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    storage[at] = T(storage[at] + values[i]);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d].value()) {
        at += strides[d].value();
        break;
      }
      at -= strides[d].value() * (sizes[d].value() - 1);
      index[d] = 0;
    }
  }
}

// Makes `whole` zeros, with `values` in the part of it that `view` shows. An element that is shown
// several times gets the sum, in the order of the view.
void put_into_zeros(const Tensor& whole, const Tensor& view, const Tensor& values, Shows shows) {
  fill_zeros(whole);
  if (shows == Shows::once) return kernels::copy_elements(view, values);
  Tensor dense = kernels::as_contiguous(values);
  visit(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    add_at(reinterpret_cast<T*>(view.data_ptr()), view.sizes(), view.strides(),
           reinterpret_cast<const T*>(dense.data_ptr()));
  });
}

// The gradient of a view as a primitive: zeros with the gradient in the part that `show` finds. Its
// own gradient is the view.
template <class P, auto infer, auto show, Shows shows = Shows::once>
Primitive<P> view_gradient(const char* name, const char* node) {
  return plain_primitive<P, infer,
                         [](Operands inputs, const P& p, Tensor* out) {
                           NoGradGuard below;
                           put_into_zeros(out[0], show(out[0], p), *inputs[0], shows);
                         }>(name, Kind::scatter, "t")
      .linear_in({0})
      .vjp(node,
           wrt(0, saves::nothing, [](const Vjp& v, const P& p) { return show(v.grad(), p); }));
}

// ---- slice, select, diagonal

struct SliceBackwardParams {
  Shape input_sizes;
  Axis dim;
  std::optional<Dim> start, end;
  Dim step;
  bool operator==(const SliceBackwardParams&) const = default;
};
void infer_slice_backward(Operands inputs, const SliceBackwardParams& p, Meta* out) {
  Dims view = p.input_sizes;
  int64_t axis = wrap_axis(p.dim, view.size(), "slice_backward");
  if (view.empty()) fail("slice_backward: a zero-dim input cannot have been sliced");
  if (!(p.step > 0)) fail("slice_backward: step must be positive, got {}", p.step.text());
  view[axis] = ops::slice_length(p.start, p.end, p.step, view[axis]);
  infer_as_input(*inputs[0], p.input_sizes, view, "slice_backward", out[0]);
}
const Registered slice_backward_p =
    view_gradient<SliceBackwardParams, infer_slice_backward,
                  [](const Tensor& whole, const SliceBackwardParams& p) {
                    return slice(whole, p.dim, p.start, p.end, p.step);
                  }>("slice_backward", "SliceBackwardBackward0");
const auto slice_backward_entry =
    define_as<slice_backward_p>(slice_backward, "The gradient of slice.")
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{sample({2}), Dims{5}, Scalar(0), Scalar(1), Scalar(5), Scalar(2)}}};
        });

struct SelectBackwardParams {
  Shape input_sizes;
  Axis dim;
  int64_t index;
  bool operator==(const SelectBackwardParams&) const = default;
};
void infer_select_backward(Operands inputs, const SelectBackwardParams& p, Meta* out) {
  Dims view = p.input_sizes;
  int64_t axis = wrap_axis(p.dim, view.size(), "select_backward");
  if (view.empty() || Dim::bound(p.index) >= view[axis] || Dim::bound(p.index) < -view[axis]) {
    fail(ErrorKind::index, "select_backward: index {} is out of bounds for dimension {} of {}",
         p.index, axis, text(view));
  }
  view.erase(axis);
  infer_as_input(*inputs[0], p.input_sizes, view, "select_backward", out[0]);
}
const Registered select_backward_p =
    view_gradient<SelectBackwardParams, infer_select_backward,
                  [](const Tensor& whole, const SelectBackwardParams& p) {
                    return select(whole, p.dim, p.index);
                  }>("select_backward", "SelectBackwardBackward0");
const auto select_backward_entry =
    define_as<select_backward_p>(select_backward, "The gradient of select.")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({2}), Dims{2, 3}, Scalar(1), Scalar(-1)}}}; });

struct DiagonalBackwardParams {
  Shape input_sizes;
  int64_t offset;
  Axis dim1, dim2;
  bool operator==(const DiagonalBackwardParams&) const = default;
};
void infer_diagonal_backward(Operands inputs, const DiagonalBackwardParams& p, Meta* out) {
  Dims view = p.input_sizes;
  int64_t row = wrap_axis(p.dim1, view.size(), "diagonal_backward");
  int64_t column = wrap_axis(p.dim2, view.size(), "diagonal_backward");
  if (row == column || view.size() < 2) {
    fail("diagonal_backward: dim1 and dim2 must be two different dimensions, got {} and {}", p.dim1,
         p.dim2);
  }
  Dim length = ops::diagonal_length(view[row], view[column], p.offset);
  view.erase(std::max(row, column));
  view.erase(std::min(row, column));
  view.push_back(length);
  infer_as_input(*inputs[0], p.input_sizes, view, "diagonal_backward", out[0]);
}
const Registered diagonal_backward_p =
    view_gradient<DiagonalBackwardParams, infer_diagonal_backward,
                  [](const Tensor& whole, const DiagonalBackwardParams& p) {
                    return diagonal(whole, p.offset, p.dim1, p.dim2);
                  }>("diagonal_backward", "DiagonalBackwardBackward0");
const auto diagonal_backward_entry =
    define_as<diagonal_backward_p>(diagonal_backward, "The gradient of diagonal.")
        .shown(Shown::nowhere)
        .samples(
            [] { return Samples{{{sample({2}), Dims{2, 3}, Scalar(1), Scalar(0), Scalar(1)}}}; });

// ---- as_strided: views may overlap, and so may the input

struct StridedBackwardParams {
  Dims input_sizes, input_strides;
  Dim input_offset;
  Dims size, stride;
  Dim offset;
  bool operator==(const StridedBackwardParams&) const = default;
};

struct UnfoldBackwardParams {
  Shape input_sizes;
  Axis dim;
  int64_t size, step;
  bool operator==(const UnfoldBackwardParams&) const = default;
};

void infer_unfold_backward(Operands inputs, const UnfoldBackwardParams& p, Meta* out) {
  Dims view = p.input_sizes;
  int64_t axis = wrap_axis(p.dim, view.size(), "unfold_backward");
  Dim size = view.empty() ? Dim(1) : view[axis];
  if (p.size < 0 || Dim(p.size) > size || p.step <= 0) {
    fail("unfold_backward: windows of size {} and step {} do not fit dimension {} of size {}",
         p.size, p.step, axis, size.text());
  }
  if (!view.empty()) view[axis] = (size - p.size) / p.step + 1;
  view.push_back(p.size);
  infer_as_input(*inputs[0], p.input_sizes, view, "unfold_backward", out[0]);
}
const Registered unfold_backward_p =
    view_gradient<UnfoldBackwardParams, infer_unfold_backward,
                  [](const Tensor& whole, const UnfoldBackwardParams& p) {
                    return unfold(whole, p.dim, p.size, p.step);
                  },
                  Shows::often>("unfold_backward", "UnfoldBackwardBackward0");
const auto unfold_backward_entry =
    define_as<unfold_backward_p>(unfold_backward, "The gradient of unfold.")
        .shown(Shown::nowhere)
        .samples(
            [] { return Samples{{{sample({3, 3}), Dims{5}, Scalar(0), Scalar(3), Scalar(1)}}}; });

// The memory that an input and its view have together.
struct Stretch {
  int64_t base, view_at, input_at, length;
  explicit Stretch(const StridedBackwardParams& p)
      : base(std::min(p.input_offset.value(), p.offset.value())),
        view_at(p.offset.value() - base),
        input_at(p.input_offset.value() - base),
        length(max(Dim(view_at) + reach(p.size, p.stride),
                   Dim(input_at) + reach(p.input_sizes, p.input_strides))
                   .value()) {}
};

// Gathers in the memory of the input, relative to the lower of the two offsets; where several
// elements of an overlapping input share memory each gets the whole sum divided by their number.
void strided_backward(const Tensor& grad, const StridedBackwardParams& p, const Tensor& out) {
  auto [base, view_at, input_at, length] = Stretch(p);
  Tensor memory = empty_tensor({length}, grad.dtype()),
         counts = empty_tensor({length}, grad.dtype());
  put_into_zeros(memory, alias(memory, p.size, p.stride, view_at), grad, Shows::often);
  fill_zeros(counts);
  visit(grad.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) {
      auto* sums = reinterpret_cast<T*>(memory.data_ptr());
      auto* count = reinterpret_cast<T*>(counts.data_ptr());
      std::vector<T> ones(static_cast<size_t>(product(p.input_sizes).value()), T(1));
      add_at(count + input_at, p.input_sizes, p.input_strides, ones.data());
      for (int64_t i = 0; i < length; i++) {
        if (count[i] != T(0)) sums[i] = T(sums[i] / count[i]);
      }
    }
  });
  kernels::copy_elements(out, alias(memory, p.input_sizes, p.input_strides, input_at));
}

void infer_as_strided_backward(Operands inputs, const StridedBackwardParams& p, Meta* out) {
  bool complete =
      p.input_sizes.size() == p.input_strides.size() && p.size.size() == p.stride.size();
  bool negative = p.offset < 0 || p.input_offset < 0;
  for (const Dims* strides : {&p.input_strides, &p.stride}) {
    for (Dim stride : *strides) negative |= stride < 0;
  }
  if (!complete || negative) {
    fail("as_strided_backward: expects one stride, 0 or more, per size, and offsets of 0 or more");
  }
  infer_as_input(*inputs[0], p.input_sizes, p.size, "as_strided_backward", out[0]);
}
const Registered as_strided_backward_p =
    plain_primitive<StridedBackwardParams, infer_as_strided_backward,
                    [](Operands inputs, const StridedBackwardParams& p, Tensor* out) {
                      strided_backward(*inputs[0], p, out[0]);
                    }>("as_strided_backward", Kind::scatter, "t")
        .linear_in({0})
        .vjp("AsStridedBackwardBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, const StridedBackwardParams& p) {
               // The transpose: bring the gradient into the memory of both, zero where the input
               // has no element, then look again.
               Stretch whole(p);
               auto gather = [&](const Tensor& grad) {
                 return as_strided_backward(grad, {whole.length}, {1}, whole.base, p.input_sizes,
                                            p.input_strides, p.input_offset);
               };
               Tensor memory = gather(v.grad());
               if (overlaps_itself(p.input_sizes, p.input_strides)) {
                 memory = memory.div(gather(ones_like(v.grad())).clamp_min(1));
               }
               return as_strided(memory, p.size, p.stride, p.offset - whole.base);
             }));
const auto as_strided_backward_entry =
    define_as<as_strided_backward_p>(as_strided_backward, "The gradient of as_strided.")
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{
              {{sample({3, 2}), Dims{4}, Dims{1}, Scalar(0), Dims{3, 2}, Dims{1, 1}, Scalar(0)}}};
        });

}  // namespace
}  // namespace fg
