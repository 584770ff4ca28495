#include "compile/backend.h"

#include "base/fail.h"
#include "base/log.h"
#include "base/settings.h"
#include "codegen/executable.h"
#include "compile/counters.h"
#include "ir/run.h"

namespace fg::compiler {

GraphCallable interpret(const ir::Graph& graph) {
  auto runner = std::make_shared<ir::Runner>(graph);
  return [runner](Tensors inputs) { return runner->run(std::move(inputs)); };
}

static GraphCallable make_native(const ir::Graph& graph, Code& code) {
  code = std::make_shared<codegen::Executable>(schedule::make_schedule(graph));
  return [code](Tensors inputs) { return code->run(std::move(inputs)); };
}
GraphCallable compile_native(const ir::Graph& graph) {
  Code code;
  return make_native(graph, code);
}

bool default_is_native() {
  using settings::Id;
  const std::string& name = settings::text(Id::backend);
  if (name != "native" && name != "interpreter") settings::fail_value(Id::backend);
  return name == "native";
}

GraphCallable compile_default(const ir::Graph& graph) {
  Code code;
  return compile_keeping(graph, code, false);
}

GraphCallable compile_keeping(const ir::Graph& graph, Code& code, bool native) {
  if (native) return make_native(graph, code);
  if (!default_is_native()) return interpret(graph);
  try {
    return make_native(graph, code);
  } catch (const Error& error) {
    if (count_interpreted(error.what())) {
      logging::warn(std::string("a compiled function runs through the interpreter: ") +
                    error.what());
    }
    return interpret(graph);
  }
}

Backend backend_named(const std::string& name) {
  if (name == "native") return compile_native;
  if (name == "interpreter") return interpret;
  if (name == "default") return compile_default;
  fail(ErrorKind::value,
       "backend: '{}' is not known; expected 'native', 'interpreter' or 'default'", name);
}

}  // namespace fg::compiler
