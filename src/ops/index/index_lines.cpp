// A position for each element along one dimension: gather, scatter and their like.
#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/number.h"
#include "ops/index/gather.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_gradients.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::as_positions;
using ops::plain_primitive;

namespace {

// ---- checks of arguments

// A zero-dim tensor counts as a line of one element.
Dim size_or_one(const Tensor& tensor, int64_t axis) {
  return tensor.dim() == 0 ? Dim(1) : tensor.sizes()[axis];
}

// Index tensors have the rank of self and fit into it outside of the axis.
void check_index(const Dims& self, const Tensor& index, int64_t axis, const char* who) {
  if (index.impl()->numel == 0) return;
  if (std::max<size_t>(self.size(), 1) != std::max<size_t>(index.sizes().size(), 1)) {
    fail("{}: index has {} dimensions but self has {}; they must be equal", who, index.dim(),
         self.size());
  }
  for (int64_t i = 0; i < static_cast<int64_t>(self.size()); i++) {
    if (i == axis || !(size_or_one(index, i) > self[i])) continue;
    fail("{}: index of sizes {} must be no larger than self of sizes {} apart from dimension {}",
         who, text(index.sizes()), text(self), axis);
  }
}

void check_source(const Tensor& self, const Tensor& index, const Tensor& source, const char* who) {
  if (self.dtype() != source.dtype()) {
    fail("{}: self is {}, but src is {}; they must be equal", who, name(self.dtype()),
         name(source.dtype()));
  }
  int64_t rank = std::max<int64_t>(index.dim(), 1);
  bool fits = rank == std::max<int64_t>(source.dim(), 1);
  for (int64_t i = 0; fits && i < rank; i++) {
    fits = !(size_or_one(index, i) > size_or_one(source, i));
  }
  if (!fits && !(index.impl()->numel == 0)) {
    fail("{}: index of sizes {} must be no larger than src of sizes {}", who, text(index.sizes()),
         text(source.sizes()));
  }
}

kernels::Lines lines_of(const Tensor& other, const Tensor& positions, int64_t axis,
                        const char* who) {
  Tensor index = kernels::as_contiguous(positions);
  int64_t size = other.dim() == 0 ? 1 : other.sizes()[axis].value();
  const auto* at = index.data_ptr<int64_t>();
  pool::parallel_for(index.numel(), 32 * 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      if (at[i] >= 0 && at[i] < size) continue;
      fail("{}: index {} is out of bounds for dimension {} with size {}", who, at[i], axis, size);
    }
  });
  return kernels::lines_along(other, index, axis);
}

template <class Params>
size_t in_front_of_dim(const void* params, size_t) {
  return static_cast<size_t>(static_cast<const Params*>(params)->dim);
}

// Demands of graphs that come as text.
void require_lines(const Dims& self, const Tensor& index, int64_t dim) {
  ops::demand(dim >= 0 && dim < std::max<int64_t>(static_cast<int64_t>(self.size()), 1) &&
                  index.dtype() == kInt64,
              "gather or scatter", "a dimension that is there and an index of int64");
}

// ---- gather

struct GatherParams {
  Axis dim;
  bool operator==(const GatherParams&) const = default;
};
const Registered gather_p =
    plain_primitive<GatherParams,
                    [](Operands inputs, const GatherParams& p, Meta* out) {
                      check_index(inputs[0]->sizes(), *inputs[1], p.dim, "gather");
                      out[0].sizes = inputs[1]->sizes();
                      out[0].dtype = inputs[0]->dtype();
                    },
                    [](Operands inputs, const GatherParams& p, Tensor* out) {
                      if (out[0].numel() == 0) return;
                      kernels::gather_lines(lines_of(*inputs[0], *inputs[1], p.dim, "gather"),
                                            *inputs[0], out[0]);
                    }>("gather", Kind::gather, "tt")
        .requiring<[](Operands inputs, const GatherParams& p) {
          require_lines(inputs[0]->sizes(), *inputs[1], p.dim);
        }>()
        .apart(in_front_of_dim<GatherParams>)
        .raising()
        .linear_in({0})
        .vjp("GatherBackward0",
             wrt(0, saves::shape(0) | saves::in(1), [](const Vjp& v, const GatherParams& p) {
               return gather_backward(v.grad(), v.sizes(0), p.dim, v.in(1));
             }));
const auto gather_entry =
    define(gather, "out[i][j] = self[index[i][j]][j] for dim 0, and so on for other dimensions.",
           [](const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
             if (sparse_grad) fail("gather: sparse gradients are not supported");
             return gather_p.with({wrap_axis(dim, self.sizes().size(), "gather")}, self,
                                  as_positions(index, "gather"));
           })
        .vjp("GatherBackward0", wrt(0, saves::shape(0) | saves::in(1),
                                    [](const Vjp& v, int64_t dim, bool) {
                                      return gather_backward(v.grad(), v.sizes(0), dim, v.in(1));
                                    }))
        .out()
        .samples([] {
          return Samples{{{sample({4, 3}), Scalar(0), sample_indices({2, 3}, 4)}},
                         {{sample({4, 3}), Scalar(-1), sample_indices({2, 5}, 3)}, "smaller"},
                         {{sample({}), Scalar(0), sample_indices({}, 1)}, "zero-dim"},
                         {{sample({4, 3}), Scalar(0), sample_indices({0}, 4)}, "empty"}};
        });

// ---- scatter

struct ScatterParams {
  Axis dim;
  kernels::Combine combine;
  Shape sizes{};  // of the result when there is no self: that is zeros
  bool operator==(const ScatterParams&) const = default;
};

void evaluate_scatter(Operands inputs, const ScatterParams& p, Tensor* out) {
  const Tensor &self = *inputs[0], &index = *inputs[1];
  if (self.defined()) {
    kernels::copy_elements(out[0], self);
  } else {
    kernels::zero_elements(out[0]);
  }
  if (index.numel() == 0) return;
  // The source may be larger than the index: only the part under the index counts.
  Tensor source = *inputs[2];
  if (index.dim() > 0 && source.dim() > 0) {
    source = alias(source, index.sizes(), source.strides(), source.impl()->offset);
  }
  kernels::scatter_lines(lines_of(out[0], index, p.dim, "scatter"), out[0],
                         kernels::as_contiguous(source), p.combine);
}

void require_scatter(Operands inputs, const ScatterParams& p) {
  const Tensor &self = *inputs[0], &index = *inputs[1], &source = *inputs[2];
  require_lines(self.defined() ? self.sizes() : p.sizes, index, p.dim);
  check_source(self.defined() ? self : source, index, source, "scatter");
}

// The gradient of a source that was larger than its index: zero where nothing was read.
Tensor enlarged(Tensor grad, const Dims& sizes) {
  if (grad.sizes() == sizes) return grad;
  if (grad.dim() == 0 || sizes.empty()) return reshape(grad, sizes);
  for (size_t i = 0; i < sizes.size(); i++) {
    Dims larger = grad.sizes();
    larger[i] = sizes[i];
    auto axis = static_cast<int64_t>(i);
    grad = slice_backward(grad, larger, axis, Dim(0), grad.sizes()[i], 1);
  }
  return grad;
}

// The rules of the primitive. The last of several values of the source for one place stays.
Tensor gradient_of_self(const Vjp& v, const ScatterParams& p) {
  if (p.combine == kernels::Combine::add) return v.grad();
  return scatter_value(v.grad(), p.dim, v.in(1), Scalar(0));
}
Tensor gradient_of_source(const Vjp& v, const ScatterParams& p) {
  Tensor index = v.in(1), part = gather(v.grad(), p.dim, index);
  if (p.combine == kernels::Combine::assign) {
    Tensor numbers = ops::numbered(index.sizes());
    Tensor last = scatter(zeros(v.grad().sizes(), kInt64), p.dim, index, numbers);
    part = where(gather(last, p.dim, index) == numbers, part, 0);
  }
  return enlarged(part, v.sizes(2));
}

const Registered scatter_p =
    plain_primitive<ScatterParams,
                    [](Operands inputs, const ScatterParams& p, Meta* out) {
                      out[0].sizes = inputs[0]->defined() ? inputs[0]->sizes() : p.sizes;
                      out[0].dtype = inputs[2]->dtype();
                      check_index(out[0].sizes, *inputs[1], p.dim, "scatter");
                    },
                    evaluate_scatter>("scatter", Kind::scatter, "ott")
        .requiring<require_scatter>()
        .apart(in_front_of_dim<ScatterParams>)
        .raising()
        .linear_in({0, 2})
        .linear_where<[](const ScatterParams& p) {
          return p.combine != kernels::Combine::multiply;
        }>()
        .vjp("ScatterBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const ScatterParams& p) { return gradient_of_self(v, p); }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, const ScatterParams& p) { return gradient_of_source(v, p); }));

Tensor scatter_with(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                    kernels::Combine combine, const char* who) {
  int64_t axis = wrap_axis(dim, self.sizes().size(), who);
  Tensor at = as_positions(index, who);
  Tensor source =
      src.impl()->wrapped_number ? expand(full({}, number_in(src), self.dtype()), at.sizes()) : src;
  check_source(self, at, source, who);
  return scatter_p.with({axis, combine}, self, at, source);
}

const auto gather_backward_entry =
    define(gather_backward, "The gradient of gather: zeros with grad added at the positions.",
           [](const Tensor& grad, const Dims& sizes, int64_t dim, const Tensor& index) {
             int64_t axis = wrap_axis(dim, sizes.size(), "gather_backward");
             ops::check_grad_sizes(grad, index.sizes(), "gather_backward");
             product(sizes);  // refuses negative sizes
             return scatter_p.with({axis, kernels::Combine::add, sizes}, Tensor(),
                                   as_positions(index, "gather_backward"), grad);
           })
        .shown(Shown::nowhere)
        .vjp("ScatterAddBackward0", wrt(0, saves::in(1),
                                        [](const Vjp& v, const Dims&, int64_t dim) {
                                          return gather(v.grad(), dim, v.in(1));
                                        }))
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{4, 3}, Scalar(0), sample_indices({2, 3}, 4)}}};
        });

Samples scatter_samples() {
  Tensor rows = tensor({{0, 2, 1}, {3, 0, 2}});
  return {{{sample({4, 3}), Scalar(0), rows, sample({2, 3})}},
          {{sample({4, 3}), Scalar(0), rows, sample({3, 4})}, "larger source"},
          {{sample({2, 4}), Scalar(1), rows, sample({2, 3})}, "columns"},
          {{sample({}), Scalar(0), tensor(0), sample({})}, "zero-dim"}};
}

const auto scatter_entry =
    define(scatter.overload<0>(), "Self with src written at positions along one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
             return scatter_with(self, dim, index, src, kernels::Combine::assign, "scatter");
           })
        .vjp("ScatterBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, int64_t dim) {
                   return scatter_value(v.grad(), dim, v.in(1), Scalar(0));
                 }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, int64_t dim) {
                   return enlarged(gather(v.grad(), dim, v.in(1)), v.sizes(2));
                 }))
        .inplace()
        .out()
        .samples(scatter_samples);
const auto scatter_value_entry =
    define(scatter_value.overload<0>(), "Self with a number written at positions.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
             Tensor number(ops::fitting(value, self.dtype(), "scatter"));
             return scatter_with(self, dim, index, number, kernels::Combine::assign, "scatter");
           })
        .vjp("ScatterBackward1", wrt(0, saves::in(1),
                                     [](const Vjp& v, int64_t dim, const Scalar&) {
                                       return scatter_value(v.grad(), dim, v.in(1), Scalar(0));
                                     }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({4, 3}), Scalar(0), sample_indices({2, 3}, 4), Scalar(1.5)}}};
        });
const auto scatter_add_entry =
    define(scatter_add, "Self with src added at positions along one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
             return scatter_with(self, dim, index, src, kernels::Combine::add, "scatter_add");
           })
        .vjp("ScatterAddBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, int64_t) { return v.grad(); }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, int64_t dim) {
                   return enlarged(gather(v.grad(), dim, v.in(1)), v.sizes(2));
                 }))
        .inplace()
        .out()
        .samples([] {
          Samples samples = scatter_samples();
          samples.push_back(
              {{sample({2, 3}), Scalar(0), tensor({{0, 0, 0}, {0, 0, 1}}), sample({2, 3})},
               "adds"});
          return samples;
        });

// ---- scatter with reduce: adding has a gradient, multiplying has none, as in PyTorch

const Registered scatter_multiply_p =
    plain_primitive<ScatterParams,
                    [](Operands inputs, const ScatterParams& p, Meta* out) {
                      out[0].sizes = inputs[0]->sizes();
                      out[0].dtype = inputs[2]->dtype();
                      check_index(out[0].sizes, *inputs[1], p.dim, "scatter");
                    },
                    evaluate_scatter>("scatter_multiply", Kind::scatter, "ttt")
        .requiring<require_scatter>()
        .raising()
        .linear_in({0})
        .vjp("NotImplemented", wrt_all({0, 2}, saves::nothing, [](const Vjp&) -> Tensors {
               fail(ErrorKind::not_implemented,
                    "scatter: the derivative for reduce='multiply' is not implemented");
             }));

Tensor scatter_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                       const std::string& reduce) {
  if (reduce == "add") return scatter_add(self, dim, index, src);
  if (reduce != "multiply") fail("scatter: reduce must be 'add' or 'multiply', got '{}'", reduce);
  int64_t axis = wrap_axis(dim, self.sizes().size(), "scatter");
  Tensor at = as_positions(index, "scatter");
  check_source(self, at, src, "scatter");
  return scatter_multiply_p.with({axis, kernels::Combine::multiply}, self, at, src);
}

const auto scatter_reduce_entry =
    define(scatter.overload<1>(), "Self with src added to, or multiplied into, positions.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
              const std::string& reduce) { return scatter_reduced(self, dim, index, src, reduce); })
        .inplace()
        .samples([] {
          Tensor rows = tensor({{0, 0, 1}});
          return Samples{
              {{sample({2, 3}), Scalar(0), rows, sample({1, 3}), std::string("add")}},
              {{sample({2, 3}), Scalar(0), rows, sample({1, 3}), std::string("multiply")},
               "no gradient",
               false,
               false}};
        });
const auto scatter_value_reduce_entry =
    define(scatter_value.overload<1>(),
           "Self with a number added to, or multiplied into, positions.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
              const std::string& reduce) {
             return scatter_reduced(self, dim, index, full(index.sizes(), value, self.dtype()),
                                    reduce);
           })
        .inplace()
        .samples([] {
          return Samples{
              {{sample({2, 3}), Scalar(0), tensor({{0, 0, 1}}), Scalar(2), std::string("add")}}};
        });

}  // namespace

Tensor Tensor::gather(int64_t dim, const Tensor& index) const {
  return fg::gather(*this, dim, index);
}
Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Tensor& source) const {
  source.check_defined("scatter");
  return source.impl()->wrapped_number ? fg::scatter_value(*this, dim, index, number_in(source))
                                       : fg::scatter(*this, dim, index, source);
}
Tensor Tensor::scatter_add(int64_t dim, const Tensor& index, const Tensor& source) const {
  return fg::scatter_add(*this, dim, index, source);
}
Tensor& Tensor::scatter_(int64_t dim, const Tensor& index, const Tensor& source) const {
  source.check_defined("scatter_");
  return source.impl()->wrapped_number ? fg::scatter_value_(*this, dim, index, number_in(source))
                                       : fg::scatter_(*this, dim, index, source);
}
Tensor& Tensor::scatter_add_(int64_t dim, const Tensor& index, const Tensor& source) const {
  return fg::scatter_add_(*this, dim, index, source);
}

}  // namespace fg
