#include "tests/ops/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/ops/reference/reference_array.h"
#include "tests/ops/reference/reference_network.h"

namespace fg::table {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

Compute unary(Unary f) {
  return [f](const Call& call) {
    Array x = call.first();
    for (double& value : x.data) value = f(value);
    return x;
  };
}

Compute binary(Binary f) {
  return [f](const Call& call) { return combine(call.first(), call.second(), f); };
}
Compute scaled(double sign) {
  return [sign](const Call& call) {
    double alpha = sign * call.number("alpha", 1);
    return combine(call.first(), call.second(), [=](double a, double b) { return a + alpha * b; });
  };
}

double python_remainder(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

// ---- along dimensions

Sizes wrapped(Sizes dims, int64_t rank) {
  if (dims.empty()) {
    for (int64_t d = 0; d < rank; d++) dims.push_back(d);
  }
  for (int64_t& d : dims) d += d < 0 ? rank : 0;
  return dims;
}

// f of the elements that meet at one index of the result.
using Fold = std::function<double(const std::vector<double>&)>;
Compute fold(Fold f) {
  return [f](const Call& call) {
    Array x = call.first();
    Sizes dims = wrapped(call.list("dim", {}), x.rank()), kept = x.sizes;
    if (x.rank() == 0) dims.clear();
    for (int64_t d : dims) kept[static_cast<size_t>(d)] = 1;
    std::map<Sizes, std::vector<double>> groups;
    each_index(kept, [&](const Sizes& i) { groups[i]; });
    each_index(x.sizes, [&](const Sizes& i) {
      Sizes group = i;
      for (int64_t d : dims) group[static_cast<size_t>(d)] = 0;
      groups[group].push_back(x[i]);
    });
    Array out(kept);
    each_index(kept, [&](const Sizes& i) { out[i] = f(groups[i]); });
    if (call.number("keepdim", 0) != 0) return out;
    Sizes sizes;
    for (int64_t d = 0; d < x.rank(); d++) {
      if (std::find(dims.begin(), dims.end(), d) == dims.end())
        sizes.push_back(x.sizes[static_cast<size_t>(d)]);
    }
    out.sizes = sizes;
    return out;
  };
}

double total(const std::vector<double>& x) {
  long double sum = 0;
  for (double value : x) sum += value;
  return static_cast<double>(sum);
}
double product(const std::vector<double>& x) {
  long double result = 1;
  for (double value : x) result *= value;
  return static_cast<double>(result);
}
double mean(const std::vector<double>& x) { return total(x) / static_cast<double>(x.size()); }
double largest(const std::vector<double>& x) {
  return std::accumulate(x.begin() + 1, x.end(), x[0], larger);
}
double smallest(const std::vector<double>& x) {
  return std::accumulate(x.begin() + 1, x.end(), x[0], smaller);
}
double log_sum_exp(const std::vector<double>& x) {
  double top = largest(x), sum = 0;
  if (std::isinf(top)) return top;
  for (double value : x) sum += std::exp(value - top);
  return top + std::log(sum);
}

Compute variance(bool root) {
  return [root](const Call& call) {
    double correction =
        call.has("unbiased") ? call.number("unbiased", 1) : call.number("correction", 1);
    return fold([=](const std::vector<double>& x) {
      double m = mean(x);
      long double sum = 0;
      for (double value : x) sum += (value - m) * (value - m);
      double v =
          static_cast<double>(sum) / std::max(0.0, static_cast<double>(x.size()) - correction);
      return root ? std::sqrt(v) : v;
    })(call);
  };
}

// Replaces each line along `dim`.
using Line = std::function<void(std::vector<double>&)>;
Compute along(Line f) {
  return [f](const Call& call) {
    Array x = call.first();
    if (x.rank() == 0) {
      f(x.data);
      return x;
    }
    int64_t dim = call.integer("dim", -1);
    auto axis = static_cast<size_t>(dim < 0 ? dim + x.rank() : dim);
    Sizes starts = x.sizes;
    starts[axis] = 1;
    if (count(x.sizes) == 0) return x;
    each_index(starts, [&](Sizes i) {
      std::vector<double> line;
      for (i[axis] = 0; i[axis] < x.sizes[axis]; i[axis]++) line.push_back(x[i]);
      f(line);
      for (i[axis] = 0; i[axis] < x.sizes[axis]; i[axis]++)
        x[i] = line[static_cast<size_t>(i[axis])];
    });
    return x;
  };
}

void softmax(std::vector<double>& x) {
  double norm = log_sum_exp(x);
  for (double& value : x) value = std::exp(value - norm);
}
void log_softmax(std::vector<double>& x) {
  double norm = log_sum_exp(x);
  for (double& value : x) value -= norm;
}
void running_sum(std::vector<double>& x) { std::partial_sum(x.begin(), x.end(), x.begin()); }
void running_product(std::vector<double>& x) {
  std::partial_sum(x.begin(), x.end(), x.begin(), std::multiplies<>());
}

const std::map<std::string, Compute> kReferences = {
    {"abs", unary(std::fabs)},
    {"neg", unary([](double x) { return -x; })},
    {"exp", unary(std::exp)},
    {"expm1", unary(std::expm1)},
    {"exp2", unary(std::exp2)},
    {"log", unary(std::log)},
    {"log1p", unary(std::log1p)},
    {"log2", unary(std::log2)},
    {"log10", unary(std::log10)},
    {"sqrt", unary(std::sqrt)},
    {"rsqrt", unary([](double x) { return 1 / std::sqrt(x); })},
    {"reciprocal", unary([](double x) { return 1 / x; })},
    {"square", unary([](double x) { return x * x; })},
    {"sin", unary(std::sin)},
    {"cos", unary(std::cos)},
    {"tan", unary(std::tan)},
    {"asin", unary(std::asin)},
    {"acos", unary(std::acos)},
    {"atan", unary(std::atan)},
    {"sinh", unary(std::sinh)},
    {"cosh", unary(std::cosh)},
    {"tanh", unary(std::tanh)},
    {"asinh", unary(std::asinh)},
    {"acosh", unary(std::acosh)},
    {"atanh", unary(std::atanh)},
    {"erf", unary(std::erf)},
    {"erfc", unary(std::erfc)},
    {"lgamma", unary(std::lgamma)},
    {"floor", unary(std::floor)},
    {"ceil", unary(std::ceil)},
    {"trunc", unary(std::trunc)},
    {"frac", unary([](double x) { return x - std::trunc(x); })},
    {"sign", unary(sign_of)},
    {"sigmoid", unary([](double x) { return 1 / (1 + std::exp(-x)); })},
    {"log_sigmoid", unary([](double x) { return -std::log1p(std::exp(-x)); })},
    {"relu", unary([](double x) { return std::isnan(x) || x > 0 ? x : 0; })},
    {"silu", unary([](double x) { return std::isinf(x) && x < 0 ? NAN : x / (1 + std::exp(-x)); })},
    {"isnan", unary([](double x) -> double { return std::isnan(x); })},
    {"isinf", unary([](double x) -> double { return std::isinf(x); })},
    {"isfinite", unary([](double x) -> double { return std::isfinite(x); })},
    {"logical_not", unary([](double x) -> double { return x == 0; })},
    {"add", scaled(1)},
    {"sub", scaled(-1)},
    {"mul", binary([](double a, double b) { return a * b; })},
    {"pow", binary(std::pow)},
    {"fmod", binary(std::fmod)},
    {"remainder", binary(python_remainder)},
    {"atan2", binary(std::atan2)},
    {"hypot", binary(std::hypot)},
    {"maximum", binary(larger)},
    {"minimum", binary(smaller)},
    {"eq", binary([](double a, double b) -> double { return a == b; })},
    {"ne", binary([](double a, double b) -> double { return a != b; })},
    {"lt", binary([](double a, double b) -> double { return a < b; })},
    {"le", binary([](double a, double b) -> double { return a <= b; })},
    {"gt", binary([](double a, double b) -> double { return a > b; })},
    {"ge", binary([](double a, double b) -> double { return a >= b; })},
    {"logical_and", binary([](double a, double b) -> double { return a != 0 && b != 0; })},
    {"logical_or", binary([](double a, double b) -> double { return a != 0 || b != 0; })},
    {"logical_xor", binary([](double a, double b) -> double { return (a != 0) != (b != 0); })},
    {"sum", fold(total)},
    {"mean", fold(mean)},
    {"prod", fold(product)},
    {"amax", fold(largest)},
    {"amin", fold(smallest)},
    {"logsumexp", fold(log_sum_exp)},
    {"var", variance(false)},
    {"std", variance(true)},
    {"softmax", along(softmax)},
    {"log_softmax", along(log_softmax)},
    {"cumsum", along(running_sum)},
    {"cumprod", along(running_product)},
    {"mm", [](const Call& call) { return multiply(call.first(), call.second()); }},
    {"bmm", [](const Call& call) { return multiply(call.first(), call.second()); }},
    {"matmul", [](const Call& call) { return multiply(call.first(), call.second()); }},
    {"mv", [](const Call& call) { return multiply(call.first(), call.second()); }},
    {"dot", [](const Call& call) { return multiply(call.first(), call.second()); }},
    {"linear", linear},
    {"addmm", add_product("mat1", "mat2")},
    {"baddbmm", add_product("batch1", "batch2")},
    {"conv1d", convolve},
    {"conv2d", convolve},
};

}  // namespace

Reference find_reference(const FunctionInfo& info) {
  std::string name(info.schema.name);
  auto found = kReferences.find(name);
  bool words = info.schema.overload == "padding";  // 'same' and 'valid' in the place of numbers
  const Compute* compute =
      found == kReferences.end() ? find_network_reference(name) : &found->second;
  if (auto special = special_references().find(name); special != special_references().end()) {
    compute = &special->second;
  }
  if (!compute || words) return {};
  return [compute, &info](const Arguments& arguments) {
    return Tensors{(*compute)(Call(info.schema, arguments)).tensor()};
  };
}

}  // namespace fg::table
