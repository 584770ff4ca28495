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
// The forward as a graph: arguments and what the function reached in, written inputs and results
// out.
ir::Graph forward(const TensorFunction& function, const Tensors& arguments);
// Forward and backward as one graph: tangents in as well, a gradient per input out as well.
ir::Graph joint(const TensorFunction& function, const Tensors& arguments);

}  // namespace capture

struct AotOptions {
  compiler::Backend fw_compiler{}, bw_compiler{};  // none: the interpreter
  compiler::Partition partition{};                 // none: save what the backward reads
  compiler::Backend inference_compiler{};  // of calls that are not recorded; none: fw_compiler
};
// As compile, but what cannot be captured is an error.
template <class F>
compiler::CompiledFunction<std::decay_t<F>> aot_function(F&& function, AotOptions options = {}) {
  compiler::ProgramOptions programs{std::move(options.fw_compiler), std::move(options.bw_compiler),
                                    std::move(options.partition)};
  programs.inference = std::move(options.inference_compiler);
  return {std::forward<F>(function),
          compiler::make_versions({.fullgraph = true}, std::move(programs))};
}

}  // namespace fg
