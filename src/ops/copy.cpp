#include "ops/copy.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create.h"
#include "ops/kernels/strided.h"
#include "ops/view_kind.h"
#include "ops/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct CloneParams {
  bool contiguous;  // otherwise dense tensors keep their order of dimensions
  bool operator==(const CloneParams&) const = default;
};

// Dense in some order of dimensions, without gaps or overlap.
bool is_dense(const Tensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t i = 0; i < tensor.sizes().size(); i++) {
    if (tensor.sizes()[i].value() > 1) {
      dims.emplace_back(tensor.strides()[i].value(), tensor.sizes()[i].value());
    }
  }
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (auto [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

const Registered clone_p =
    plain_primitive<CloneParams,
                    [](Operands inputs, const CloneParams& p, Meta* out) {
                      const Tensor& self = *inputs[0];
                      out[0].sizes = self.sizes();
                      out[0].dtype = self.dtype();
                      bool keep = !p.contiguous && !self.is_abstract() && !self.is_contiguous() &&
                                  is_dense(self);
                      if (keep) out[0].strides = self.strides();
                    },
                    [](Operands inputs, const CloneParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("clone", Kind::elementwise)
        .vjp("CloneBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));

const auto clone_entry = define(clone, "A copy with memory of its own.", [](const Tensor& self) {
                           return clone_p.with({false}, self);
                         }).samples([] { return Samples{{{sample({2, 2})}}}; });
const auto contiguous_entry =
    define(contiguous, "Self if it is contiguous, else a contiguous copy.", [](const Tensor& self) {
      return self.is_contiguous() ? self : clone_p.with({true}, self);
    }).samples([] { return Samples{{{transpose(sample({2, 2}), 0, 1)}}}; });

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
                      bool keep = !self.is_abstract() && !self.is_contiguous() && is_dense(self);
                      if (keep) out[0].strides = self.strides();
                    },
                    [](Operands inputs, const ConvertParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("convert", Kind::elementwise)
        .vjp("ToCopyBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));
const auto to_entry =
    define(to, "Self as another dtype; a copy only if that differs or copy is true.",
           [](const Tensor& self, DType dtype, bool copy) {
             if (self.dtype() == dtype && !copy) return self;
             return convert_p.with({dtype}, self);
           })
        .samples(
            [] { return Samples{{{sample({2}), kFloat32}}, {{sample({2}), kInt64}, "to int"}}; });

const auto copy_entry =
    define(copy, "The elements of src, broadcast to the sizes of self and converted to its dtype.",
           [](const Tensor& self, const Tensor& src) {
             if (!can_broadcast(src.sizes(), self.sizes())) {
               fail("copy_: sizes {} do not broadcast to the sizes {} of the tensor written to",
                    text(src.sizes()), text(self.sizes()));
             }
             return expand(convert_p.with({self.dtype()}, src), self.sizes());
           })
        .vjp("CopyBackwards",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return v.grad(); }))
        .inplace()
        .samples([] { return Samples{{{sample({3}), sample({3})}}}; });
const auto fill_entry =
    define(fill, "Self with every element set to value.",
           [](const Tensor& self, const Scalar& value) { return full_like(self, value); })
        .vjp("FillBackward0",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }))
        .inplace()
        .samples([] { return Samples{{{sample({3}), Scalar(2)}}}; });
const auto zero_entry =
    define(zero, "Self with every element set to zero.",
           [](const Tensor& self) { return zeros_like(self); })
        .vjp("ZeroBackward0",
             wrt(0, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); }))
        .inplace()
        .samples([] { return Samples{{{sample({3})}}}; });

}  // namespace

Tensor Tensor::clone() const { return fg::clone(*this); }
Tensor Tensor::contiguous() const { return fg::contiguous(*this); }
Tensor Tensor::to(DType dtype, bool copy) const { return fg::to(*this, dtype, copy); }
Tensor Tensor::type_as(const Tensor& other) const { return fg::to(*this, other.dtype(), false); }
const Tensor& Tensor::copy_(const Tensor& source) const { return fg::copy_(*this, source), *this; }
const Tensor& Tensor::fill_(const Scalar& value) const { return fg::fill_(*this, value), *this; }
const Tensor& Tensor::zero_() const { return fg::zero_(*this), *this; }

}  // namespace fg
