// The fact `linear` of every primitive against numbers: a primitive that claims it is linear at all
// samples, and one that is linear at all samples claims it.
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "tests/ops/table/primitive_calls.h"

namespace fg::table {
namespace {

using Inputs = std::vector<Tensors>;  // a list per operand

Inputs inputs_of(ir::Operands operands) {
  Inputs inputs;
  for (const ir::Operand& operand : operands) {
    inputs.emplace_back(operand.all().begin(), operand.all().end());
  }
  return inputs;
}

// A list stays one, also of one tensor.
Tensors outputs_of(const ir::PrimitiveInfo& primitive, const Inputs& inputs, const void* params) {
  std::vector<ir::Operand> operands;
  for (const Tensors& each : inputs) operands.emplace_back(each);
  Tensors floats;
  for (const Tensor& output : evaluated(primitive, operands, params)) {
    if (output.is_floating_point()) floats.push_back(plain_copy(output));
  }
  return floats;
}

Tensor map_elements(const Tensor& tensor, const std::function<double(double, int64_t)>& f) {
  Tensor result = plain_copy(tensor);
  for (int64_t i = 0; i < result.numel(); i++) {
    result.data_ptr<double>()[i] = f(result.data_ptr<double>()[i], i);
  }
  return result;
}

// The inputs of a set as f of their elements; the number of the element counts over all of them.
Inputs map_inputs(const Inputs& inputs, uint32_t set,
                  const std::function<double(double, int64_t)>& f) {
  Inputs result = inputs;
  int64_t before = 0;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!(set >> i & 1)) continue;
    for (Tensor& tensor : result[i]) {
      if (!tensor.defined()) continue;
      tensor = map_elements(tensor, [&](double x, int64_t at) { return f(x, before + at); });
      before += tensor.numel();
    }
  }
  return result;
}

bool are_doubles(const Inputs& inputs, uint32_t set) {
  bool any = false;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!(set >> i & 1)) continue;
    for (const Tensor& tensor : inputs[i]) {
      if (tensor.defined() && tensor.dtype() != kFloat64) return false;
      any |= tensor.defined();
    }
  }
  return any;
}

uint32_t defined(const Inputs& inputs) {
  uint32_t set = 0;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!inputs[i].empty() && inputs[i][0].defined()) set |= 1u << i;
  }
  return set;
}

enum class Found : uint8_t { nothing, linear, other };

// Numbers of both signs around the samples, so that pieces of a function do not look linear.
double another(int64_t i) { return 3 * std::sin(1.7 * static_cast<double>(i) + 0.4); }

double rounding(DType dtype) {
  if (dtype == kFloat64) return 1e-11;
  return dtype == kFloat32 ? 1e-5 : 0.05;
}

// f(x + y) = f(x) + f(y) and f(2x) = 2 f(x), where these are finite; `nothing` if all are zero.
Found compare(const ir::PrimitiveInfo& primitive, const Inputs& x, const void* params,
              uint32_t set) {
  auto at = [&](const std::function<double(double, int64_t)>& f) {
    return outputs_of(primitive, map_inputs(x, set, f), params);
  };
  Tensors fx = at([](double v, int64_t) { return v; });
  Tensors fy = at([](double, int64_t i) { return another(i); });
  Tensors sum = at([](double v, int64_t i) { return v + another(i); });
  Tensors twice = at([](double v, int64_t) { return 2 * v; });
  Found found = Found::nothing;
  for (size_t k = 0; k < fx.size(); k++) {
    auto a = fx[k].to_vector<double>(), b = fy[k].to_vector<double>(),
         c = sum[k].to_vector<double>(), d = twice[k].to_vector<double>();
    for (size_t i = 0; i < a.size(); i++) {
      if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
      double room = rounding(fx[k].dtype()) * (1 + std::abs(a[i]) + std::abs(b[i]));
      // NaN is far from everything.
      if (!(std::abs(c[i] - a[i] - b[i]) <= room)) return Found::other;
      if (!(std::abs(d[i] - 2 * a[i]) <= room)) return Found::other;
      if (a[i] != 0 || b[i] != 0) found = Found::linear;
    }
  }
  return found;
}

class LinearCalls : public PrimitiveCalls {
 public:
  // By primitive, the sets of inputs that were seen to be linear or not.
  std::map<const ir::PrimitiveInfo*, std::map<uint32_t, Found>> claimed, unclaimed;
  std::map<const ir::PrimitiveInfo*, uint32_t> shown;  // inputs that took part in a claim

 protected:
  void look(const ir::PrimitiveInfo& primitive, ir::Operands operands,
            const void* params) override {
    if (primitive.kind == ir::Kind::random) return;  // another call draws other numbers
    Inputs inputs = inputs_of(operands);
    auto groups = primitive.linear_groups(params);
    EXPECT_EQ(groups[0] & groups[1], 0u) << primitive.name;
    auto note = [&](auto& sets, uint32_t set) {
      if (!are_doubles(inputs, set)) return Found::nothing;
      Found found = found_of(primitive, inputs, params, set);
      Found& all = sets[&primitive][set];
      all = std::max(all, found);
      return found;
    };
    for (uint32_t group : groups) {
      if (!group) continue;
      Found found = note(claimed, group);
      EXPECT_NE(found, Found::other) << primitive.name << ", inputs " << group;
      if (found == Found::linear) shown[&primitive] |= group & defined(inputs);
    }
    if (groups[0] && groups[1]) note(unclaimed, groups[0] | groups[1]);
    for (size_t i = 0; i < inputs.size(); i++) {
      if (!((groups[0] | groups[1]) >> i & 1)) note(unclaimed, 1u << i);
    }
  }

 private:
  static Found found_of(const ir::PrimitiveInfo& primitive, const Inputs& inputs,
                        const void* params, uint32_t set) {
    try {
      return compare(primitive, inputs, params, set);
    } catch (const Error&) {
      return Found::nothing;  // refuses these values, or the strides of a copy
    }
  }
};

// Primitives that are linear at their samples, and why they do not claim it.
const std::map<std::string_view, const char*> kExceptions = {
    {"as_strided", "another layout of its input is another part of it"},
    {"xlog1py", "its derivative at x = 0 and y = -1 is 0, which is not that of x log(1 + y)"},
    {"xlogy", "its derivative at x = 0 and y = 0 is 0, which is not that of x log(y)"},
};

// Primitives that only graphs have.
const std::set<std::string_view> kNotRun = {"restride"};

TEST(Primitives, are_linear_where_they_say_so_and_nowhere_else) {
  LinearCalls calls;
  run_table(calls);
  for (const auto& [primitive, sets] : calls.unclaimed) {
    if (kExceptions.contains(primitive->name)) {
      EXPECT_EQ(sets.at(1), Found::linear) << primitive->name << " is no exception";
      continue;
    }
    for (auto [set, found] : sets) {
      EXPECT_NE(found, Found::linear)
          << primitive->name << " claims no linearity in inputs " << set;
    }
  }
  for (const ir::PrimitiveInfo* primitive : ir::primitives()) {
    uint32_t claimed = primitive->linear[0] | primitive->linear[1];
    if (!claimed || kNotRun.contains(primitive->name)) continue;
    EXPECT_EQ(calls.shown[primitive], claimed)
        << "no sample shows all inputs in which " << primitive->name << " is linear";
  }
}

}  // namespace
}  // namespace fg::table
