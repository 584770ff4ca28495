#include "ops/rearrange/join.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct CatParams {
  Axis dim;
  bool operator==(const CatParams&) const = default;
};

// PyTorch's exception from the rule of equal shapes: 1-d tensors without elements are skipped.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

void infer_cat(Operands inputs, const CatParams& p, Meta* out) {
  if (inputs[0].count == 0) fail(ErrorKind::value, "cat: expected a non-empty list of tensors");
  std::vector<const Tensor*> all;
  const Tensor* model = nullptr;
  for (const Tensor& tensor : inputs[0].all()) {
    all.push_back(&tensor);
    if (tensor.dim() == 0) fail("cat: zero-dim tensors cannot be joined; use stack");
    if (!model && !is_skipped(tensor)) model = &tensor;
  }
  out[0].dtype = result_type(all);
  if (!model) model = all[0];
  out[0].sizes = model->sizes();
  int64_t axis = wrap_axis(p.dim, model->sizes().size(), "cat");
  Dim total = 0;
  for (const Tensor* tensor : all) {
    if (is_skipped(*tensor) && model->dim() != 1) continue;
    Dims sizes = tensor->sizes();
    if (sizes.size() != model->sizes().size()) {
      fail("cat: tensors must have equally many dimensions, got sizes {} and {}",
           text(model->sizes()), text(sizes));
    }
    total += sizes[axis];
    sizes[axis] = model->sizes()[axis];
    if (!(sizes == model->sizes())) {
      fail("cat: sizes {} and {} differ in another dimension than {}; they must be equal there",
           text(model->sizes()), text(tensor->sizes()), axis);
    }
  }
  out[0].sizes[axis] = total;
}

void evaluate_cat(Operands inputs, const CatParams& p, Tensor* out) {
  int64_t axis = wrap_axis(p.dim, out[0].sizes().size(), "cat");
  Dim at = 0;
  for (const Tensor& tensor : inputs[0].all()) {
    if (is_skipped(tensor)) continue;
    Dim size = tensor.sizes()[axis];
    Dims sizes = out[0].sizes();
    sizes[axis] = size;
    Dim offset = out[0].impl()->offset + at * out[0].strides()[axis];
    kernels::copy_elements(alias(out[0], sizes, out[0].strides(), offset), tensor);
    at += size;
  }
}

const Registered cat_p =
    plain_primitive<CatParams, infer_cat, evaluate_cat>("cat", Kind::gather, "l")
        .linear_in({0})
        .vjp("CatBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const CatParams& p) {
               Tensors grads;
               Dim at = 0;
               int64_t axis = wrap_axis(p.dim, v.grad().sizes().size(), "cat");
               for (int i = 0; i < v.list_size(0); i++) {
                 const Dims& sizes = v.sizes(0, i);
                 bool skipped = sizes.size() == 1 && sizes[0] == 0;
                 Dim size = skipped ? Dim(0) : sizes[axis];
                 grads.push_back(skipped ? zeros(sizes, v.grad().dtype())
                                         : slice(v.grad(), axis, at, at + size));
                 at += size;
               }
               return grads;
             }));
// As libtorch: undefined tensors are skipped.
struct Cat : StandsFor<cat_p> {
  static constexpr bool skips_undefined = true;

  Tensor operator()(const Tensors& tensors, int64_t dim) const {
    auto is_defined = [](const Tensor& tensor) { return tensor.defined(); };
    if (std::all_of(tensors.begin(), tensors.end(), is_defined))
      return StandsFor::operator()(tensors, dim);
    Tensors defined;
    std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(defined), is_defined);
    if (defined.empty())
      fail(ErrorKind::type, "cat: all tensors of the list are undefined; give one that is not");
    return StandsFor::operator()(defined, dim);
  }
};
const auto cat_entry =
    define_as<cat_p>(cat, "Joins tensors along a dimension.", Cat())
        .also_named({"concat", "concatenate"})
        .out()
        .samples([] {
          return Samples{
              {{Tensors{sample({2, 3}), sample({1, 3})}, Scalar(0)}},
              {{Tensors{sample({2, 1}), sample({2, 2}), sample({2, 0})}, Scalar(-1)}, "columns"},
              {{Tensors{sample({2}), sample({0})}}, "empty vector"}};
        });

const auto stack_entry =
    define(stack, "Joins tensors of one shape along a new dimension.",
           [](const Tensors& tensors, int64_t dim) {
             if (tensors.empty()) fail("stack: expected a non-empty list of tensors");
             Tensors parts;
             int64_t axis = wrap_axis(dim, tensors[0].sizes().size() + 1, "stack");
             for (size_t i = 0; i < tensors.size(); i++) {
               if (!(tensors[i].sizes() == tensors[0].sizes())) {
                 fail(
                     "stack: all tensors must have equal sizes, but got {} at entry 0 and {} at "
                     "entry {}",
                     text(tensors[0].sizes()), text(tensors[i].sizes()), i);
               }
               parts.push_back(unsqueeze(tensors[i], axis));
             }
             return cat(parts, axis);
           })
        .vjp("StackBackward0", wrt(0, saves::nothing,
                                   [](const Vjp& v, int64_t dim) {
                                     Tensors grads;
                                     for (int i = 0; i < v.list_size(0); i++)
                                       grads.push_back(select(v.grad(), dim, i));
                                     return grads;
                                   }))
        .out()
        .samples([] {
          return Samples{{{Tensors{sample({2, 3}), sample({2, 3})}, Scalar(1)}},
                         {{Tensors{sample({}), sample({})}}, "numbers"}};
        });

// ---- along the first or second dimension

Tensor at_least_1d(const Tensor& tensor) {
  return tensor.dim() == 0 ? reshape(tensor, {1}) : tensor;
}

const auto hstack_entry =
    define(hstack, "Joins tensors along the second dimension, vectors along the first.",
           [](const Tensors& tensors) {
             if (tensors.empty()) fail("hstack: expected a non-empty list of tensors");
             Tensors parts;
             for (const Tensor& tensor : tensors) parts.push_back(at_least_1d(tensor));
             return cat(parts, parts[0].dim() == 1 ? 0 : 1);
           })
        .samples([] {
          return Samples{{{Tensors{sample({2, 3}), sample({2, 1})}}},
                         {{Tensors{sample({}), sample({2})}}, "vectors"}};
        });
const auto vstack_entry =
    define(vstack, "Joins tensors along the first dimension, vectors as rows.",
           [](const Tensors& tensors) {
             if (tensors.empty()) fail("vstack: expected a non-empty list of tensors");
             Tensors parts;
             for (const Tensor& tensor : tensors) {
               Tensor part = at_least_1d(tensor);
               parts.push_back(part.dim() == 1 ? unsqueeze(part, 0) : part);
             }
             return cat(parts, 0);
           })
        .also_named({"row_stack"})
        .samples([] { return Samples{{{Tensors{sample({2, 3}), sample({3})}}}}; });

}  // namespace
}  // namespace fg
