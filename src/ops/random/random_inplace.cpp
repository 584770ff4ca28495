// Functions behind the in-place random forms (uniform_, normal_, ...): new values with the sizes
// and dtype of self. They do not depend on the values of self, so the gradients are zeros.
#include <limits>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/random/random.h"
#include "ops/random/random_kind.h"

namespace fg {

using namespace ir;
using ops::Distribution;
using ops::draw_integers;
using ops::OptGenerator;

namespace {

constexpr auto no_gradient = [](const Vjp& v) { return zeros_like(v.grad()); };

Tensor draw_like(const Tensor& self, Distribution distribution, double a, double b,
                 const OptGenerator& generator, const char* who) {
  return ops::draw({self.sizes(), self.dtype(), distribution, a, b, generator}, who);
}

const auto uniform_entry =
    define(functional::uniform, "Uniform numbers in [from, to).",
           [](const Tensor& self, double from, double to, const OptGenerator& generator) {
             if (!(from <= to)) {
               fail("uniform_: expects a range [from, to), but found from={} > to={}", from, to);
             }
             ops::check_fits(from, self.dtype(), "uniform_");
             ops::check_fits(to, self.dtype(), "uniform_");
             if (!(to - from <= std::numeric_limits<double>::max())) {
               fail("uniform_: the range from {} to {} is not finite", from, to);
             }
             return draw_like(self, Distribution::uniform, from, to, generator, "uniform_");
           })
        .shown(Shown::nowhere)
        .vjp("UniformBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples(
            [] { return Samples{{{sample({2, 9})}}, {{sample({3}), Scalar(-2.0), Scalar(5.0)}}}; });
const auto normal_functional_entry =
    define(functional::normal_functional,
           "Normal numbers of the given mean and standard deviation.",
           [](const Tensor& self, double mean, double std, const OptGenerator& generator) {
             if (!(std >= 0)) fail("normal_: expects std >= 0, but found std {}", std);
             return draw_like(self, Distribution::normal, mean, std, generator, "normal_");
           })
        .shown(Shown::nowhere)
        .vjp("NormalBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples(
            [] { return Samples{{{sample({2, 9})}}, {{sample({3}), Scalar(-2.0), Scalar(5.0)}}}; });
const auto log_normal_entry =
    define(functional::log_normal, "Numbers whose logarithm is normal.",
           [](const Tensor& self, double mean, double std, const OptGenerator& generator) {
             if (!(std > 0)) fail("log_normal_: expects std > 0, but found std={}", std);
             return draw_like(self, Distribution::log_normal, mean, std, generator, "log_normal_");
           })
        .shown(Shown::nowhere)
        .vjp("LogNormalBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3})}}}; });
const auto exponential_entry =
    define(functional::exponential, "Exponentially distributed numbers of the rate lambd.",
           [](const Tensor& self, double lambd, const OptGenerator& generator) {
             if (!(lambd > 0)) fail("exponential_: expects lambd > 0, but found lambd={}", lambd);
             return draw_like(self, Distribution::exponential, lambd, 0, generator, "exponential_");
           })
        .shown(Shown::nowhere)
        .vjp("ExponentialBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(2.0)}}}; });
const auto cauchy_entry =
    define(functional::cauchy, "Numbers of the Cauchy distribution.",
           [](const Tensor& self, double median, double sigma, const OptGenerator& generator) {
             if (!(sigma > 0)) fail("cauchy_: expects sigma > 0, but found sigma={}", sigma);
             return draw_like(self, Distribution::cauchy, median, sigma, generator, "cauchy_");
           })
        .shown(Shown::nowhere)
        .vjp("CauchyBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3})}}}; });
const auto geometric_entry =
    define(functional::geometric, "The number of tries up to the first success of probability p.",
           [](const Tensor& self, double p, const OptGenerator& generator) {
             if (!(p > 0 && p < 1)) fail("geometric_: expects p in (0, 1), but got p={}", p);
             return draw_like(self, Distribution::geometric, p, 0, generator, "geometric_");
           })
        .shown(Shown::nowhere)
        .vjp("GeometricBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(0.3)}}}; });

const auto random_entry =
    define(functional::random.overload<0>(),
           "Integers from 0 to the largest that the dtype holds exactly.",
           [](const Tensor& self, const OptGenerator& generator) {
             return draw_integers(self.sizes(), self.dtype(), 0, {}, generator, "random_");
           })
        .shown(Shown::nowhere)
        .vjp("RandomBackward2", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3})}}, {{sample_indices({5}, 3)}}}; });
const auto random_to_entry =
    define(functional::random.overload<1>(), "Integers in [0, to).",
           [](const Tensor& self, int64_t to, const OptGenerator& generator) {
             return draw_integers(self.sizes(), self.dtype(), 0, to, generator, "random_");
           })
        .vjp("RandomBackward1", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(5)}}}; });
const auto random_from_entry =
    define(functional::random.overload<2>(),
           "Integers in [from, to); without to up to the dtype's largest.",
           [](const Tensor& self, int64_t from, OptInt to, const OptGenerator& generator) {
             return draw_integers(self.sizes(), self.dtype(), from, to, generator, "random_");
           })
        .vjp("RandomBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] {
          return Samples{{{sample({2, 3}), Scalar(-2), Scalar(5)}},
                         {{sample_indices({5}, 3), Scalar(1), Value()}, "no end"}};
        });

}  // namespace

Tensor& Tensor::uniform_(double from, double to) const { return fg::uniform_(*this, from, to); }
Tensor& Tensor::normal_(double mean, double std) const { return fg::normal_(*this, mean, std); }
Tensor& Tensor::bernoulli_(double p) const { return fg::bernoulli_(*this, p); }
Tensor& Tensor::random_(int64_t from, int64_t to) const {
  return fg::random_(*this, from, OptInt(to));
}

}  // namespace fg
