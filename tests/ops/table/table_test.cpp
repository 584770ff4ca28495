// One generic test over the table of functions: every check at every sample of every function. A
// new function needs nothing but its entry.
#include <fmt/format.h>

#include "autograd/gradcheck.h"
#include "base/error.h"
#include "base/pool.h"
#include "tests/ops/reference/reference.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

class Table : public testing::TestWithParam<const FunctionInfo*> {
 protected:
  const FunctionInfo& info = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(Functions, Table, testing::ValuesIn(ir::functions()), test_name);

TEST(TableIsComplete, every_function_has_samples) {
  for (const FunctionInfo* info : ir::functions()) {
    EXPECT_TRUE(info->samples && !info->samples().empty()) << info->full_name();
  }
}

TEST_P(Table, agrees_with_a_slow_reference) {
  Reference reference = find_reference(info);
  if (!reference) return;
  each_sample(info, [&](const Sample& sample) {
    for (DType dtype : {kFloat64, kFloat32}) {
      Arguments arguments = map_tensors(sample.arguments, [&](const Tensor& t) {
        return t.is_floating_point() ? t.to(dtype) : t;
      });
      Tensors expected = reference(map_tensors(
          arguments, [](const Tensor& t) { return t.is_floating_point() ? t.to(kFloat64) : t; }));
      Tensors values = call(info, arguments);
      ASSERT_LE(expected.size(), values.size());
      for (size_t i = 0; i < expected.size(); i++) {
        // A value that the dtype cannot hold becomes infinite in the reference too.
        DType result = values[i].dtype();
        EXPECT_TRUE(
            nearly_equal(values[i], expected[i].to(result), result == kFloat64 ? 1e-11 : 2e-5))
            << name(dtype) << ", result " << i;
      }
    }
  });
}

// Clones of the arguments' tensors, of which those to differentiate by require grad; none when
// there is nothing to differentiate.
Tensors leaves_of(const FunctionInfo& info, const Sample& sample) {
  Tensors leaves;
  bool any = false;
  int64_t elements = 0;
  std::vector<bool> wanted = differentiable(info, sample.arguments);
  for (const Tensor& tensor : tensors_of(sample.arguments)) {
    leaves.push_back(tensor.detach().clone());
    if (!wanted[leaves.size() - 1] || tensor.numel() == 0) continue;
    any = true;
    elements += tensor.numel();
    leaves.back().requires_grad_();
  }
  constexpr int64_t kTooLong = 600;  // finite differences move one element at a time
  return any && elements <= kTooLong ? leaves : Tensors{};
}

TEST_P(Table, has_the_gradient_of_finite_differences) {
  if (is_uninitialised(info)) return;
  each_sample(info, [&](const Sample& sample) {
    Tensors leaves = sample.check_gradient ? leaves_of(info, sample) : Tensors{};
    if (leaves.empty()) return;
    auto f = [&](const Tensors& in) { return call(info, replace_tensors(sample.arguments, in)); };
    autograd::gradcheck(f, leaves);
  });
}

TEST_P(Table, has_the_second_gradient_of_finite_differences) {
  if (is_uninitialised(info)) return;
  each_sample(info, [&](const Sample& sample) {
    bool wanted = sample.check_gradient && sample.check_second_gradient;
    Tensors leaves = wanted ? leaves_of(info, sample) : Tensors{};
    if (leaves.empty()) return;
    auto f = [&](const Tensors& in) { return call(info, replace_tensors(sample.arguments, in)); };
    autograd::gradgradcheck(f, leaves);
  });
}

// A view may refuse a layout that it cannot describe.
void expect_same_in_layout(const FunctionInfo& info, const Sample& sample, const OnTensor& layout,
                           const char* what) {
  Arguments other = map_tensors(sample.arguments, layout);
  Arguments plain = map_tensors(other, plain_copy);
  Outcome expected = run(info, plain, sample.check_gradient);
  try {
    EXPECT_TRUE(equal_bits(run(info, other, sample.check_gradient), expected)) << what;
  } catch (const Error& e) {
    EXPECT_TRUE(is_view(info)) << what << ": " << e.what();
  }
}

TEST_P(Table, does_not_depend_on_the_layout_of_its_inputs) {
  if (is_uninitialised(info) || reads_storage(info)) return;
  each_sample(info, [&](const Sample& sample) {
    expect_same_in_layout(info, sample, reversed_copy, "reversed dimensions");
    expect_same_in_layout(info, sample, spread_copy, "with gaps");
    // Equal rows make a singular matrix, which has no such factor.
    bool factor = info.schema.name == "cholesky" || info.schema.name == "linalg_cholesky";
    if (!factor) expect_same_in_layout(info, sample, repeated_row, "expanded");
  });
}

TEST_P(Table, gives_the_same_bits_on_any_number_of_threads) {
  if (is_uninitialised(info)) return;
  int threads = pool::num_threads();
  each_sample(info, [&](const Sample& sample) {
    pool::force_grain(0);
    pool::set_num_threads(1);
    auto once = [&] {
      return run(info, map_tensors(sample.arguments, plain_copy), sample.check_gradient);
    };
    Outcome expected = once();
    pool::force_grain(1);
    for (int count : {1, 2, 3, 7}) {
      pool::set_num_threads(count);
      EXPECT_TRUE(equal_bits(once(), expected)) << count << " threads";
    }
  });
  pool::force_grain(0);
  pool::set_num_threads(threads);
}

// Any result or a clear error; never a crash, an internal error, or a changed input.
void expect_survives(const FunctionInfo& info, const Arguments& arguments,
                     const std::string& what) {
  Tensors before;
  for (const Tensor& tensor : tensors_of(arguments)) before.push_back(plain_copy(tensor));
  try {
    call(info, arguments);
  } catch (const Error& e) {
    EXPECT_NE(e.kind(), ErrorKind::internal) << what << ": " << e.what();
    EXPECT_GT(std::string_view(e.what()).size(), 10u) << what;
  }
  EXPECT_TRUE(equal_bits(tensors_of(arguments), before)) << what << " changed an input";
}

Tensor without_rows(const Tensor& tensor) {
  if (tensor.dim() == 0) return tensor;
  Dims sizes = tensor.sizes();
  sizes[0] = 0;
  return empty_tensor(sizes, tensor.dtype());
}

TEST_P(Table, takes_or_refuses_empty_inputs) {
  each_sample(info, [&](const Sample& sample) {
    expect_survives(info, map_tensors(sample.arguments, without_rows), "all inputs empty");
    size_t count = tensors_of(sample.arguments).size();
    for (size_t i = 0; i < count; i++) {
      size_t next = 0;
      auto one = [&](const Tensor& t) { return next++ == i ? without_rows(t) : t; };
      expect_survives(info, map_tensors(sample.arguments, one), fmt::format("input {} empty", i));
    }
  });
}

Tensor of_ones(const Dims& sizes, DType dtype) {
  Tensor result = empty_tensor(sizes, dtype);
  return result.fill_(1);
}

TEST_P(Table, takes_or_refuses_other_dtypes_and_shapes) {
  each_sample(info, [&](const Sample& sample) {
    size_t count = tensors_of(sample.arguments).size();
    for (size_t i = 0; i < count; i++) {
      auto with = [&](const std::string& what, const OnTensor& change) {
        size_t next = 0;
        auto one = [&](const Tensor& t) { return next++ == i ? change(t) : t; };
        expect_survives(info, map_tensors(sample.arguments, one),
                        fmt::format("input {} {}", i, what));
      };
      for (DType dtype : {kBool, kInt64, kUInt8, kFloat16, kBFloat16}) {
        with(std::string(name(dtype)), [&](const Tensor& t) { return t.to(dtype); });
      }
      with("zero-dim", [](const Tensor& t) { return of_ones({}, t.dtype()); });
      with("longer", [](const Tensor& t) { return of_ones({13}, t.dtype()); });
      with("of higher rank",
           [](const Tensor& t) { return of_ones({3, 1, 2, 1, 2, 1}, t.dtype()); });
    }
  });
}

// Values of the right type that lie out of most ranges.
std::vector<Value> strange_values(ir::Type type) {
  if (type == ir::Type::integer || type == ir::Type::opt_integer || type == ir::Type::dim) {
    return {Scalar(97), Scalar(-97)};
  }
  if (type == ir::Type::dims || type == ir::Type::opt_dims) {
    return {Dims{97}, Dims{-97}, Dims{1, 1}, Dims{}};
  }
  if (type == ir::Type::string || type == ir::Type::opt_string)
    return {std::string("no such word")};
  return {Value()};
}

// A value that no argument of the type takes.
Value value_of_wrong_type(ir::Type type) {
  bool text = type == ir::Type::string || type == ir::Type::opt_string;
  return text ? Value(kFloat32) : Value(std::string("seven"));
}

TEST_P(Table, refuses_wrong_arguments_in_one_sentence) {
  each_sample(info, [&](const Sample& sample) {
    for (size_t i = 0; i < sample.arguments.size(); i++) {
      const ir::Argument& argument = info.schema.arguments[i];
      for (const Value& value : strange_values(argument.type)) {
        Arguments arguments = sample.arguments;
        arguments[i] = value;
        expect_survives(info, arguments, fmt::format("strange {}", argument.name));
      }
      Arguments wrong = sample.arguments;
      wrong[i] = value_of_wrong_type(argument.type);
      EXPECT_THROW(info.call(info, wrong), Error) << argument.name << " of a wrong type";
    }
  });
  Arguments none;
  if (info.schema.required() > 0) {
    EXPECT_THROW(info.call(info, none), Error) << info.full_name() << " without arguments";
  }
}

}  // namespace
}  // namespace fg::table
