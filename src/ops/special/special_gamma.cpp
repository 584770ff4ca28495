// The gamma function's logarithm, its derivatives, incomplete gamma functions.
#include <limits>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/math_special.h"
#include "ir/runtime_special.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce.h"
#include "ops/special/special.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ir::Runtime;

namespace {

constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");

Samples gamma_arguments() {
  return {{{sample({2, 3}, 0.2, 6)}},
          {{sample({4}, -3.4, -3.1)}, "negative"},
          {{tensor({0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNaN}, kFloat64)}, "extremes", false},
          {{tensor({1, 2, 9})}, "integers", false}};
}

const Registered lgamma_p = elementwise<Types::floating, 1>("lgamma", [](auto x) FG_INLINED {
                              return ir::lgamma(x);
                            }).vjp("LgammaBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                     return v.grad() * digamma(v.in(0));
                                   }));
const auto lgamma_entry = define_as<lgamma_p>(entries::lgamma, "log |Gamma(self)|.")
                              .also_named({"special.gammaln"})
                              .inplace()
                              .out()
                              .samples(gamma_arguments);

const Registered digamma_p = elementwise<Types::floating, 1>("digamma", [](auto x) FG_INLINED {
                               return ir::digamma(x);
                             }).vjp("DigammaBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                      return v.grad() * polygamma(1, v.in(0));
                                    }));
const auto digamma_entry = define_as<digamma_p>(digamma, "The derivative of log Gamma at self.")
                               .also_named({"special.digamma", "special.psi"})
                               .inplace()
                               .out()
                               .samples(gamma_arguments);

struct Order {
  int64_t n;
  bool operator==(const Order&) const = default;
};
const Registered polygamma_p =
    elementwise<Types::floating, 1, Order>("polygamma", [](auto x, const Order& p) FG_INLINED {
      return ir::at_runtime(Runtime::polygamma, like(x, static_cast<double>(p.n)), x);
    }).vjp("PolygammaBackward0", wrt(0, saves::in(0), [](const Vjp& v, const Order& p) {
             bool last = p.n == std::numeric_limits<int64_t>::max();
             return v.grad() * polygamma(last ? p.n : p.n + 1, v.in(0));
           }));
const auto polygamma_entry =
    define_as<polygamma_p>(polygamma, "The n-th derivative of digamma at self.",
                           [](int64_t n, const Tensor& self) {
                             if (n < 0) fail("polygamma(n, x) does not support negative n.");
                             return n == 0 ? digamma(self) : polygamma_p.with({n}, self);
                           })
        .also_named({"special.polygamma"})
        .out()
        .samples([] {
          return Samples{
              {{Scalar(1), sample({2, 3}, 0.4, 6)}},
              {{Scalar(2), sample({2, 3}, 0.4, 6)}},
              {{Scalar(3), sample({3}, -2.7, -2.2)}, "negative"},
              {{Scalar(1), tensor({0.0, 1.0, kInf, kNaN}, kFloat64)}, "extremes", false}};
        });

// p (p - 1) / 4 log pi + the sum of lgamma(self - i / 2) over i = 0 ... p - 1.
Tensor halves_below(const Tensor& self, int64_t p) {
  DType dtype = is_floating(self.dtype()) ? self.dtype() : default_dtype();
  return unsqueeze(self, -1) - arange(0, p, 1, dtype) * 0.5;
}
const auto mvlgamma_entry =
    define(mvlgamma, "The logarithm of the multivariate gamma function of p dimensions.",
           [](const Tensor& self, int64_t p) {
             if (p < 1) fail("p has to be greater than or equal to 1");
             auto count = static_cast<double>(p);
             double constant = count * (count - 1) * 0.25 * 1.1447298858494001741;
             return sum(lgamma(halves_below(self, p)), {-1}) + constant;
           })
        .also_named({"special.multigammaln"})
        .vjp("MvlgammaBackward0", wrt(0, saves::in(0),
                                      [](const Vjp& v, int64_t p) {
                                        return v.grad() *
                                               sum(digamma(halves_below(v.in(0), p)), {-1});
                                      }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}, 1.2, 6), Scalar(3)}}, {{sample({3}, 0.2, 6), Scalar(1)}}};
        });

// ---- incomplete gamma functions

// x^(a - 1) e^-x / Gamma(a): the derivative of P(a, x) by x.
Tensor gamma_density(const Tensor& a, const Tensor& x) {
  return exp((a - 1) * log(x) - x - lgamma(a));
}
Samples shapes_and_values() {
  return {{{sample({2, 3}, 0.3, 6), sample({3}, 0.2, 9)}, "", true, false},
          {{tensor({0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 1.0, kInf, kInf, kNaN}, kFloat64),
            tensor({0.0, 1.0, kInf, 0.0, kInf, 1.0, -1.0, 1.0, kInf, 1.0}, kFloat64)},
           "extremes",
           false}};
}
const Registered igamma_p =
    elementwise<Types::floating_only, 2>(
        "igamma", [](auto a, auto x) FG_INLINED { return ir::at_runtime(Runtime::gammainc, a, x); })
        .vjp("IgammaBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   Tensor a = v.in(0), x = v.in(1);
                   return -v.grad() * gamma_density(a, x) * _standard_gamma_grad(a, x);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * gamma_density(v.in(0), v.in(1)); }));
const Registered igammac_p =
    elementwise<Types::floating_only, 2>(
        "igammac",
        [](auto a, auto x) FG_INLINED { return ir::at_runtime(Runtime::gammaincc, a, x); })
        .vjp("IgammacBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   Tensor a = v.in(0), x = v.in(1);
                   return v.grad() * gamma_density(a, x) * _standard_gamma_grad(a, x);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return -v.grad() * gamma_density(v.in(0), v.in(1)); }));
const auto igamma_entry =
    define_as<igamma_p>(igamma, "The regularised lower incomplete gamma function P(self, other).")
        .also_named({"special.gammainc"})
        .inplace()
        .out()
        .samples(shapes_and_values);
const auto igammac_entry =
    define_as<igammac_p>(igammac,
                         "The regularised upper incomplete gamma function 1 - P(self, other).")
        .also_named({"special.gammaincc"})
        .inplace()
        .out()
        .samples(shapes_and_values);

const Registered zeta_p =
    elementwise<Types::floating, 2>(
        "zeta", [](auto s, auto q) FG_INLINED { return ir::at_runtime(Runtime::zeta, s, q); })
        .vjp("SpecialZetaBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp&) -> Tensor {
                   fail(ErrorKind::not_implemented,
                        "the derivative for 'zeta' is not implemented by its first argument; "
                        "detach it");
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               Tensor s = v.in(0);
               return v.grad() * -s * special_zeta(s + 1, v.in(1));
             }));
const auto zeta_entry =
    define_as<zeta_p>(special_zeta, "The Hurwitz zeta function: the sum of (other + k)^-self.")
        .also_named({"special.zeta"})
        .shown(Shown::nowhere)
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}, 1.2, 6), sample({3}, 0.2, 9)}, "", false},
                         {{tensor({2.0, 2.0, 2.0, 1.0, 0.5, 2.5}, kFloat64),
                           tensor({0.0, -1.0, -1.5, 2.0, 2.0, -0.5}, kFloat64)},
                          "extremes",
                          false}};
        });

// ---- slopes of random values by their shapes

// Their own derivatives do not exist, as in PyTorch: a second backward through a sample says so.
[[noreturn]] Tensor refuse_slope(const char* who) {
  fail(ErrorKind::not_implemented,
       "{}: the derivative of a slope of random values is not implemented; detach it, or take the "
       "gradient without create_graph",
       who);
}
constexpr auto refuse_gamma = [](const Vjp&) -> Tensor { refuse_slope("_standard_gamma_grad"); };
constexpr auto refuse_dirichlet = [](const Vjp&) -> Tensor { refuse_slope("_dirichlet_grad"); };

const Registered gamma_slope_p =
    elementwise<Types::floating_only, 2>(
        "standard_gamma_grad",
        [](auto a, auto x) FG_INLINED { return ir::at_runtime(Runtime::gamma_slope, a, x); })
        .vjp("StandardGammaGradBackward0", wrt(0, saves::nothing, refuse_gamma),
             wrt(1, saves::nothing, refuse_gamma));
const auto gamma_slope_entry =
    define_as<gamma_slope_p>(_standard_gamma_grad,
                             "The derivative of a gamma-distributed output by its shape self.")
        .shown(Shown::as_function)
        .samples(
            [] { return Samples{{{sample({2, 3}, 0.3, 6), sample({2, 3}, 0.1, 9)}, "", false}}; });

void sizes_of_slopes(Operands inputs, const ir::NoParams&, Meta* out) {
  Dims two = broadcast(inputs[0]->sizes(), inputs[1]->sizes(), "_dirichlet_grad");
  out[0] = {broadcast(two, inputs[2]->sizes(), "_dirichlet_grad"), inputs[0]->dtype()};
}
// dx/da of a beta-distributed x, over 1 - x: the others of a Dirichlet sample share the rest.
void dirichlet_slopes(Operands inputs, const ir::NoParams&, Tensor* out) {
  Tensor in[3];
  for (size_t i = 0; i < 3; i++) {
    in[i] = empty_tensor(out[0].sizes(), kFloat64);
    kernels::copy_elements(in[i], *inputs[i]);
  }
  const double *x = in[0].data_ptr<double>(), *alpha = in[1].data_ptr<double>();
  double* total = in[2].data_ptr<double>();  // the slopes take its place
  pool::parallel_for(out[0].numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      double slope = ir::special::beta_slope(x[i], alpha[i], total[i] - alpha[i]);
      total[i] = x[i] == 1 ? 0 : slope / (1 - x[i]);
    }
  });
  kernels::copy_elements(out[0], in[2]);
}
const Registered dirichlet_grad_p =
    ops::plain_primitive<ir::NoParams, sizes_of_slopes, dirichlet_slopes>("dirichlet_grad",
                                                                          Kind::extern_call, "ttt")
        .vjp("DirichletGradBackward0", wrt(0, saves::nothing, refuse_dirichlet),
             wrt(1, saves::nothing, refuse_dirichlet), wrt(2, saves::nothing, refuse_dirichlet));
const auto dirichlet_grad_entry =
    define_as<dirichlet_grad_p>(_dirichlet_grad,
                                "The derivative of a Dirichlet sample x by its concentration.")
        .shown(Shown::as_function)
        .samples([] {
          return Samples{
              {{sample({3}, 0.1, 0.9), sample({3}, 0.3, 2), sample({3}, 3, 5)}, "", false}};
        });

}  // namespace
}  // namespace fg
