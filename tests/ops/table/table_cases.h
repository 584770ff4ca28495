// What the tests over the whole table of functions share: calling a function at a sample, replacing
// its tensors, running its gradient, comparing bits.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/registry.h"

namespace fg::table {

using ir::FunctionInfo;
using ir::Sample;
using ir::Value;
using Arguments = std::vector<Value>;
using OnTensor = std::function<Tensor(const Tensor&)>;

// Every defined tensor of the arguments or of a result, lists flattened.
Tensors tensors_of(const Arguments& arguments);
Tensors tensors_of(const Value& value);
// The same arguments with every defined tensor replaced, in the order of tensors_of.
Arguments map_tensors(const Arguments& arguments, const OnTensor& replace);
Arguments replace_tensors(const Arguments& arguments, const Tensors& tensors);

// The tensors of a sample as new ones, of which those to differentiate by require grad.
Tensors inputs_of(const FunctionInfo& info, const Sample& sample);

// Calls with the generator seeded, so that random functions repeat themselves.
Tensors call(const FunctionInfo& info, const Arguments& arguments);

// Per tensor of the arguments whether to differentiate by it: doubles, unless the function says
// that it is "not differentiable with respect to" that argument (the weights of a loss).
std::vector<bool> differentiable(const FunctionInfo& info, const Arguments& arguments);

// Results, and the gradients of those inputs for made-up gradients of the results.
struct Outcome {
  Tensors values, grads;
};
Outcome run(const FunctionInfo& info, const Arguments& arguments, bool with_gradient);

// Copies with other layouts: dense in another order, with gaps, and one row seen many times.
Tensor plain_copy(const Tensor& tensor);
Tensor reversed_copy(const Tensor& tensor);
Tensor spread_copy(const Tensor& tensor);
Tensor repeated_row(const Tensor& tensor);

// Equal dtype, sizes and bits; any NaN equals any NaN.
testing::AssertionResult equal_bits(const Tensor& a, const Tensor& b);
testing::AssertionResult equal_bits(const Tensors& a, const Tensors& b);
testing::AssertionResult equal_bits(const Outcome& a, const Outcome& b);
// Equal up to |a - b| <= tolerance (1 + |b|).
testing::AssertionResult nearly_equal(const Tensor& a, const Tensor& b, double tolerance);

// Runs a graph primitive by primitive, so that autograd sees each of them; seeds are inputs too.
Tensors run_recording(const ir::Graph& graph, const Tensors& inputs);

// Runs a check at every sample; its failures name function and sample, and so do exceptions.
void each_sample(const FunctionInfo& info, const std::function<void(const Sample&)>& check);

// Exceptions to the rules, with the reason at the list.
bool is_uninitialised(const FunctionInfo& info);
bool reads_storage(const FunctionInfo& info);
bool shape_needs_values(const FunctionInfo& info, const Sample& sample);
bool is_view(const FunctionInfo& info);
// Whether capture may refuse a call with this error.
bool may_be_refused(const FunctionInfo& info, const Sample& sample, const Error& error);

// GoogleTest names: "max.dim" becomes max__dim.
std::string test_name(const testing::TestParamInfo<const FunctionInfo*>& info);

}  // namespace fg::table
