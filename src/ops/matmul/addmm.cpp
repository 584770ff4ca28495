#include "base/fail.h"
#include "ir/define.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/elementwise.h"
#include "ops/kernels/strided.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/product.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::elementwise;
using ops::plain_primitive;
using ops::Types;

namespace {

struct Scales {
  Scalar beta, alpha;
  bool operator==(const Scales&) const = default;
};

// Only kernels, not parts of a graph: addmm is one primitive there.
const ir::Primitive<Scales> scaled_sum_p = elementwise<Types::numeric, 2, Scales>(
    "scaled_sum", [](auto product, auto self, const Scales& p) {
      return product * p.alpha.real() + self * p.beta.real();
    });
const ir::Primitive<Scales> scaled_p = elementwise<Types::numeric, 1, Scales>(
    "scaled", [](auto product, const Scales& p) { return product * p.alpha.real(); });

void infer_sum(Operands inputs, const Scales&, Meta* out) {
  out[0].dtype = inputs[1]->dtype();
  out[0].sizes = ops::product_sizes(*inputs[1], *inputs[2]);
  if (!can_broadcast(inputs[0]->sizes(), out[0].sizes)) {
    fail("addmm: self has sizes {}, which do not expand to the sizes {} of the product",
         text(inputs[0]->sizes()), text(out[0].sizes));
  }
}

// With a beta of 0 self is not read: its NaNs do not count.
void add_scaled(const Tensor& product, const Tensor& self, const Scales& p) {
  Tensor result = product;
  const Operand inputs[] = {product, self};
  if (p.beta.equal(0)) {
    if (!p.alpha.equal(1)) scaled_p.evaluate(Operands(inputs, 1), &p, &result);
  } else {
    scaled_sum_p.evaluate(Operands(inputs, 2), &p, &result);
  }
}

// A plain sum of matrices, as in a linear layer: self is added where the product is computed, with
// the same bits as later.
bool is_plain_sum(const Tensor& a, const Tensor& b, const Scales& p) {
  return (a.dtype() == kFloat32 || a.dtype() == kFloat64) && a.dim() == 2 && b.dim() == 2 &&
         p.alpha.equal(1) && p.beta.equal(1);
}

void evaluate_sum(Operands inputs, const Scales& p, Tensor* out) {
  const Tensor &self = *inputs[0], &a = *inputs[1], &b = *inputs[2];
  if (is_plain_sum(a, b, p)) return ops::multiply(a, b, out[0], &self);
  if (!is_half(out[0].dtype())) {
    ops::multiply(a, b, out[0]);
    return add_scaled(out[0], self, p);
  }
  auto wide = [](const Tensor& x) { return kernels::as_contiguous(x, kFloat32); };
  Tensor product = empty_tensor(out[0].sizes(), kFloat32);
  ops::multiply(wide(a), wide(b), product);
  add_scaled(product, wide(self), p);
  kernels::copy_elements(out[0], product);
}

Tensor scaled(const Tensor& x, const Scalar& factor) {
  return factor.equal(1) ? x : x * Tensor(factor);
}
Tensor transposed(const Tensor& batch) { return transpose(batch, 1, 2); }

// Gradients of the factors of a product of matrices, of a matrix and a vector, or of batches.
Tensor left_gradient(const Tensor& grad, const Tensor& right) {
  if (right.dim() == 1) return outer(grad, right);
  if (right.dim() == 2) return mm(grad, t(right));
  return right.dim() == 3 ? bmm(grad, transposed(right)) : matmul(grad, mT(right));
}
Tensor right_gradient(const Tensor& grad, const Tensor& left, bool kept_transposed) {
  if (grad.dim() == 1) return mv(t(left), grad);
  if (grad.dim() == 2) return ops::product_like(left, grad, kept_transposed);
  return grad.dim() == 3 ? bmm(transposed(left), grad) : matmul(mT(left), grad);
}

// Rules of the primitive, and of the functions that are this product but for their checks.
struct SumRules {
  struct Self {
    Tensor operator()(const Vjp& v, const Scalar& beta, const Scalar&) const {
      return scaled(v.grad(), beta);
    }
    Tensor operator()(const Vjp& v, const Scales& p) const { return scaled(v.grad(), p.beta); }
  };
  struct Left {
    Tensor operator()(const Vjp& v, const Scalar&, const Scalar& alpha) const {
      return scaled(left_gradient(v.grad(), v.in(2)), alpha);
    }
    Tensor operator()(const Vjp& v, const Scales& p) const { return (*this)(v, p.beta, p.alpha); }
  };
  struct Right {
    Tensor operator()(const Vjp& v, const Scalar&, const Scalar& alpha) const {
      return scaled(right_gradient(v.grad(), v.in(1), v.transposed(2)), alpha);
    }
    Tensor operator()(const Vjp& v, const Scales& p) const { return (*this)(v, p.beta, p.alpha); }
  };
};
constexpr auto of_self = wrt(0, saves::nothing, SumRules::Self{});
constexpr auto of_left = wrt(1, saves::in(2), SumRules::Left{});
constexpr auto of_right = wrt(2, saves::in(1) | saves::shape(2), SumRules::Right{});

const Registered addmm_p =
    plain_primitive<Scales, infer_sum, evaluate_sum>("addmm", Kind::contract, "ttt")
        .requiring<[](Operands inputs, const Scales&) {
          ops::require_product(*inputs[1], *inputs[2]);
          ops::check_dtypes("addmm", *inputs[0], *inputs[1]);
        }>()
        .linear_in({0, 1})
        .vjp("AddmmBackward0", of_self, of_left, of_right);

void check_self(const char* who, const Tensor& self, const Tensor& product) {
  if (self.dtype() != product.dtype()) {
    fail("{}: expected all operands of the same dtype, got {} and {}; convert one with to()", who,
         name(self.dtype()), name(product.dtype()));
  }
}

const auto addmm_entry =
    define(addmm, "beta * self + alpha * (mat1 @ mat2).",
           [](const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
              const Scalar& alpha) {
             ops::check_product("addmm", mat1, 2, mat2, 2);
             check_self("addmm", self, mat1);
             return addmm_p.with({beta, alpha}, self, mat1, mat2);
           })
        .vjp("AddmmBackward0", of_self, of_left, of_right)
        .inplace()
        .out()
        .samples([] {
          return Samples{
              {{sample({4}), sample({2, 3}), sample({3, 4})}, "broadcast"},
              {{sample({2, 2}), sample({2, 3}), sample({3, 2}), Scalar(0.5), Scalar(-2)}, "scaled"},
              {{sample({2, 2}), sample({2, 3}), sample({3, 2}), Scalar(0), Scalar(1)},
               "self is not read"}};
        });

const auto addmv_entry =
    define(addmv, "beta * self + alpha * (mat @ vec).",
           [](const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
              const Scalar& alpha) {
             ops::check_product("addmv", mat, 2, vec, 1);
             check_self("addmv", self, mat);
             return addmm_p.with({beta, alpha}, self, mat, vec);
           })
        .inplace_as_function()
        .vjp("AddmvBackward0", of_self, of_left, of_right)
        .inplace()
        .out()
        .samples([] {
          return Samples{
              {{sample({2}), sample({2, 3}), sample({3})}},
              {{sample({1}), sample({2, 3}), sample({3}), Scalar(2), Scalar(3)}, "broadcast"}};
        });

const auto baddbmm_entry =
    define(baddbmm, "beta * self + alpha * (batch1 @ batch2).",
           [](const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
             ops::check_batches("baddbmm", batch1, batch2);
             check_self("baddbmm", self, batch1);
             return addmm_p.with({beta, alpha}, self, batch1, batch2);
           })
        .vjp("BaddbmmBackward0", of_self, of_left, of_right)
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 2, 2}), sample({2, 2, 3}), sample({2, 3, 2})}},
                         {{sample({2}), sample({2, 2, 3}), sample({2, 3, 2}), Scalar(2), Scalar(3)},
                          "broadcast"}};
        });

// The sum over the batch is a part of the inner sum.
Tensor multiply_and_sum(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                        const Scales& p) {
  Dims a = batch1.sizes(), b = batch2.sizes();
  Tensor left = reshape(permute(batch1, {1, 0, 2}), {a[1], a[0] * a[2]});
  return addmm_p.with(p, self, left, reshape(batch2, {b[0] * b[1], b[2]}));
}

const auto addbmm_entry =
    define(addbmm, "beta * self + alpha * (the sum of batch1 @ batch2 over the batch).",
           [](const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
             ops::check_batches("addbmm", batch1, batch2);
             check_self("addbmm", self, batch1);
             return multiply_and_sum(self, batch1, batch2, {beta, alpha});
           })
        .vjp("AddbmmBackward0", of_self,
             wrt(1, saves::in(2),
                 [](const Vjp& v, const Scalar&, const Scalar& alpha) {
                   return scaled(matmul(v.grad(), transposed(v.in(2))), alpha);
                 }),
             wrt(2, saves::in(1),
                 [](const Vjp& v, const Scalar&, const Scalar& alpha) {
                   return scaled(matmul(transposed(v.in(1)), v.grad()), alpha);
                 }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 2}), sample({2, 2, 3}), sample({2, 3, 2})}},
                         {{sample({2}), sample({2, 2, 3}), sample({2, 3, 2}), Scalar(2), Scalar(3)},
                          "broadcast"}};
        });

}  // namespace

Tensor Tensor::addmm(const Tensor& a, const Tensor& b, const Scalar& beta,
                     const Scalar& alpha) const {
  return fg::addmm(*this, a, b, beta, alpha);
}
Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta,
                       const Scalar& alpha) const {
  return fg::baddbmm(*this, a, b, beta, alpha);
}

}  // namespace fg
