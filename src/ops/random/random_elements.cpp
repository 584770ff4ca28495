// Random functions that take the parameters of each element from tensors. Their gradients are
// zeros.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/random/random.h"
#include "ops/random/random_kind.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::Distribution;
using ops::draw;
using ops::OptGenerator;
using ops::plain_primitive;

namespace {

constexpr auto no_gradient = [](const Vjp& v) { return zeros_like(v.grad()); };

struct ElementParams {
  DType dtype;
  OptGenerator generator;
  bool operator==(const ElementParams&) const = default;
};
void sizes_of_input(Operands inputs, const ElementParams& p, Meta* out) {
  out[0] = {inputs[0]->sizes(), p.dtype};
}
void require_floats(Operands inputs, const ElementParams& p) {
  bool real = is_floating(p.dtype);
  for (const Operand& input : inputs) real = real && is_floating(input->dtype());
  ops::demand(real, "a random primitive", "floats");
}
const Registered bernoulli_p =
    plain_primitive<ElementParams, sizes_of_input,
                    [](Operands inputs, const ElementParams& p, Tensor* out) {
                      kernels::fill_bernoulli(out[0], *inputs[0],
                                              ops::reserve(p.generator, out[0].numel()));
                    }>("bernoulli", Kind::random, "t")
        .requiring<require_floats>()
        .raising()
        .vjp("BernoulliBackward0", wrt(0, saves::nothing, no_gradient));
const Registered poisson_p =
    plain_primitive<ElementParams, sizes_of_input,
                    [](Operands inputs, const ElementParams& p, Tensor* out) {
                      kernels::fill_poisson(out[0], *inputs[0],
                                            ops::reserve(p.generator, out[0].numel()));
                    }>("poisson", Kind::random, "t")
        .requiring<require_floats>()
        .raising()
        .vjp("PoissonBackward0", wrt(0, saves::nothing, no_gradient));

void require_floating(const Tensor& self, const char* who) {
  if (self.is_floating_point()) return;
  fail(ErrorKind::not_implemented, "{}: {} is not supported; convert it to a float dtype", who,
       name(self.dtype()));
}

const auto bernoulli_entry =
    define(bernoulli.overload<0>(), "1 with the probability that each element says, else 0.",
           [](const Tensor& self, const OptGenerator& generator) {
             require_floating(self, "bernoulli");
             return bernoulli_p.with({self.dtype(), generator}, self);
           })
        .vjp("BernoulliBackward0", wrt(0, saves::nothing, no_gradient))
        .random()
        .out()
        .samples([] { return Samples{{{sample({2, 3}, 0.1, 0.9)}}}; });
const auto bernoulli_p_entry =
    define(bernoulli.overload<1>(), "1 with probability p, else 0, in the place of each element.",
           [](const Tensor& self, double p, const OptGenerator& generator) {
             if (!(p >= 0 && p <= 1)) fail("bernoulli_: p is {}; expected it in [0, 1]", p);
             return draw({self.sizes(), self.dtype(), Distribution::bernoulli, p, 0, generator},
                         "bernoulli_");
           })
        .vjp("BernoulliBackward2", wrt(0, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] {
          return Samples{{{sample({2, 3}), Scalar(0.3)}},
                         {{sample_indices({9}, 5), Scalar(0.5)}, "integers"}};
        });
const auto bernoulli_tensor_entry =
    define(bernoulli.overload<2>(), "1 with the probabilities of p, else 0, broadcast to self.",
           [](const Tensor& self, const Tensor& p, const OptGenerator& generator) {
             require_floating(p, "bernoulli_");
             return bernoulli_p.with({self.dtype(), generator}, expand(p, self.sizes()));
           })
        .vjp("BernoulliBackward1", wrt(0, saves::nothing, no_gradient),
             wrt(1, saves::nothing, no_gradient))
        .random()
        .inplace()
        .samples([] { return Samples{{{sample({2, 3}), sample({3}, 0.1, 0.9)}}}; });
const auto poisson_entry = define(poisson, "Counts of a Poisson process with the rates of self.",
                                  [](const Tensor& self, const OptGenerator& generator) {
                                    require_floating(self, "poisson");
                                    return poisson_p.with({self.dtype(), generator}, self);
                                  })
                               .shown(Shown::as_function)
                               .vjp("PoissonBackward0", wrt(0, saves::nothing, no_gradient))
                               .random()
                               .samples([] { return Samples{{{sample({2, 3}, 0.5, 30)}}}; });

// Their gradients are zeros as in PyTorch, which finite differences do not confirm.
const Registered normal_p =
    plain_primitive<ElementParams,
                    [](Operands inputs, const ElementParams& p, Meta* out) {
                      out[0] = {broadcast(inputs[0]->sizes(), inputs[1]->sizes(), "normal"),
                                p.dtype};
                    },
                    [](Operands inputs, const ElementParams& p, Tensor* out) {
                      kernels::fill_normal(out[0], *inputs[0], *inputs[1],
                                           ops::reserve(p.generator, out[0].numel()));
                    }>("normal", Kind::random, "tt")
        .requiring<require_floats>()
        .raising()
        .vjp("NormalBackward3", wrt(0, saves::nothing, no_gradient),
             wrt(1, saves::nothing, no_gradient));

void check_std(double std, const char* who) {
  if (!(std >= 0)) fail("{}: expects std >= 0, but found std {}", who, std);
}
const auto normal_tensor_float_entry =
    define(normal.overload<0>(), "Normal numbers with a mean per element.",
           [](const Tensor& mean, double std, const OptGenerator& generator) {
             check_std(std, "normal");
             require_floating(mean, "normal");
             return normal_p.with({mean.dtype(), generator}, mean, Tensor(std));
           })
        .shown(Shown::as_function)
        .vjp("NormalBackward1", wrt(0, saves::nothing, no_gradient))
        .random()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(0.5)}, "", false}}; });
const auto normal_float_tensor_entry =
    define(normal.overload<1>(), "Normal numbers with a standard deviation per element.",
           [](double mean, const Tensor& std, const OptGenerator& generator) {
             require_floating(std, "normal");
             return normal_p.with({std.dtype(), generator}, Tensor(mean), std);
           })
        .vjp("NormalBackward2", wrt(0, saves::nothing, no_gradient))
        .random()
        .out()
        .samples([] { return Samples{{{Scalar(0.5), sample({2, 3}, 0.1, 1)}, "", false}}; });
const auto normal_tensors_entry =
    define(normal.overload<2>(), "Normal numbers with a mean and a standard deviation per element.",
           [](const Tensor& mean, const Tensor& std, const OptGenerator& generator) {
             require_floating(mean, "normal");
             require_floating(std, "normal");
             return normal_p.with({mean.dtype(), generator}, mean, std);
           })
        .vjp("NormalBackward3", wrt(0, saves::nothing, no_gradient),
             wrt(1, saves::nothing, no_gradient))
        .random()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3}, 0.1, 1)}, "", false}}; });
const auto normal_floats_entry =
    define(normal.overload<3>(), "Normal numbers with one mean and one standard deviation.",
           [](double mean, double std, const Dims& size, const OptGenerator& generator,
              OptDType dtype) {
             check_std(std, "normal");
             DType kind = dtype.value_or(default_dtype());
             return draw({size, kind, Distribution::normal, mean, std, generator}, "normal");
           })
        .random()
        .out()
        .samples([] { return Samples{{{Scalar(1.5), Scalar(0.5), Dims{2, 3}}}}; });

}  // namespace
}  // namespace fg
