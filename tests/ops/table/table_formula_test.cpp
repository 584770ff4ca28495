// Every elementwise formula evaluated both ways: as vector kernel and, lane by lane, as an
// expression; the bits must agree. An interpreter sees each primitive that the samples and their
// gradients run, with the parameters that really occur, and tries it on every dtype.
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "base/error.h"
#include "ir/scalar_eval.h"
#include "tests/ops/table/primitive_calls.h"

namespace fg::table {
namespace {

constexpr int64_t kCount = 200;
constexpr DType kAll[] = {kFloat32, kFloat64, kFloat16, kBFloat16, kInt64,
                          kInt32,   kInt16,   kInt8,    kUInt8,    kBool};

// Edges first, then values of all sizes, then random bits; a column per input.
template <class T>
void fill_column(T* out, int seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::normal_distribution<double> normal;
  constexpr double kEdges[] = {0.0, -0.0, 1.0, -1.0,  0.5,    -2.5,     3.0,       88.8, -104,
                               710, -746, 2e5, -1e22, 1e-310, HUGE_VAL, -HUGE_VAL, NAN};
  for (int64_t i = 0; i < kCount; i++) {
    uint64_t bits = random();
    if constexpr (std::is_same_v<T, bool>) {
      out[i] = bits & 1;
    } else if (i % 3 == 0) {
      std::memcpy(static_cast<void*>(out + i), &bits, sizeof(T));
    } else if constexpr (std::is_integral_v<T>) {
      out[i] = static_cast<T>(i % 3 == 1 ? bits % 7 - 3 : bits);
    } else {
      bool edge = bits % 8 == 0;
      double value = edge ? kEdges[bits / 8 % 17] : normal(random) * std::exp2(bits % 9 - 3.0);
      out[i] = Scalar(value).to<T>();
    }
  }
}

Tensor column(DType dtype, int seed) {
  Tensor result = empty_tensor({kCount}, dtype);
  visit(dtype, [&](auto zero) { fill_column(result.data_ptr<decltype(zero)>(), seed); });
  return result;
}

uint64_t element_bits(const Tensor& tensor, int64_t i) {
  uint64_t bits = 0;
  size_t size = item_size(tensor.dtype());
  std::memcpy(&bits, static_cast<const char*>(tensor.data_ptr()) + i * static_cast<int64_t>(size),
              size);
  return bits;
}

bool is_nan_bits(DType dtype, uint64_t bits) {
  return visit(dtype, [&](auto zero) {
    auto value = ir::lane_value<decltype(zero)>(bits);
    return value != value;
  });
}

class BothWays : public PrimitiveCalls {
 public:
  std::set<std::string> seen;

 protected:
  void look(const ir::PrimitiveInfo& primitive, ir::Operands inputs, const void* params) override {
    if (primitive.formula) compare_all(primitive, inputs.size(), params);
  }

 private:
  static DType result_dtype(const ir::PrimitiveInfo& primitive, const Tensors& inputs,
                            const void* params) {
    std::vector<ir::Operand> operands(inputs.begin(), inputs.end());
    ir::Meta meta;
    primitive.infer(operands, params, &meta);
    return meta.dtype;
  }
  // A mask in front takes no part in promotion: a double there leaves the others what they are.
  static bool has_mask(const ir::PrimitiveInfo& primitive, size_t arity, const void* params) {
    for (DType others : {kInt64, kFloat32}) {
      Tensors probe(arity, column(others, 1));
      probe[0] = column(kFloat64, 1);
      try {
        DType dtype = result_dtype(primitive, probe, params);
        return arity > 1 && dtype != kFloat64 && dtype != kBool;
      } catch (const Error&) {
        continue;  // not for these dtypes
      }
    }
    return false;
  }

  void compare_all(const ir::PrimitiveInfo& primitive, size_t arity, const void* params) {
    size_t first = has_mask(primitive, arity, params) ? 1 : 0;  // of what is not a mask
    for (DType dtype : kAll) {
      Tensors inputs;
      for (size_t i = 0; i < arity; i++) {
        inputs.push_back(column(i < first ? kBool : dtype, static_cast<int>(i)));
      }
      DType result;
      try {
        result = result_dtype(primitive, inputs, params);
      } catch (const Error&) {
        continue;  // not for this dtype
      }
      // Integers are converted first where the formula wants floats.
      if (is_floating(result) && !is_floating(dtype)) {
        for (size_t i = first; i < arity; i++) inputs[i] = inputs[i].to(result);
      }
      compare(primitive, params, inputs, result);
    }
  }

  void compare(const ir::PrimitiveInfo& primitive, const void* params, const Tensors& inputs,
               DType result) {
    std::vector<ir::Expr> values;
    for (size_t i = 0; i < inputs.size(); i++)
      values.push_back(ir::Expr::loaded(static_cast<int>(i), inputs[i].dtype()));
    ir::Program program(ir::convert(primitive.formula(values, params), result));
    seen.insert(primitive.name);
    if (!programs_.insert(primitive.name + "\n" + ir::to_text(program)).second) return;
    std::vector<ir::Operand> operands(inputs.begin(), inputs.end());
    Tensor output = empty_tensor({kCount}, result);
    primitive.evaluate(operands, params, &output);
    compare_lanes(primitive, std::move(program), inputs, output);
  }

  static void compare_lanes(const ir::PrimitiveInfo& primitive, ir::Program program,
                            const Tensors& inputs, const Tensor& output) {
    ir::LaneInterpreter lanes(std::move(program), level());
    for (int64_t i = 0; i < kCount; i++) {
      std::vector<uint64_t> arguments;
      for (const Tensor& input : inputs) arguments.push_back(element_bits(input, i));
      lanes.run({arguments});
      uint64_t expected = lanes.output(), got = element_bits(output, i);
      DType dtype = output.dtype();
      if (expected == got || (is_nan_bits(dtype, expected) && is_nan_bits(dtype, got))) continue;
      std::string values;
      for (const Tensor& input : inputs)
        values += " " + std::to_string(input.to_vector<double>()[static_cast<size_t>(i)]);
      ADD_FAILURE() << "primitive " << primitive.name << " of " << name(inputs.back().dtype())
                    << " at " << name(level()) << ": kernel " << std::hex << got << ", expression "
                    << expected << " for" << values;
      return;  // one is enough
    }
  }

  std::set<std::string> programs_;
};

TEST(TableFormulas, kernel_and_expression_agree_in_every_bit) {
  BothWays both;
  run_table(both);
  for (const ir::PrimitiveInfo* primitive : ir::primitives()) {
    if (primitive->formula) {
      EXPECT_TRUE(both.seen.contains(primitive->name))
          << "no sample runs the primitive " << primitive->name;
    }
  }
}

}  // namespace
}  // namespace fg::table
