// Graphs of primitives can be differentiated by themselves: what a function of the table was
// captured as, run primitive by primitive on tensors that require grad, has the gradients and
// second gradients of the function.
#include "autograd/autograd.h"
#include "base/error.h"
#include "capture/function.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "tensor/generator.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

TEST(Primitives, have_a_gradient_or_say_why_not) {
  for (const ir::PrimitiveInfo* primitive : ir::primitives()) {
    if (std::string_view(primitive->operands).empty()) continue;
    EXPECT_NE(primitive->has_gradient, primitive->no_gradient != nullptr) << primitive->name;
  }
}

using Callee = std::function<Tensors(const Tensors&)>;

// The graph of a function without its gradient, to be called as the function.
Callee captured(const Callee& callee, const Tensors& given) {
  auto function =
      std::make_shared<capture::Function>(capture::function_of(capture::trace(callee, given)));
  return [function, graph = capture::graph_of(*function)](const Tensors& in) {
    Tensors inputs = in;
    for (size_t i = in.size(); i < function->inputs.size(); i++) {
      inputs.push_back(function->trace->inputs()[i].real);
    }
    for (const auto& drawn : function->trace->tracer.drawn) {
      PhiloxKey key = default_generator().reserve(drawn.numbers);
      inputs.push_back(tensor(
          std::vector<int64_t>{static_cast<int64_t>(key.seed), static_cast<int64_t>(key.offset)}));
    }
    return run_recording(graph, inputs);
  };
}

// ---- gradients

Tensors weights_for(const Tensors& outputs) {
  Tensors result;
  for (const Tensor& output : outputs) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < output.numel(); i++) {
      numbers.push_back(0.25 * static_cast<double>(1 + i % 7));
    }
    result.push_back(tensor(numbers, output.dtype()).reshape(output.sizes()));
  }
  return result;
}

Tensors requiring_grad(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) result.push_back(tensor);
  }
  return result;
}

// Gradients of all outputs together; zeros for leaves that no output depends on.
Tensors gradients(const Tensors& outputs, const Tensors& leaves, bool create_graph) {
  Tensors from = requiring_grad(outputs), grads;
  if (from.empty()) {
    for (const Tensor& leaf : leaves) grads.push_back(zeros_like(leaf.detach()));
    return grads;
  }
  return autograd::grad(
      {from.begin(), from.end()}, {leaves.begin(), leaves.end()}, weights_for(from),
      {.create_graph = create_graph, .allow_unused = true, .materialize_grads = true});
}

// Copies of the tensors that are leaves.
Tensors leaves_of(const Tensors& given, bool with_gradient) {
  Tensors inputs;
  for (const Tensor& tensor : given) {
    inputs.push_back(tensor.detach());
    if (with_gradient && tensor.requires_grad()) inputs.back().requires_grad_();
  }
  return inputs;
}

struct Derivatives {
  Tensors first, second;
};
Derivatives derivatives(const Callee& callee, const Tensors& given, bool twice) {
  Tensors inputs = leaves_of(given, true), leaves = requiring_grad(inputs);
  manual_seed(7);
  Derivatives result{gradients(callee(inputs), leaves, true), {}};
  if (twice) result.second = gradients(result.first, leaves, true);
  return result;
}

void expect_near(const Tensors& seen, const Tensors& expected, const char* what) {
  ASSERT_EQ(seen.size(), expected.size()) << what;
  for (size_t i = 0; i < seen.size(); i++) {
    EXPECT_TRUE(nearly_equal(seen[i], expected[i], 1e-9)) << what << " " << i;
  }
}

// Copies of what is floating: a graph has no views of its inputs and results among its outputs.
Tensors copies(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_floating_point()) result.push_back(clone(tensor));
  }
  return result;
}

// The primitives of the function, and those of its gradient, against the function itself.
void compare(const Callee& eager, const Tensors& given, bool twice) {
  Derivatives expected = derivatives(eager, given, twice);
  Derivatives seen = derivatives(captured(eager, leaves_of(given, false)), given, twice);
  expect_near(seen.first, expected.first, "gradient");
  expect_near(seen.second, expected.second, "second gradient");
  if (!twice) return;
  Callee gradient = [&](const Tensors& in) {
    return copies(gradients(eager(in), requiring_grad(in), false));
  };
  Callee graph = captured(gradient, leaves_of(given, true));
  expect_near(derivatives(graph, given, false).first, expected.second, "gradient of the gradient");
}

// Whether there was something to compare.
bool compare(const FunctionInfo& info, const Sample& sample) {
  Tensors given = inputs_of(info, sample);
  if (requiring_grad(given).empty()) return false;
  Callee eager = [&](const Tensors& in) {
    return copies(tensors_of(info.call(info, replace_tensors(sample.arguments, in))));
  };
  try {
    compare(eager, given, sample.check_second_gradient);
  } catch (const Error& error) {
    if (may_be_refused(info, sample, error)) return false;
    throw;
  }
  return true;
}

TEST(Primitives, have_the_gradients_of_the_functions_made_of_them) {
  size_t compared = 0, functions = 0;
  for (const FunctionInfo* info : ir::functions()) {
    if (is_uninitialised(*info)) continue;
    bool any = false, some = false;
    each_sample(*info, [&](const Sample& sample) {
      any |= !requiring_grad(inputs_of(*info, sample)).empty();
      some |= compare(*info, sample);
    });
    functions += any;
    compared += some;
  }
  EXPECT_GT(functions, ir::functions().size() / 2);
  EXPECT_GE(compared, functions * 95 / 100);
}

}  // namespace
}  // namespace fg::table
