// Backends: turn a graph into a callable.
#pragma once

#include <memory>

#include "base/callback.h"
#include "ir/graph.h"

namespace fg::codegen {
class Executable;
}

namespace fg::compiler {

using GraphCallable = Callback<Tensors(Tensors inputs)>;
using Backend = Callback<GraphCallable(const ir::Graph& graph)>;

// Runs a graph with the eager kernels.
GraphCallable interpret(const ir::Graph& graph);
// Runs a graph as native code, with the same bits. An Error where that cannot be made.
GraphCallable compile_native(const ir::Graph& graph);
// Compiles as FOREGRAD_BACKEND says. A graph for which no native code can be made is interpreted:
// that is counted, and warned about once per reason.
GraphCallable compile_default(const ir::Graph& graph);
// The same, or with `native` compile_native; puts the executable into `code`, unless the graph is
// interpreted.
using Code = std::shared_ptr<const codegen::Executable>;
GraphCallable compile_keeping(const ir::Graph& graph, Code& code, bool native);
bool default_is_native();

// "native", "interpreter" or "default".
Backend backend_named(const std::string& name);

}  // namespace fg::compiler
