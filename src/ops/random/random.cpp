#include "ops/random/random.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/random/random_kind.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ir;
using ops::Distribution;
using ops::draw;
using ops::draw_integers;
using ops::in_layout_of;
using ops::OptGenerator;
using ops::plain_primitive;
using ops::RandomParams;

namespace {

const auto rand_entry =
    define(entries::rand, "Uniform numbers in [0, 1).",
           [](const Dims& size, const OptGenerator& generator, OptDType dtype) {
             DType kind = dtype.value_or(default_dtype());
             return draw({size, kind, Distribution::uniform, 0, 1, generator}, "rand");
           })
        .random()
        .out()
        .samples([] { return Samples{{{Dims{2, 3}}}, {{Dims{0}, Value(), kFloat64}, "empty"}}; });
const auto randn_entry =
    define(randn, "Normal numbers with mean 0 and standard deviation 1.",
           [](const Dims& size, const OptGenerator& generator, OptDType dtype) {
             DType kind = dtype.value_or(default_dtype());
             return draw({size, kind, Distribution::normal, 0, 1, generator}, "randn");
           })
        .random()
        .out()
        .samples([] { return Samples{{{Dims{2, 9}}}, {{Dims{19}, Value(), kFloat64}}}; });
const auto randint_entry =
    define(randint.overload<0>(), "Integers in [0, high), equally likely.",
           [](int64_t high, const Dims& size, const OptGenerator& generator, OptDType dtype) {
             return draw_integers(size, dtype.value_or(kInt64), 0, high, generator, "randint");
           })
        .random()
        .out()
        .samples([] { return Samples{{{Scalar(5), Dims{2, 3}}}}; });
const auto randint_low_entry =
    define(randint.overload<1>(), "Integers in [low, high), equally likely.",
           [](int64_t low, int64_t high, const Dims& size, const OptGenerator& generator,
              OptDType dtype) {
             return draw_integers(size, dtype.value_or(kInt64), low, high, generator, "randint");
           })
        .random()
        .out()
        .samples([] { return Samples{{{Scalar(-3), Scalar(5), Dims{7}}}}; });

const auto rand_like_entry =
    define(rand_like, "Uniform numbers in [0, 1) with the sizes and dtype of self.",
           [](const Tensor& self, const OptGenerator& generator, OptDType dtype) {
             DType kind = dtype.value_or(self.dtype());
             RandomParams params{self.sizes(), kind, Distribution::uniform, 0, 1, generator};
             return in_layout_of(self, draw(params, "rand_like"));
           })
        .shown(Shown::as_function)
        .random()
        .samples([] { return Samples{{{sample({2, 3})}}}; });
const auto randn_like_entry =
    define(randn_like, "Normal numbers with the sizes and dtype of self.",
           [](const Tensor& self, const OptGenerator& generator, OptDType dtype) {
             DType kind = dtype.value_or(self.dtype());
             RandomParams params{self.sizes(), kind, Distribution::normal, 0, 1, generator};
             return in_layout_of(self, draw(params, "randn_like"));
           })
        .shown(Shown::as_function)
        .random()
        .samples([] { return Samples{{{sample({2, 3})}}}; });
Tensor integers_like(const Tensor& self, int64_t low, int64_t high, const OptGenerator& generator,
                     OptDType dtype) {
  DType kind = dtype.value_or(self.dtype());
  return in_layout_of(self,
                      draw_integers(self.sizes(), kind, low, high, generator, "randint_like"));
}
const auto randint_like_entry =
    define(randint_like.overload<0>(), "Integers in [0, high) with the sizes and dtype of self.",
           [](const Tensor& self, int64_t high, const OptGenerator& generator, OptDType dtype) {
             return integers_like(self, 0, high, generator, dtype);
           })
        .shown(Shown::as_function)
        .random()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(7)}}}; });
const auto randint_like_low_entry =
    define(randint_like.overload<1>(), "Integers in [low, high) with the sizes and dtype of self.",
           [](const Tensor& self, int64_t low, int64_t high, const OptGenerator& generator,
              OptDType dtype) { return integers_like(self, low, high, generator, dtype); })
        .random()
        .samples([] { return Samples{{{sample({2, 3}), Scalar(-2), Scalar(7)}}}; });

struct PermutationParams {
  Dim n;
  DType dtype;
  OptGenerator generator;
  bool operator==(const PermutationParams&) const = default;
};
const Registered permutation_p =
    plain_primitive<PermutationParams,
                    [](Operands, const PermutationParams& p, Meta* out) {
                      out[0] = {Dims{p.n}, p.dtype};
                    },
                    [](Operands, const PermutationParams& p, Tensor* out) {
                      kernels::fill_permutation(out[0], ops::reserve(p.generator, p.n));
                    }>("random_permutation", Kind::random, "");
const auto randperm_entry =
    define(randperm, "The integers from 0 to n - 1 in random order.",
           [](Dim n, const OptGenerator& generator, OptDType dtype) {
             if (n < 0) fail("randperm: n is {}; expected 0 or more", n.text());
             DType kind = dtype.value_or(kInt64);
             if (n > 0 && n.is_constant()) ops::check_fits(n.value() - 1, kind, "randperm");
             return permutation_p.with({n, kind, generator});
           })
        .random()
        .out()
        .samples([] { return Samples{{{Scalar(7)}}, {{Scalar(0)}, "empty"}}; });

struct MultinomialParams {
  Dim samples;
  bool replacement;
  OptGenerator generator;
  bool operator==(const MultinomialParams&) const = default;
};
void require_weights(Operands inputs, const MultinomialParams& p) {
  const Dims& sizes = inputs[0]->sizes();
  bool usable = (sizes.size() == 1 || sizes.size() == 2) && is_floating(inputs[0]->dtype());
  usable =
      usable && sizes.back() > 0 && p.samples > 0 && (p.replacement || p.samples <= sizes.back());
  ops::demand(usable, "multinomial", "weights of a line or of rows, and enough of them");
}
const Registered multinomial_p =
    plain_primitive<MultinomialParams,
                    [](Operands inputs, const MultinomialParams& p, Meta* out) {
                      out[0] = {inputs[0]->sizes(), kInt64};
                      out[0].sizes[out[0].sizes.size() - 1] = p.samples;
                    },
                    [](Operands inputs, const MultinomialParams& p, Tensor* out) {
                      int64_t draws = p.replacement ? out[0].numel() : inputs[0]->numel();
                      kernels::fill_multinomial(out[0], *inputs[0], p.samples.value(),
                                                p.replacement, ops::reserve(p.generator, draws));
                    }>("multinomial", Kind::random, "t")
        .requiring<require_weights>()
        .raising()
        .drawing([](Operands inputs, const void* params) {
          const auto& p = *static_cast<const MultinomialParams*>(params);
          Dim drawn = inputs[0]->impl()->numel;
          return p.replacement ? drawn / inputs[0]->sizes().back() * p.samples : drawn;
        })
        .without_gradient("its results are positions");

void check_multinomial(const Tensor& self, Dim num_samples, bool replacement) {
  if (!self.is_floating_point()) {
    fail("multinomial: only supports floating-point dtypes for input, got {}", name(self.dtype()));
  }
  if (self.dim() != 1 && self.dim() != 2) {
    fail("multinomial: the weights have sizes {}; expected 1 or 2 dimensions", text(self.sizes()));
  }
  if (num_samples <= 0) {
    fail("multinomial: cannot draw {} samples; expected 1 or more", num_samples.text());
  }
  if (!replacement && num_samples > self.dim_size(-1)) {
    fail("multinomial: cannot draw {} of {} categories without replacement", num_samples.text(),
         self.dim_size(-1).text());
  }
  if (self.dim_size(-1) == 0) fail("multinomial: there are no categories to draw from");
}
const auto multinomial_entry =
    define(
        multinomial, "Positions in each row, drawn in proportion to the weights there.",
        [](const Tensor& self, Dim num_samples, bool replacement, const OptGenerator& generator) {
          check_multinomial(self, num_samples, replacement);
          return multinomial_p.with({num_samples, replacement, generator}, self);
        })
        .random()
        .out()
        .samples([] {
          return Samples{{{sample({2, 5}, 0.1, 1), Scalar(3)}},
                         {{sample({4}, 0.1, 1), Scalar(9), Scalar(true)}, "replacement"}};
        });

}  // namespace
}  // namespace fg
