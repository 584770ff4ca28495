#include "ops/matmul/matmul.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ir/record.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/product.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

void require_factors(Operands inputs, const NoParams&) {
  ops::require_product(*inputs[0], *inputs[1]);
}

template <auto rule>
Primitive<NoParams> product_primitive(const char* name) {
  auto primitive =
      plain_primitive<NoParams, rule, [](Operands inputs, const NoParams&, Tensor* out) {
        ops::multiply(*inputs[0], *inputs[1], out[0]);
      }>(name, Kind::contract, "tt");
  return std::move(primitive).template requiring<require_factors>().linear_in({0}, {1});
}

void infer_mm(Operands inputs, const NoParams&, Meta* out) {
  const Tensor &a = *inputs[0], &b = *inputs[1];
  ops::check_product("mm", a, 2, b, 2);
  out[0].dtype = a.dtype();
  out[0].sizes = {a.sizes()[0], b.sizes()[1]};
}
void infer_checked(Operands inputs, const NoParams&, Meta* out) {
  out[0].dtype = inputs[0]->dtype();
  out[0].sizes = ops::product_sizes(*inputs[0], *inputs[1]);
}

const Registered mm_p = product_primitive<infer_mm>("mm").vjp(
    "MmBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return mm(v.grad(), t(v.in(1))); }),
    wrt(1, saves::in(0) | saves::shape(1),
        [](const Vjp& v) { return ops::product_like(v.in(0), v.grad(), v.transposed(1)); }));

const auto mm_entry = define_as<mm_p>(mm, "The product of two matrices.").out().samples([] {
  return Samples{{{sample({2, 3}), sample({3, 4})}},
                 {{t(sample({3, 2})), t(sample({4, 3}))}, "transposed"},
                 {{sample({2, 0}), sample({0, 3})}, "nothing to sum"},
                 {{sample({0, 2}), sample({2, 3})}, "empty"}};
});

// Any number of batch dimensions, so that what has strides that do not merge needs no copy.
Tensor multiply_batches(const Tensor& a, const Tensor& b);
const Registered bmm_p = product_primitive<infer_checked>("bmm").vjp(
    "BmmBackward0",
    wrt(0, saves::in(1),
        [](const Vjp& v) { return multiply_batches(v.grad(), transpose(v.in(1), -2, -1)); }),
    wrt(1, saves::in(0),
        [](const Vjp& v) { return multiply_batches(transpose(v.in(0), -2, -1), v.grad()); }));
Tensor multiply_batches(const Tensor& a, const Tensor& b) { return bmm_p(a, b); }

const auto bmm_entry = define(bmm, "The products of the matrices of two batches.",
                              [](const Tensor& self, const Tensor& mat2) {
                                ops::check_batches("bmm", self, mat2);
                                return bmm_p(self, mat2);
                              })
                           .out()
                           .samples([] {
                             return Samples{{{sample({2, 2, 3}), sample({2, 3, 2})}},
                                            {{sample({2, 2, 0}), sample({2, 0, 2})}, "no sum"}};
                           });

// ---- vectors

const Registered mv_p = product_primitive<infer_checked>("mv").vjp(
    "MvBackward0",
    wrt(0, saves::in(1),
        [](const Vjp& v) { return unsqueeze(v.grad(), 1) * unsqueeze(v.in(1), 0); }),
    wrt(1, saves::in(0), [](const Vjp& v) { return mv(t(v.in(0)), v.grad()); }));
const auto mv_entry = define(mv, "The product of a matrix and a vector.",
                             [](const Tensor& self, const Tensor& vec) {
                               ops::check_product("mv", self, 2, vec, 1);
                               return mv_p(self, vec);
                             })
                          .out()
                          .samples([] { return Samples{{{sample({2, 3}), sample({3})}}}; });

// f16 and bf16 are summed in f32 and rounded once.
Tensor inner_product(const char* who, const Tensor& a, const Tensor& b) {
  ops::check_ranks(who, a, 1, b, 1);
  ops::check_dtypes(who, a, b);
  if (!(a.sizes() == b.sizes())) {
    fail("{}: expected vectors of equal sizes, got {} and {}", who, text(a.sizes()),
         text(b.sizes()));
  }
  DType dtype = a.dtype(), wide = is_half(dtype) ? kFloat32 : dtype;
  return to(sum(to(a, wide) * to(b, wide), std::nullopt, false, wide), dtype);
}

Samples vector_pairs() {
  return {{{sample({3}), sample({3})}}, {{sample({0}), sample({0})}, "empty"}};
}

const auto dot_entry =
    define(
        dot, "The inner product of two vectors.",
        [](const Tensor& self, const Tensor& tensor) { return inner_product("dot", self, tensor); })
        .vjp("DotBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
             wrt(1, saves::in(0), [](const Vjp& v) { return v.grad() * v.in(0); }))
        .out()
        .samples(vector_pairs);
const auto vdot_entry =
    define(
        vdot, "The inner product of two vectors; as dot, since there are no complex numbers.",
        [](const Tensor& self, const Tensor& other) { return inner_product("vdot", self, other); })
        .vjp("VdotBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
             wrt(1, saves::in(0), [](const Vjp& v) { return v.grad() * v.in(0); }))
        .out()
        .samples(vector_pairs);

const auto outer_entry = define(outer, "The outer product of two vectors.",
                                [](const Tensor& self, const Tensor& vec2) {
                                  ops::check_ranks("outer", self, 1, vec2, 1);
                                  return mul(reshape(self, {self.sizes()[0], 1}), vec2);
                                })
                             .also_named({"ger"})
                             .out()
                             .samples([] { return Samples{{{sample({2}), sample({3})}}}; });

// ---- all ranks

// Whether the dimensions [0, count) and the one after them can be walked as one.
bool merges(const Tensor& x, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (!(x.strides()[i] == x.strides()[i + 1] * x.sizes()[i + 1])) return false;
  }
  return true;
}

// A batch times one matrix or vector is one product with the batch as more rows. That saves the
// gradient of the matrix from being made once for each member first, which is worth a copy.
bool should_fold(const Tensor& a, const Tensor& b) {
  bool a_is_batch = a.dim() >= b.dim();
  const Tensor &batch = a_is_batch ? a : b, &other = a_is_batch ? b : a;
  if (batch.dim() < 3 || other.dim() > 2) return false;
  if (other.requires_grad()) return true;
  if (a.dim() == 2) return false;
  return merges(a_is_batch ? a : transpose(b, -2, -1), batch.dim() - 2);
}

Tensor multiply_folded(const Tensor& a, const Tensor& b) {
  bool swapped = b.dim() > a.dim();
  Tensor batch = swapped ? transpose(b, -2, -1) : a;
  Tensor other = !swapped ? b : a.dim() == 2 ? t(a) : a;
  Dims sizes = batch.sizes();
  Dim inner = sizes.back();
  sizes.pop_back();
  Tensor rows = reshape(batch, {product(sizes), inner});
  if (other.dim() == 1) return _unsafe_view(mv(rows, other), sizes);
  sizes.push_back(other.sizes()[1]);
  Tensor result = _unsafe_view(mm(rows, other), sizes);
  return swapped ? contiguous(transpose(result, -2, -1)) : result;
}

Dims batch_of(const Tensor& x) {
  return x.dim() > 2 ? Dims(std::span(x.sizes().data(), x.sizes().size() - 2)) : Dims();
}

// x as one batch of matrices; as it is where that would take a copy.
Tensor expand_batch(const Tensor& x, const Dims& batch) {
  Dims sizes = batch;
  for (Dim size : {x.sizes()[x.dim() - 2], x.sizes()[x.dim() - 1]}) sizes.push_back(size);
  return expand(x, sizes);
}

Tensor multiply_broadcast(const Tensor& a, const Tensor& b) {
  Dims batch = broadcast(batch_of(a), batch_of(b), "matmul");
  Tensor left = expand_batch(a.dim() == 1 ? unsqueeze(a, 0) : a, batch);
  Tensor right = expand_batch(b.dim() == 1 ? unsqueeze(b, 1) : b, batch);
  Dims sizes = batch;
  if (a.dim() > 1) sizes.push_back(a.sizes()[a.dim() - 2]);
  if (b.dim() > 1) sizes.push_back(b.sizes().back());
  int64_t merged = static_cast<int64_t>(batch.size()) - 1;
  if (merges(left, merged) && merges(right, merged)) {
    auto flat = [&](const Tensor& x) {
      return view(x, {product(batch), x.sizes()[merged + 1], x.sizes()[merged + 2]});
    };
    left = flat(left);
    right = flat(right);
  }
  return _unsafe_view(bmm_p(left, right), sizes);
}

Tensor multiply_any(const Tensor& a, const Tensor& b) {
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b);
  if (a.dim() == 2 && b.dim() == 1) return mv(a, b);
  if (a.dim() == 1 && b.dim() == 2) {
    Tensor row = squeeze(mm(unsqueeze(a, 0), b), 0);
    autograd::forget_view(row);
    return row;
  }
  if (should_fold(a, b)) return multiply_folded(a, b);
  if (a.dim() == 3 && b.dim() == 3 && !(a.sizes()[0] == b.sizes()[0])) {
    if (a.sizes()[0] == 1 && a.requires_grad()) return multiply_folded(squeeze(a, 0), b);
    if (b.sizes()[0] == 1 && b.requires_grad()) return multiply_folded(a, squeeze(b, 0));
  }
  return multiply_broadcast(a, b);
}

const auto matmul_entry =
    define(matmul, "The product of vectors, matrices or broadcast batches of matrices.",
           [](const Tensor& self, const Tensor& other) {
             if (self.dim() == 2 && other.dim() == 2) return mm(self, other);
             if (self.dim() == 0 || other.dim() == 0) {
               fail(
                   "matmul: expected at least one dimension each, got {} x {}; use mul for numbers",
                   text(self.sizes()), text(other.sizes()));
             }
             ops::check_dtypes("matmul", self, other);
             ops::check_inner("matmul", self, other);
             return multiply_any(self, other);
           })
        .out()
        .samples([] {
          return Samples{{{sample({3}), sample({3})}, "1 x 1"},
                         {{sample({2, 3}), sample({3})}, "2 x 1"},
                         {{sample({3}), sample({3, 2})}, "1 x 2"},
                         {{sample({2, 3}), sample({3, 2})}, "2 x 2"},
                         {{sample({2, 2, 3}), sample({3})}, "3 x 1"},
                         {{sample({3}), sample({2, 3, 2})}, "1 x 3"},
                         {{sample({2, 2, 3}), sample({3, 2})}, "3 x 2"},
                         {{sample({2, 3}), sample({2, 3, 2})}, "2 x 3"},
                         {{sample({2, 2, 3}), sample({1, 3, 2})}, "one shared matrix"},
                         {{sample({2, 1, 2, 3}), sample({2, 3, 1})}, "broadcast"},
                         {{transpose(sample({2, 2, 2, 3}), 1, 2), sample({2, 2, 3, 1})},
                          "batches that do not merge"}};
        });

const auto linear_entry =
    define(linear, "input @ weight.t() + bias.",
           [](const Tensor& input, const Tensor& weight, const Tensor& bias) {
             if (input.dim() == 0 || weight.dim() == 0 || weight.dim() > 2 ||
                 !(input.sizes().back() == weight.sizes().back())) {
               fail(
                   "linear: got an input of sizes {} and a weight of sizes {}; the last sizes must "
                   "be equal, and the weight a matrix",
                   text(input.sizes()), text(weight.sizes()));
             }
             if (!bias.defined()) return matmul(input, t(weight));
             if (weight.dim() == 1 && input.dim() != 2) return matmul(input, weight) + bias;
             if (input.dim() == 2) return addmm(bias, input, t(weight));
             if (!input.is_contiguous()) return matmul(input, t(weight)) + bias;
             Dims sizes = input.sizes();
             sizes.pop_back();
             Tensor rows = view(input, {product(sizes), input.sizes().back()});
             sizes.push_back(weight.sizes()[0]);
             return view(addmm(bias, rows, t(weight)), sizes);
           })
        .samples([] {
          return Samples{{{sample({2, 3}), sample({2, 3}), sample({2})}},
                         {{sample({2, 3}), sample({2, 3})}, "no bias"},
                         {{sample({3}), sample({2, 3}), sample({2})}, "vector"},
                         {{sample({2, 2, 3}), sample({2, 3}), sample({2})}, "batch"}};
        });

}  // namespace

Tensor Tensor::mm(const Tensor& other) const { return fg::mm(*this, other); }
Tensor Tensor::bmm(const Tensor& other) const { return fg::bmm(*this, other); }
Tensor Tensor::matmul(const Tensor& other) const { return fg::matmul(*this, other); }
Tensor Tensor::mv(const Tensor& vector) const { return fg::mv(*this, vector); }
Tensor Tensor::dot(const Tensor& other) const { return fg::dot(*this, other); }
Tensor Tensor::outer(const Tensor& other) const { return fg::outer(*this, other); }

Tensor ops::product_like(const Tensor& a, const Tensor& b, bool transposed) {
  return transposed ? t(mm(t(b), a)) : mm(t(a), b);
}

}  // namespace fg
