// The flat list of passes.
#include <chrono>

#include "base/log.h"
#include "base/trace.h"
#include "passes/passes.h"

namespace fg::passes {

namespace {

struct Pass {
  const char* name;
  void (*run)(ir::Graph& graph);
};
// Simplified and folded first: what became equal by that is shared. What is computed again would be
// shared too, so it comes after that. Numbers are final at the end.
constexpr Pass kPasses[] = {{"simplify", simplify},
                            {"fold_constants", fold_constants},
                            {"common_subexpressions", common_subexpressions},
                            {"recompute_late", recompute_late},
                            {"compute_again", compute_again},
                            {"dead_code", dead_code}};

}  // namespace

std::vector<PassTiming> run_passes(ir::Graph& graph, const char* what) {
  using Clock = std::chrono::steady_clock;
  using logging::Topic;
  bool log = logging::enabled(Topic::graph);
  if (log) logging::write<"{}, before the passes:\n{}">(Topic::graph, what, graph.text());
  std::vector<PassTiming> timings;
  for (const Pass& pass : kPasses) {
    size_t before = graph.operations.size();
    auto start = Clock::now();
    {
      timing::Phase phase(pass.name);
      pass.run(graph);
      phase.note(std::to_string(before) + " operations, then " +
                 std::to_string(graph.operations.size()));
    }
    std::chrono::duration<double> seconds = Clock::now() - start;
    {
      timing::Span span("phase", "verify");
      ir::verify(graph, pass.name);
    }
    timings.push_back({pass.name, seconds.count(), before, graph.operations.size()});
    if (!log) continue;
    logging::write<"{}, after {} ({:.3f} ms, {} of {} operations):\n{}">(
        Topic::graph, what, pass.name, 1e3 * seconds.count(), graph.operations.size(), before,
        graph.text());
  }
  return timings;
}

}  // namespace fg::passes
