// The generic test, continued: in-place and out= forms, and shape rules on symbolic sizes.
#include "base/error.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

class TableForms : public testing::TestWithParam<const FunctionInfo*> {
 protected:
  const FunctionInfo& info = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(Functions, TableForms, testing::ValuesIn(ir::functions()), test_name);

Tensor call_inplace(const FunctionInfo& info, const Arguments& arguments) {
  manual_seed(7);
  return std::get<Tensor>(info.call_inplace(info, arguments));
}

TEST_P(TableForms, in_place_writes_what_out_of_place_returns) {
  if (!info.has_inplace) return;
  each_sample(info, [&](const Sample& sample) {
    Arguments arguments = map_tensors(sample.arguments, plain_copy);
    if (!std::holds_alternative<Tensor>(arguments[0])) return;  // a number cannot be written to
    Tensor self = std::get<Tensor>(arguments[0]), before = plain_copy(self);
    Tensor expected = call(info, arguments).at(0);
    uint32_t version = self._version();
    if (!(expected.sizes() == self.sizes()) || !can_cast(expected.dtype(), self.dtype())) {
      EXPECT_THROW(call_inplace(info, arguments), Error);
      EXPECT_TRUE(equal_bits(self, before)) << "a refused call changed self";
      EXPECT_EQ(self._version(), version);
      return;
    }
    expected = plain_copy(expected).to(self.dtype());
    Tensor result = call_inplace(info, arguments);
    EXPECT_TRUE(result.is_same(self));
    EXPECT_TRUE(equal_bits(self, expected));
    EXPECT_GT(self._version(), version);
  });
}

// x -> f_(x.clone()) has the gradient of f.
Outcome run_inplace(const FunctionInfo& info, const Arguments& arguments) {
  FunctionInfo cloning = info;
  cloning.call = [](const FunctionInfo& self, std::span<const Value> given) {
    Arguments copies(given.begin(), given.end());
    copies[0] = std::get<Tensor>(given[0]).clone();
    return self.call_inplace(*ir::find_function(self.full_name()), copies);
  };
  return run(cloning, arguments, true);
}

TEST_P(TableForms, in_place_has_the_same_gradient) {
  if (!info.has_inplace) return;
  each_sample(info, [&](const Sample& sample) {
    if (!sample.check_gradient || !std::holds_alternative<Tensor>(sample.arguments[0])) return;
    Outcome expected = run(info, map_tensors(sample.arguments, plain_copy), true);
    const Tensor& self = std::get<Tensor>(sample.arguments[0]);
    const Tensor& result = expected.values.at(0);
    if (!(result.sizes() == self.sizes()) || result.dtype() != self.dtype()) return;
    EXPECT_TRUE(equal_bits(run_inplace(info, map_tensors(sample.arguments, plain_copy)), expected));
  });
}

TEST_P(TableForms, out_receives_the_result) {
  if (!info.has_out) return;
  each_sample(info, [&](const Sample& sample) {
    Tensors expected = call(info, sample.arguments), fresh, prepared, narrow;
    for (const Tensor& tensor : expected) {
      fresh.push_back(empty_tensor({0}, tensor.dtype()));
      prepared.push_back(spread_copy(tensor).zero_());
      narrow.push_back(empty_tensor(tensor.sizes(), kBool));
    }
    manual_seed(7);
    EXPECT_TRUE(equal_bits(tensors_of(ir::call_out(info, sample.arguments, fresh)), expected));
    uint32_t version = prepared[0]._version();
    manual_seed(7);
    ir::call_out(info, sample.arguments, prepared);
    EXPECT_TRUE(equal_bits(prepared, expected));
    EXPECT_GT(prepared[0]._version(), version);
    bool takes_dtype_of_out = tensors_of(sample.arguments).empty();
    if (expected[0].dtype() != kBool && !takes_dtype_of_out) {
      EXPECT_THROW(ir::call_out(info, sample.arguments, narrow), Error) << "out of type bool";
    }
  });
}

// Sizes are symbols that happen to be what they are in the sample.
Tensor symbolic(Symbols& symbols, const Tensor& tensor) {
  Dims sizes;
  for (Dim size : tensor.sizes()) {
    sizes.push_back(symbols.add("s" + std::to_string(symbols.all().size()), size.value()));
  }
  return abstract_tensor(sizes, tensor.dtype());
}

Dims hints(const Dims& sizes) {
  Dims result;
  for (Dim size : sizes) result.push_back(size.hint());
  return result;
}

TEST_P(TableForms, knows_its_shape_from_symbolic_sizes) {
  each_sample(info, [&](const Sample& sample) {
    if (shape_needs_values(info, sample)) return;
    Tensors expected = call(info, sample.arguments), inferred;
    Symbols symbols;
    {
      ModesGuard guard;
      ir::ShapeInterpreter shapes;
      modes.interpreter = &shapes;
      GuardScope scope(&symbols);
      auto changed = [&](const Tensor& tensor) { return symbolic(symbols, tensor); };
      inferred = call(info, map_tensors(sample.arguments, changed));
    }
    ASSERT_EQ(inferred.size(), expected.size());
    for (size_t i = 0; i < expected.size(); i++) {
      EXPECT_TRUE(hints(inferred[i].sizes()) == expected[i].sizes())
          << "result " << i << " has sizes " << text(expected[i].sizes()) << ", inferred "
          << text(hints(inferred[i].sizes()));
      EXPECT_EQ(name(inferred[i].dtype()), name(expected[i].dtype())) << "result " << i;
    }
  });
}

}  // namespace
}  // namespace fg::table
