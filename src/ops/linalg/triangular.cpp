// Triangular systems.
#include "base/fail.h"
#include "ops/copy/copy.h"
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

namespace {

struct TriangleParams {
  bool upper, unitriangular;
  bool operator==(const TriangleParams&) const = default;
};
void require_system(Operands inputs, const TriangleParams&) {
  const Tensor &a = *inputs[0], &b = *inputs[1];
  ops::check_square("solve_triangular", a, "A");
  bool fits = a.dim() == b.dim() && a.dtype() == b.dtype() && b.dim_size(-2) == a.dim_size(-1);
  ops::demand(fits && ops::batch_of(a) == ops::batch_of(b), "solve_triangular",
              "matrices and right sides that fit");
}
// A X = B for batches of equal sizes.
const Registered solve_p =
    ops::plain_primitive<TriangleParams,
                         [](Operands inputs, const TriangleParams&, Meta* out) {
                           out[0] = {inputs[1]->sizes(), inputs[1]->dtype()};
                         },
                         [](Operands inputs, const TriangleParams& p, Tensor* out) {
                           kernels::copy_elements(out[0], *inputs[1]);
                           Tensor a = kernels::as_contiguous(*inputs[0]);
                           kernels::solve_triangular(a, out[0], p.upper, p.unitriangular);
                         }>("solve_triangular", Kind::extern_call, "tt")
        .requiring<require_system>()
        .linear_in({1})
        .apart([](const void*, size_t rank) { return rank - 2; })
        .vjp("LinalgSolveTriangularBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v, const TriangleParams& p) {
                   Tensor of_b = linalg_solve_triangular(mT(v.in(0)), v.grad(), !p.upper, true,
                                                         p.unitriangular);
                   return -ops::triangle(matmul(of_b, mT(v.out())), p.upper, p.unitriangular);
                 }),
             wrt(1, saves::in(0), [](const Vjp& v, const TriangleParams& p) {
               return linalg_solve_triangular(mT(v.in(0)), v.grad(), !p.upper, true,
                                              p.unitriangular);
             }));

void check_system(const Tensor& a, const Tensor& b, bool left) {
  constexpr const char* kWho = "linalg.solve_triangular";
  ops::check_square(kWho, a, "A");
  if (b.dim() < 2) fail("{}: The input tensor B must have at least 2 dimensions.", kWho);
  if (a.dtype() != b.dtype()) {
    fail(
        "{}: Expected A and B to have the same dtype, but found A of type {} and B of type {} "
        "instead",
        kWho, name(a.dtype()), name(b.dtype()));
  }
  if (b.dim_size(left ? -2 : -1) != a.dim_size(-1)) {
    fail("{}: Incompatible shapes of A and B for the equation {} ({}x{} and {}x{})", kWho,
         left ? "AX = B" : "XA = B", a.dim_size(-2).text(), a.dim_size(-1).text(),
         b.dim_size(-2).text(), b.dim_size(-1).text());
  }
}
Tensor solved(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit) {
  if (!left) return mT(solved(mT(a), mT(b), !upper, true, unit));
  Dims batch = broadcast(ops::batch_of(a), ops::batch_of(b), "linalg.solve_triangular");
  Tensor matrices = expand(a, ops::with_matrix(batch, a));
  return solve_p.with({upper, unit}, matrices, expand(b, ops::with_matrix(batch, b)));
}

const auto solve_triangular_entry =
    define(linalg_solve_triangular,
           "The X with self X = B, or X self = B, of which one triangle of self is read.",
           [](const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
             check_system(self, b, left);
             return solved(self, b, upper, left, unitriangular);
           })
        .also_named({"linalg.solve_triangular"})
        .shown(Shown::nowhere)
        .out()
        .samples([] {
          Tensor a = sample({3, 3}, 0.5, 2);
          return Samples{
              {{a, sample({3, 2}), Scalar(true)}},
              {{a, sample({2, 3, 2}), Scalar(false)}, "lower, broadcast"},
              {{a, sample({2, 3}), Scalar(false), Scalar(false)}, "from the right"},
              {{a, sample({3, 2}), Scalar(true), Scalar(true), Scalar(true)}, "unitriangular"}};
        });
const auto triangular_solve_entry =
    define(triangular_solve, "As linalg.solve_triangular with other order; and a copy of A.",
           [](const Tensor& self, const Tensor& a, bool upper, bool transpose, bool unitriangular) {
             check_system(a, self, true);
             Tensor matrices = transpose ? mT(a) : a;
             Tensor x = solved(matrices, self, upper != transpose, true, unitriangular);
             return std::tuple<Tensor, Tensor>(
                 x, clone(expand(a, ops::with_matrix(ops::batch_of(x), a))));
           })
        .samples([] {
          Tensor a = sample({3, 3}, 0.5, 2);
          return Samples{{{sample({3, 2}), a}},
                         {{sample({3, 2}), a, Scalar(false), Scalar(true)}, "transposed"}};
        });

}  // namespace
}  // namespace fg
