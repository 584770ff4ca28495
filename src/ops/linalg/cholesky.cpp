// Cholesky factors of symmetric positive-definite matrices, and solutions from them.
#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/linalg_kernel.h"
#include "ops/linalg/matrices.h"
#include "ops/matmul/matmul.h"
#include "ops/rearrange/rearrange.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace ops {

void check_real(const char* who, const Tensor& self) {
  if (self.dtype() == kFloat32 || self.dtype() == kFloat64) return;
  if (!self.is_floating_point()) {
    fail("{}: Expected a floating point tensor as input. Got {}", who, name(self.dtype()));
  }
  fail(ErrorKind::not_implemented, "{}: {} is not supported; convert it to float32", who,
       name(self.dtype()));
}
void check_square(const char* who, const Tensor& self, const char* argument) {
  if (self.dim() < 2) {
    fail("{}: The input tensor {} must have at least 2 dimensions; got sizes {}.", who, argument,
         text(self.sizes()));
  }
  Dim rows = self.dim_size(-2), columns = self.dim_size(-1);
  if (rows != columns) {
    fail("{}: {} must be batches of square matrices, but they are {} by {} matrices", who, argument,
         rows.text(), columns.text());
  }
  check_real(who, self);
}
Dims batch_of(const Tensor& matrices) {
  const Dims& sizes = matrices.sizes();
  return Dims(std::span(sizes.begin(), sizes.size() - 2));
}
Dims with_matrix(const Dims& batch, const Tensor& matrices) {
  Dims sizes = batch;
  sizes.push_back(matrices.dim_size(-2));
  sizes.push_back(matrices.dim_size(-1));
  return sizes;
}
Tensor triangle(const Tensor& grad, bool upper, bool strict) {
  return upper ? triu(grad, strict ? 1 : 0) : tril(grad, strict ? -1 : 0);
}

}  // namespace ops

namespace {

// ---- the factor

// With P = L^T G and S its lower triangle made symmetric, over two: L^-T S L^-1.
Tensor factor_gradient(const Tensor& lower, const Tensor& grad) {
  Tensor p = tril(matmul(mT(lower), grad));
  Tensor symmetric = (p + mT(tril(p, -1))) * 0.5;
  Tensor left = linalg_solve_triangular(mT(lower), symmetric, true);
  return linalg_solve_triangular(lower, left, false, false);
}
void require_square(Operands inputs, const ir::NoParams&) {
  ops::check_square("cholesky", *inputs[0], "A");
}
struct Factored {
  Tensor factor, info;
};
Factored factored(const Tensor& self) {
  Tensor from = kernels::as_contiguous(self);
  Factored result{empty_tensor(self.sizes(), self.dtype()),
                  empty_tensor(ops::batch_of(self), kInt32)};
  kernels::factor_cholesky(from, result.factor, result.info);
  return result;
}
void refuse_indefinite(const char* who, const Tensor& info) {
  const auto* order = info.data_ptr<int32_t>();
  for (int64_t i = 0; i < info.numel(); i++) {
    if (order[i] == 0) continue;
    std::string place = info.dim() > 0 ? fmt::format("(Batch element {}): ", i) : "";
    fail(ErrorKind::linalg,
         "{}: {}The factorization could not be completed because the input is not "
         "positive-definite (the leading minor of order {} is not positive-definite).",
         who, place, order[i]);
  }
}

const Registered cholesky_p =
    ops::plain_primitive<ir::NoParams,
                         [](Operands inputs, const ir::NoParams&, Meta* out) {
                           out[0] = {inputs[0]->sizes(), inputs[0]->dtype()};
                         },
                         [](Operands inputs, const ir::NoParams&, Tensor* out) {
                           Factored result = factored(*inputs[0]);
                           refuse_indefinite("linalg.cholesky", result.info);
                           kernels::copy_elements(out[0], result.factor);
                         }>("cholesky", Kind::extern_call, "t")
        .requiring<require_square>()
        .raising()
        .apart([](const void*, size_t rank) { return rank - 2; })
        .vjp("LinalgCholeskyExBackward0",
             wrt(0, saves::out(), [](const Vjp& v) { return factor_gradient(v.out(), v.grad()); }));
const Registered cholesky_ex_p =
    ops::plain_primitive<ir::NoParams,
                         [](Operands inputs, const ir::NoParams&, Meta* out) {
                           out[0] = {inputs[0]->sizes(), inputs[0]->dtype()};
                           out[1] = {ops::batch_of(*inputs[0]), kInt32};
                         },
                         [](Operands inputs, const ir::NoParams&, Tensor* out) {
                           Factored result = factored(*inputs[0]);
                           kernels::copy_elements(out[0], result.factor);
                           kernels::copy_elements(out[1], result.info);
                         }>("cholesky_ex", Kind::extern_call, "t", 2)
        .requiring<require_square>()
        .apart([](const void*, size_t rank) { return rank - 2; })
        .vjp("LinalgCholeskyExBackward0",
             wrt(0, saves::out(), [](const Vjp& v) { return factor_gradient(v.out(), v.grad()); }));

// The lower triangle is read, or the upper one where that factor is asked for.
Tensor as_lower(const Tensor& self, bool upper) { return upper ? mT(self) : self; }

Tensor made_definite(const Dims& sizes) {
  Tensor a = sample(sizes);
  Dim n = sizes.back();
  return matmul(a, mT(a)) + eye(n, kFloat64) * 2;
}
Samples definite_matrices() {
  return {{{made_definite({3, 3})}, "", false},
          {{made_definite({2, 4, 4})}, "batch", false},
          {{made_definite({3, 3}), Scalar(true)}, "upper", false},
          {{zeros({0, 3, 3}, kFloat64)}, "empty", false}};
}

const auto linalg_cholesky_entry =
    define(linalg_cholesky, "The lower triangular L with L L^T = self, or the upper U, U^T U.",
           [](const Tensor& self, bool upper) {
             ops::check_square("linalg.cholesky", self, "A");
             return as_lower(cholesky_p(as_lower(self, upper)), upper);
           })
        .also_named({"linalg.cholesky"})
        .shown(Shown::nowhere)
        .out()
        .samples(definite_matrices);
const auto linalg_cholesky_ex_entry =
    define(linalg_cholesky_ex,
           "As linalg.cholesky, with the order of the first minor that is not positive, or 0.",
           [](const Tensor& self, bool upper, bool check_errors) {
             ops::check_square("linalg.cholesky_ex", self, "A");
             Tensor lower = as_lower(self, upper);
             auto [factor, info] = cholesky_ex_p.all<2>({}, lower);
             if (check_errors) factor = cholesky_p(lower);
             return std::tuple<Tensor, Tensor>(as_lower(factor, upper), info);
           })
        .also_named({"linalg.cholesky_ex"})
        .shown(Shown::nowhere)
        .samples(definite_matrices);
const auto cholesky_entry = define(cholesky, "As linalg.cholesky, which is the name to use.",
                                   [](const Tensor& self, bool upper) {
                                     ops::check_square("cholesky", self, "A");
                                     return as_lower(cholesky_p(as_lower(self, upper)), upper);
                                   })
                                .out()
                                .samples(definite_matrices);

// ---- systems whose matrix is L L^T

Tensor solved(const Tensor& b, const Tensor& factor, bool upper) {
  if (upper) {
    Tensor middle = linalg_solve_triangular(mT(factor), b, false);
    return linalg_solve_triangular(factor, middle, true);
  }
  Tensor middle = linalg_solve_triangular(factor, b, false);
  return linalg_solve_triangular(mT(factor), middle, true);
}
// The gradient by the factor of A = L L^T (or U^T U), from -(dX) X^T made symmetric.
Tensor by_factor(const Tensor& factor, const Tensor& change, bool upper) {
  Tensor both = change + mT(change), part = ops::triangle(factor, upper);
  return -ops::triangle(upper ? matmul(part, both) : matmul(both, part), upper);
}
void check_solve(const Tensor& self, const Tensor& factor) {
  if (self.dim() < 2 || factor.dim() < 2) {
    fail("cholesky_solve: b and u should have at least 2 dimensions, but have {} and {}",
         self.dim(), factor.dim());
  }
  ops::check_square("cholesky_solve", factor, "A");
  if (self.dtype() != factor.dtype()) {
    fail("cholesky_solve: b has dtype {} and A {}; expected the same", name(self.dtype()),
         name(factor.dtype()));
  }
  if (self.dim_size(-2) != factor.dim_size(-1)) {
    fail(
        "Incompatible matrix sizes for cholesky_solve: each A matrix is {} by {} but each b matrix "
        "is {} by {}",
        factor.dim_size(-1).text(), factor.dim_size(-1).text(), self.dim_size(-2).text(),
        self.dim_size(-1).text());
  }
}

const auto cholesky_solve_entry =
    define(cholesky_solve, "The X with A X = self, where input2 is the Cholesky factor of A.",
           [](const Tensor& self, const Tensor& input2, bool upper) {
             check_solve(self, input2);
             return solved(self, input2, upper);
           })
        .vjp("CholeskySolveBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, bool upper) { return solved(v.grad(), v.in(1), upper); }),
             wrt(1, saves::in(1) | saves::out(),
                 [](const Vjp& v, bool upper) {
                   Tensor factor = v.in(1), of_b = solved(v.grad(), factor, upper);
                   return by_factor(factor, matmul(of_b, mT(v.out())), upper);
                 }))
        .out()
        .samples([] {
          Tensor lower = tril(sample({3, 3}, 0.5, 2));
          return Samples{{{sample({3, 2}), lower}},
                         {{sample({3, 2}), mT(lower), Scalar(true)}, "upper"},
                         {{sample({2, 3, 1}), lower}, "broadcast"}};
        });
Tensor identity_like(const Tensor& self) {
  return expand(eye(self.dim_size(-1), self.dtype()), self.sizes());
}
const auto cholesky_inverse_entry =
    define(cholesky_inverse, "The inverse of A, where self is the Cholesky factor of A.",
           [](const Tensor& self, bool upper) {
             ops::check_square("cholesky_inverse", self, "A");
             return solved(identity_like(self), self, upper);
           })
        .vjp("CholeskyInverseBackward0", wrt(0, saves::in(0) | saves::out(),
                                             [](const Vjp& v, bool upper) {
                                               Tensor change =
                                                   matmul(v.out(), matmul(v.grad(), v.out()));
                                               return by_factor(v.in(0), change, upper);
                                             }))
        .out()
        .samples([] {
          Tensor lower = tril(sample({3, 3}, 0.5, 2));
          return Samples{{{lower}}, {{mT(lower), Scalar(true)}, "upper"}};
        });

}  // namespace
}  // namespace fg
