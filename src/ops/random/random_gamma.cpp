// Functions that draw gamma, Dirichlet, von Mises and binomial values. A value of the first two
// moves with its shape along the lines of equal probability (implicit differentiation); that slope
// is the gradient.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/random/random.h"
#include "ops/random/random_kind.h"
#include "ops/reduce/reduce.h"
#include "ops/special/special.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::OptGenerator;
using ops::plain_primitive;

namespace {

struct Source {
  OptGenerator generator;
  bool operator==(const Source&) const = default;
};
void as_input(Operands inputs, const Source&, Meta* out) {
  out[0] = {inputs[0]->sizes(), inputs[0]->dtype()};
}
void check_floating(const char* who, const Tensor& self) {
  if (self.is_floating_point()) return;
  fail(ErrorKind::not_implemented, "{}: {} is not supported; convert it to a float dtype", who,
       name(self.dtype()));
}
void require_shape(Operands inputs, const Source&) {
  ops::demand(is_floating(inputs[0]->dtype()), "a random primitive", "floats");
}
void require_rows(Operands inputs, const Source& p) {
  require_shape(inputs, p);
  ops::demand(inputs[0]->dim() > 0, "dirichlet", "rows");
}

const Registered gamma_p =
    plain_primitive<Source, as_input,
                    [](Operands inputs, const Source& p, Tensor* out) {
                      kernels::fill_gamma(out[0], *inputs[0],
                                          ops::reserve(p.generator, out[0].numel()));
                    }>("standard_gamma", Kind::random, "t")
        .requiring<require_shape>()
        .vjp("StandardGammaBackward0", wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) {
               return v.grad() * _standard_gamma_grad(v.in(0), v.out());
             }));
const auto gamma_entry =
    define(_standard_gamma, "Gamma values of scale 1 with the shapes of self.",
           [](const Tensor& self, const OptGenerator& generator) {
             check_floating("_standard_gamma", self);
             return gamma_p.with({generator}, self);
           })
        .shown(Shown::as_function)
        .random()
        .samples([] { return Samples{{{sample({2, 3}, 0.3, 6)}, "", false}}; });

// With the slope of a value over 1 less the value, the others losing in proportion:
//   slope (g - sum of x g).
Tensor by_concentration(const Vjp& v) {
  Tensor x = v.out(), alpha = v.in(0);
  Tensor slope = _dirichlet_grad(x, alpha, expand_as(sum(alpha, {-1}, true), alpha));
  return slope * (v.grad() - sum(x * v.grad(), {-1}, true));
}
const Registered dirichlet_p =
    plain_primitive<Source, as_input,
                    [](Operands inputs, const Source& p, Tensor* out) {
                      kernels::fill_dirichlet(out[0], *inputs[0],
                                              ops::reserve(p.generator, out[0].numel()));
                    }>("dirichlet", Kind::random, "t")
        .requiring<require_rows>()
        .vjp("DirichletBackward0",
             wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) { return by_concentration(v); }));
const auto dirichlet_entry =
    define(_sample_dirichlet, "Points of the simplex, a row for each row of concentrations.",
           [](const Tensor& self, const OptGenerator& generator) {
             check_floating("_sample_dirichlet", self);
             if (self.dim() == 0) fail("_sample_dirichlet: got one number; expected rows of them");
             return dirichlet_p.with({generator}, self);
           })
        .shown(Shown::as_function)
        .random()
        .samples([] { return Samples{{{sample({2, 3}, 0.3, 6)}, "", false}}; });

const Registered von_mises_p =
    plain_primitive<Source, as_input,
                    [](Operands inputs, const Source& p, Tensor* out) {
                      kernels::fill_von_mises(out[0], *inputs[0],
                                              ops::reserve(p.generator, out[0].numel()));
                    }>("von_mises", Kind::random, "t")
        .requiring<require_shape>()
        .vjp(
            "VonMisesBackward0", wrt(0, saves::nothing, [](const Vjp&) -> Tensor {
              fail(
                  ErrorKind::not_implemented,
                  "_sample_von_mises: the derivative is not implemented; sample without gradients");
            }));
const auto von_mises_entry =
    define(_sample_von_mises, "Angles around 0 with the concentrations of self.",
           [](const Tensor& self, const OptGenerator& generator) {
             check_floating("_sample_von_mises", self);
             return von_mises_p.with({generator}, self);
           })
        .shown(Shown::nowhere)
        .random()
        .samples([] { return Samples{{{sample({2, 3}, 0.3, 6)}, "", false}}; });

constexpr auto no_gradient = [](const Vjp& v) { return zeros_like(v.grad()); };
void require_trials(Operands inputs, const Source&) {
  bool real = is_floating(inputs[0]->dtype()) && is_floating(inputs[1]->dtype());
  ops::demand(real, "binomial", "floats");
}
const Registered binomial_p =
    plain_primitive<Source,
                    [](Operands inputs, const Source&, Meta* out) {
                      out[0] = {broadcast(inputs[0]->sizes(), inputs[1]->sizes(), "binomial"),
                                inputs[0]->dtype()};
                    },
                    [](Operands inputs, const Source& p, Tensor* out) {
                      kernels::fill_binomial(out[0], *inputs[0], *inputs[1],
                                             ops::reserve(p.generator, out[0].numel()));
                    }>("binomial", Kind::random, "tt")
        .requiring<require_trials>()
        .vjp("BinomialBackward0", wrt(0, saves::nothing, no_gradient),
             wrt(1, saves::nothing, no_gradient));
const auto binomial_entry =
    define(binomial, "Successes among count trials with the chance prob.",
           [](const Tensor& count, const Tensor& prob, const OptGenerator& generator) {
             check_floating("binomial", count);
             check_floating("binomial", prob);
             if (count.dtype() != prob.dtype()) {
               fail("binomial: count is {} and prob {}; expected one dtype", name(count.dtype()),
                    name(prob.dtype()));
             }
             return binomial_p.with({generator}, count, prob);
           })
        .shown(Shown::as_function)
        .random()
        .samples(
            [] { return Samples{{{sample({2, 3}, 1, 60), sample({2, 3}, 0.1, 0.9)}, "", false}}; });

}  // namespace
}  // namespace fg
