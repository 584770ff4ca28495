#include "ops/copy/copy.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/contiguous_copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/number.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct CloneParams {
  bool contiguous;  // otherwise the order of dimensions in memory is kept
  Dims strides;     // or this one is taken, if there is any
  bool operator==(const CloneParams&) const = default;
};

const Registered clone_p =
    plain_primitive<CloneParams,
                    [](Operands inputs, const CloneParams& p, Meta* out) {
                      const Tensor& self = *inputs[0];
                      out[0].sizes = self.sizes();
                      out[0].dtype = self.dtype();
                      out[0].strides = p.strides;
                      bool keep = !p.contiguous && p.strides.empty();
                      if (keep) out[0].strides = ops::preserved_strides(self);
                    },
                    [](Operands inputs, const CloneParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("clone", Kind::elementwise, "t")
        .requiring<[](Operands inputs, const CloneParams& p) {
          bool fits = p.strides.empty() || p.strides.size() == inputs[0]->sizes().size();
          for (Dim stride : p.strides) fits = fits && stride >= 0;
          ops::demand(fits, "clone", "one stride of 0 or more per size");
        }>()
        .copying()
        .vjp("CloneBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));

const auto clone_entry =
    define(clone, "A copy with memory of its own.", [](const Tensor& self) {
      // Calls of inference tensors alone are not recorded. A copy of one that requires grad is: it
      // is written into a normal tensor.
      bool to_normal = self.is_inference() && !modes.inference && self.requires_grad();
      return to_normal ? copy(empty_like(self), self) : clone_p.with({false, {}}, self);
    }).samples([] { return Samples{{{sample({2, 2})}}}; });
const auto contiguous_entry =
    define(contiguous, "Self if it is contiguous, else a contiguous copy.",
           [](const Tensor& self) {
             return self.is_contiguous() ? self : clone_p.with({true, {}}, self);
           })
        .shown(Shown::as_method)
        .samples([] {
          return Samples{{{transpose(sample({2, 2}), 0, 1)}, "transposed"}, {{sample({2, 2})}}};
        });

struct ConvertParams {
  DType dtype;
  bool operator==(const ConvertParams&) const = default;
};
const Registered convert_p =
    plain_primitive<ConvertParams,
                    [](Operands inputs, const ConvertParams& p, Meta* out) {
                      const Tensor& self = *inputs[0];
                      out[0].sizes = self.sizes();
                      out[0].dtype = p.dtype;
                      out[0].strides = ops::preserved_strides(self);
                    },
                    [](Operands inputs, const ConvertParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("convert", Kind::elementwise, "t")
        .copying()
        .vjp("ToCopyBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));
Tensor converted(const Tensor& self, DType dtype, bool copy) {
  if (self.dtype() == dtype && !copy) return self;
  return convert_p.with({dtype}, self);
}
const auto to_entry =
    define(to.overload<0>(), "Self as another dtype; a copy only if that differs or copy is true.",
           [](const Tensor& self, DType dtype, bool copy) { return converted(self, dtype, copy); })
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{sample({2}), kFloat64}, "as it is"},
                         {{sample({2}), kFloat64, Scalar(true)}, "copy"},
                         {{sample({2}), kFloat32}, "float32", false},
                         {{sample({2}), kInt64}, "to int", false},
                         {{sample_indices({3}, 5), kFloat64}, "from int"}};
        });
const auto to_other_entry =
    define(to.overload<1>(), "Self as the dtype of other.",
           [](const Tensor& self, const Tensor& other, bool copy) {
             return converted(self, other.dtype(), copy);
           })
        .samples([] {
          return Samples{{{sample({2}), sample({1})}, "as it is"},
                         {{sample_indices({3}, 5), sample({2})}, "from int"}};
        });

const auto copy_entry =
    define(copy, "The elements of src, broadcast to the sizes of self and converted to its dtype.",
           [](const Tensor& self, const Tensor& src) {
             if (!can_broadcast(src.sizes(), self.sizes())) {
               fail("copy_: sizes {} do not broadcast to the sizes {} of the tensor written to",
                    text(src.sizes()), text(self.sizes()));
             }
             return expand(convert_p.with({self.dtype()}, src), self.sizes());
           })
        .shown(Shown::nowhere)
        .vjp("CopyBackwards",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }),
             // Converted before the engine sums what was broadcast.
             wrt(1, saves::shape(1), [](const Vjp& v) { return to(v.grad(), v.dtype(1)); }))
        .inplace()
        .samples([] {
          return Samples{{{sample({3}), sample({3})}},
                         {{sample({2, 3}), sample({3})}, "broadcast"},
                         {{sample({3}), sample_indices({3}, 5)}, "from int"}};
        });
// Named as the in-place forms are in PyTorch: they are what programs use.
const auto fill_entry =
    define(fill, "Self with every element set to value.",
           [](const Tensor& self, const Scalar& value) {
             return full_like(self, ops::fitting(value, self.dtype(), "fill_"));
           })
        .inplace_as_function()
        .vjp("FillBackward2",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }))
        .inplace()
        .samples([] {
          return Samples{{{sample({3}), Scalar(2)}},
                         {{sample_indices({3}, 9), Scalar(2.7)}, "truncated"}};
        });
const auto fill_tensor_entry =
    define(fill_tensor, "Self with every element set to value, a zero-dim tensor.",
           [](const Tensor& self, const Tensor& value) {
             if (value.dim() != 0) {
               fail("fill_: value has sizes {}; expected a number or a zero-dim tensor",
                    text(value.sizes()));
             }
             return expand(convert_p.with({self.dtype()}, value), self.sizes());
           })
        .vjp("FillBackward3",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return v.grad(); }))
        .inplace()
        .samples([] { return Samples{{{sample({3}), sample({})}}}; });
const auto zero_entry =
    define(zero, "Self with every element set to zero.",
           [](const Tensor& self) { return zeros_like(self); })
        .shown(Shown::nowhere)
        .inplace_as_function()
        .vjp("ZeroBackward0",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }))
        .inplace()
        .samples([] { return Samples{{{sample({3})}}}; });

}  // namespace

Tensor ops::contiguous_copy(const Tensor& self) { return clone_p.with({true, {}}, self); }

Tensor ops::in_layout_of(const Tensor& self, const Tensor& values) {
  Dims strides = preserved_strides(self);
  return strides.empty() ? values : clone_p.with({false, strides}, values);
}

Tensor Tensor::clone() const { return fg::clone(*this); }
Tensor Tensor::contiguous() const { return fg::contiguous(*this); }
Tensor Tensor::to(DType dtype, bool copy) const { return fg::to(*this, dtype, copy); }
Tensor Tensor::type_as(const Tensor& other) const { return fg::to(*this, other.dtype(), false); }
Tensor Tensor::to(const TensorOptions& options) const {
  if (options.requires_grad()) {
    fail(
        "to: got options with requires_grad, which a conversion does not set; call "
        "requires_grad_() on the result");
  }
  return to(options.dtype_opt().value_or(dtype()));
}
Tensor& Tensor::operator=(const Tensor& values) && { return copy_(values); }
Tensor& Tensor::operator=(Tensor&& values) && { return copy_(values); }
Tensor& Tensor::operator=(const Scalar& value) && { return fill_(value); }
Tensor& Tensor::copy_(const Tensor& source) const { return fg::copy_(*this, source); }
Tensor& Tensor::fill_(const Scalar& value) const { return fg::fill_(*this, value); }
Tensor& Tensor::zero_() const { return fg::zero_(*this); }

}  // namespace fg
