// Eigenvalues and eigenvectors of symmetric matrices.
#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
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

namespace {

// V (diag(gl) + (V^T gV) / (l_j - l_i)) V^T, the quotient without its diagonal.
Tensor of_matrix(const Vjp& v) {
  Tensor values = v.out(0), vectors = v.out(1), inner;
  if (v.grad(0).defined()) inner = diag_embed(v.grad(0));
  if (v.grad(1).defined()) {
    Tensor gaps = unsqueeze(values, -2) - unsqueeze(values, -1);
    Tensor diagonal = eye(values.dim_size(-1), kBool);
    Tensor turned = matmul(mT(vectors), v.grad(1)) / where(diagonal, 1.0, gaps);
    Tensor part = where(diagonal, 0.0, turned);
    inner = inner.defined() ? inner + part : part;
  }
  return matmul(vectors, matmul(inner, mT(vectors)));
}
void require_square(Operands inputs, const ir::NoParams&) {
  ops::check_square("eigh", *inputs[0], "A");
}
const Registered eigh_p =
    ops::plain_primitive<ir::NoParams,
                         [](Operands inputs, const ir::NoParams&, Meta* out) {
                           Dims sizes = inputs[0]->sizes();
                           out[1] = {sizes, inputs[0]->dtype()};
                           sizes.pop_back();
                           out[0] = {sizes, inputs[0]->dtype()};
                         },
                         [](Operands inputs, const ir::NoParams&, Tensor* out) {
                           Tensor from = kernels::as_contiguous(*inputs[0]);
                           kernels::decompose_symmetric(from, out[0], out[1]);
                         }>("eigh", Kind::extern_call, "t", 2)
        .requiring<require_square>()
        .apart([](const void*, size_t rank) { return rank - 2; })
        .vjp("LinalgEighBackward0",
             wrt(0, saves::out(0) | saves::out(1), [](const Vjp& v) { return of_matrix(v); }));

Tensor read_triangle(const char* who, const Tensor& self, const std::string& side) {
  ops::check_square(who, self, "A");
  if (side == "L" || side == "l") return self;
  if (side == "U" || side == "u") return mT(self);
  fail("{}: Expected UPLO argument to be 'L' or 'U', but got {}", who, side);
}
Samples symmetric_matrices() {
  Tensor a = sample({3, 3});
  return {{{a + mT(a)}, "", false},
          {{matmul(sample({2, 3, 3}), a), std::string("U")}, "upper", false}};
}
const auto eigh_entry =
    define(linalg_eigh, "Eigenvalues, ascending, and eigenvectors of symmetric matrices.",
           [](const Tensor& self, const std::string& side) {
             auto [values, vectors] = eigh_p.all<2>({}, read_triangle("linalg.eigh", self, side));
             return std::tuple<Tensor, Tensor>(values, vectors);
           })
        .also_named({"linalg.eigh"})
        .shown(Shown::nowhere)
        .samples(symmetric_matrices);
const auto eigvalsh_entry =
    define(linalg_eigvalsh, "Eigenvalues of symmetric matrices, ascending.",
           [](const Tensor& self, const std::string& side) {
             return eigh_p.all<2>({}, read_triangle("linalg.eigvalsh", self, side))[0];
           })
        .also_named({"linalg.eigvalsh"})
        .shown(Shown::nowhere)
        .out()
        .samples(symmetric_matrices);

}  // namespace
}  // namespace fg
