// Random tensors. Values are ours, not PyTorch's: element i of a call draws from
// philox(seed, offset + i), where the call took the next `numel` offsets of its generator. So one
// seed gives the same values on any number of threads; random_kernel.h has the formulas.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION
ir::Function<"rand(int[] size, *, Generator? generator=None, DType? dtype=None) -> Tensor"> rand;
}  // namespace entries
inline Tensor rand(const Dims& size, const std::optional<Generator>& generator = {},
                   OptDType dtype = {}) {
  return entries::rand(size, generator, dtype);
}
inline Tensor rand(const Dims& size, DType dtype) { return entries::rand(size, dtype); }
template <std::same_as<TensorOptions> Options>
Tensor rand(const Dims& size, Options options) {
  return entries::rand(size, options);
}

FG_FUNCTION
ir::Function<"randn(int[] size, *, Generator? generator=None, DType? dtype=None) -> Tensor"> randn;
FG_FUNCTION ir::Function<
    "randint(int high, int[] size, *, Generator? generator=None, DType? dtype=None) -> Tensor",
    "randint.low(int low, int high, int[] size, *, Generator? generator=None, DType? dtype=None) "
    "-> Tensor">
    randint;
FG_FUNCTION
ir::Function<"randperm(Dim n, *, Generator? generator=None, DType? dtype=None) -> Tensor"> randperm;
FG_FUNCTION ir::Function<
    "rand_like(Tensor self, *, Generator? generator=None, DType? dtype=None) -> Tensor">
    rand_like;
FG_FUNCTION ir::Function<
    "randn_like(Tensor self, *, Generator? generator=None, DType? dtype=None) -> Tensor">
    randn_like;
FG_FUNCTION ir::Function<
    "randint_like(Tensor self, int high, *, Generator? generator=None, DType? dtype=None) -> "
    "Tensor",
    "randint_like.low_dtype(Tensor self, int low, int high, *, Generator? generator=None, DType? "
    "dtype=None) -> Tensor">
    randint_like;

// ---- with the parameters of each element in a tensor
FG_FUNCTION
ir::Function<"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
             "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
             "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor">
    bernoulli;
FG_FUNCTION ir::Function<
    "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, DType? "
    "dtype=None) -> Tensor">
    normal;
FG_FUNCTION ir::Function<
    "multinomial(Tensor self, Dim num_samples, bool replacement=False, *, Generator? "
    "generator=None) -> Tensor">
    multinomial;
FG_FUNCTION ir::Function<"poisson(Tensor self, *, Generator? generator=None) -> Tensor"> poisson;
FG_FUNCTION
ir::Function<"binomial(Tensor count, Tensor prob, *, Generator? generator=None) -> Tensor">
    binomial;
// Gamma values of scale 1, and rows that are Dirichlet-distributed; differentiable by their shapes.
FG_FUNCTION ir::Function<"_standard_gamma(Tensor self, *, Generator? generator=None) -> Tensor">
    _standard_gamma;
FG_FUNCTION ir::Function<"_sample_dirichlet(Tensor self, *, Generator? generator=None) -> Tensor">
    _sample_dirichlet;
FG_FUNCTION ir::Function<"_sample_von_mises(Tensor self, *, Generator? generator=None) -> Tensor">
    _sample_von_mises;

// Out of place, for the in-place forms below: new values with the sizes and dtype of self. PyTorch
// does not offer them.
namespace functional {

FG_FUNCTION ir::Function<
    "uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor">
    uniform;
FG_FUNCTION ir::Function<
    "normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> "
    "Tensor">
    normal_functional;
FG_FUNCTION ir::Function<
    "log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor">
    log_normal;
FG_FUNCTION
ir::Function<"exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor">
    exponential;
FG_FUNCTION ir::Function<
    "cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor">
    cauchy;
FG_FUNCTION ir::Function<"geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor">
    geometric;
FG_FUNCTION ir::Function<
    "random(Tensor self, *, Generator? generator=None) -> Tensor",
    "random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
    "random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor">
    random;

}  // namespace functional

FG_FUNCTION ir::InplaceOf<decltype(functional::uniform)> uniform_;
FG_FUNCTION ir::InplaceOf<decltype(functional::normal_functional)> normal_;
FG_FUNCTION ir::InplaceOf<decltype(functional::log_normal)> log_normal_;
FG_FUNCTION ir::InplaceOf<decltype(functional::exponential)> exponential_;
FG_FUNCTION ir::InplaceOf<decltype(functional::cauchy)> cauchy_;
FG_FUNCTION ir::InplaceOf<decltype(functional::geometric)> geometric_;
FG_FUNCTION ir::InplaceOf<decltype(functional::random)> random_;
FG_FUNCTION
ir::Inplace<"bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
            "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor">
    bernoulli_;

}  // namespace fg
