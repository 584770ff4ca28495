// The same memory as elements of another dtype.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct DTypeParams {
  DType dtype;
  bool operator==(const DTypeParams&) const = default;
};

// A number of elements as a number of smaller or larger ones.
Dim scaled(const Dim& count, DType from, DType to, const char* what) {
  auto before = static_cast<int64_t>(item_size(from)), after = static_cast<int64_t>(item_size(to));
  if (before >= after) return count * (before / after);
  int64_t together = after / before;
  if (!(count % together == 0)) {
    fail("view: {} elements of {} make no whole element of {}: {} is {}, expected a multiple of {}",
         together, name(from), name(to), what, count.text(), together);
  }
  return count / together;
}

void infer(Operands inputs, const DTypeParams& p, Meta* out) {
  const Tensor& self = *inputs[0];
  DType from = self.dtype();
  out[0].dtype = p.dtype;
  out[0].sizes = self.sizes();
  out[0].strides = self.strides();
  if (item_size(from) == item_size(p.dtype)) return;
  if (self.sizes().empty()) {
    fail("view: a zero-dim tensor of {} cannot become {}, whose elements have another size",
         name(from), name(p.dtype));
  }
  if (!(self.strides().back() == 1)) {
    fail("view: the last dimension must have stride 1 to view {} as {}, but has {}", name(from),
         name(p.dtype), self.strides().back().text());
  }
  size_t last = self.sizes().size() - 1;
  out[0].sizes[last] = scaled(self.sizes()[last], from, p.dtype, "the last size");
  (void)scaled(self.impl()->offset, from, p.dtype, "the offset");
  for (size_t i = 0; i < last; i++) {
    out[0].strides[i] = scaled(self.strides()[i], from, p.dtype, "a stride");
  }
}

// As PyTorch: no view to autograd, since bits have no gradient.
const Registered view_dtype_p =
    plain_primitive<DTypeParams, infer,
                    [](Operands inputs, const DTypeParams& p, Tensor* out) {
                      const Tensor& self = *inputs[0];
                      Dim offset = self.impl()->offset;
                      out[0] = alias(self, out[0].sizes(), out[0].strides(), offset);
                      out[0].impl()->dtype = p.dtype;
                      out[0].impl()->offset = scaled(offset, self.dtype(), p.dtype, "the offset");
                    }>("view_dtype", Kind::gather, "t")
        .without_gradient("its results are bits read as other numbers");
const auto view_dtype_entry =
    define(view.overload<1>(), "The same memory as elements of another dtype.",
           [](const Tensor& self, DType dtype) {
             // A graph has no value that another one is a part of in other elements.
             if (!self.is_known() && self.impl()->storage) {
               fail("view: memory as another dtype is not captured yet; convert with to()");
             }
             return view_dtype_p.with({dtype}, self);
           })
        .shown(Shown::as_method)
        .stands_for(view_dtype_p)
        .samples([] {
          return Samples{{{sample({2, 3}), kInt64}, "", false},
                         {{sample({2, 3}), kInt16}, "smaller", false},
                         {{sample_indices({3, 4}, 9), kFloat32}, "of integers", false}};
        });

}  // namespace

}  // namespace fg
