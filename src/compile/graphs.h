// Captured functions as graphs, and functions compiled by the user's own compilers:
//
//   ir::Graph graph = capture::joint(f, {x, w});     // forward and backward in one graph
//   auto g = aot_function(f, {.fw_compiler = mine}); // `mine` gets graphs and returns callables
#pragma once

#include "compile/compile.h"
#include "compile/programs.h"

namespace fg {

namespace capture {

using TensorFunction = Callback<Tensors(const Tensors& arguments)>;
// The forward as a graph. Inputs: the arguments, then tensors that the function reached by itself.
// Outputs: new elements of written inputs, then the results.
ir::Graph forward(const TensorFunction& function, const Tensors& arguments);
// Forward and backward as one graph: tangents are inputs too, a gradient per input an output too.
ir::Graph joint(const TensorFunction& function, const Tensors& arguments);

}  // namespace capture

struct AotOptions {
  compiler::Backend fw_compiler{}, bw_compiler{};  // none: the interpreter
  compiler::Partition partition{};                 // none: save what the backward reads
  compiler::Backend inference_compiler{};  // of calls that are not recorded; none: fw_compiler
};
// As compile, but a refused capture is an error.
template <class F>
compiler::CompiledFunction<std::decay_t<F>> aot_function(F&& function, AotOptions options = {}) {
  compiler::ProgramOptions programs{std::move(options.fw_compiler), std::move(options.bw_compiler),
                                    std::move(options.partition)};
  programs.inference = std::move(options.inference_compiler);
  return {std::forward<F>(function),
          compiler::make_versions({.fullgraph = true}, std::move(programs))};
}

}  // namespace fg
