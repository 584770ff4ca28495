// Nanoseconds per operation of capture and of each pass, at 5,000 and at 100,000 operations, and of
// native code, at 2,000 and at 20,000. One JSON line per case.
#include "passes/passes.h"

#include <malloc.h>

#include <cstdio>
#include <ctime>
#include <functional>

#include "bench/passes/capture.h"
#include "bench/passes/graphs.h"
#include "codegen/executable.h"
#include "schedule/batch.h"
#include "schedule/tile.h"

namespace fg::bench {
namespace {

// Of this thread: what else the machine does counts less.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double seconds_of(const std::function<void()>& run) {
  double start = now();
  run();
  return now() - start;
}

constexpr size_t kSizes[] = {5000, 100000}, kOperations = 100000, kRounds = 9;

// Seconds for kOperations operations in graphs of this size: small ones are as many as are needed,
// so that they profit no more from caches than large ones.
double one_round(const ir::Graph& graph, const std::function<void(ir::Graph&)>& pass) {
  std::vector<ir::Graph> copies(kOperations / graph.operations.size(), graph);
  return seconds_of([&] {
    for (ir::Graph& copy : copies) pass(copy);
  });
}

void partition(ir::Graph& graph, std::vector<passes::Saved> (*choose)(const passes::JointGraph&)) {
  passes::JointGraph joint{graph, graph.operations.size() / 2, {graph.inputs[0]}, {}, {}};
  joint.results = {graph.outputs[0]};
  joint.gradients = {graph.outputs[1]};
  choose(joint);
}

const std::pair<const char*, std::function<void(ir::Graph&)>> kPasses[] = {
    {"simplify", passes::simplify},
    {"fold_constants", passes::fold_constants},
    {"common_subexpressions", passes::common_subexpressions},
    {"recompute_late", passes::recompute_late},
    {"compute_again", passes::compute_again},
    {"dead_code", passes::dead_code},
    {"block_images", schedule::block_images},
    {"fuse", [](ir::Graph& g) { schedule::fuse(g, schedule::find_places(g)); }},
    {"batch",  // after fuse, as tile and plan_memory
     [](ir::Graph& g) {
       auto places = schedule::find_places(g);
       auto groups = schedule::fuse(g, places);
       schedule::batch(g, places, groups);
     }},
    {"tile",
     [](ir::Graph& g) {
       auto places = schedule::find_places(g);
       auto groups = schedule::fuse(g, places);
       schedule::tile(g, places, groups);
     }},
    {"plan_memory",
     [](ir::Graph& g) {
       auto places = schedule::find_places(g);
       schedule::plan_memory(g, places, schedule::fuse(g, places));
     }},
    {"verify", [](ir::Graph& g) { ir::verify(g, "bench"); }},
    {"partition_default", [](ir::Graph& g) { partition(g, passes::partition_default); }},
    {"partition_min_cut", [](ir::Graph& g) { partition(g, passes::partition_min_cut); }}};

void report(const char* name, const std::string& shape, const double (&nanoseconds)[2],
            const size_t (&sizes)[2] = kSizes) {
  for (size_t i = 0; i < 2; i++) {
    std::printf("{\"case\": \"%s %s\", \"operations\": %zu, \"unit\": \"ns\", \"value\": %.2f}\n",
                name, shape.c_str(), sizes[i], nanoseconds[i]);
  }
}

// Nanoseconds per operation of the graph that a capture gives. Small functions are captured as
// often as is needed to get as many operations; traces and graphs are kept, as compile() does.
double capture_once(const std::string& shape, size_t size, bool joint) {
  Tensor x = ones({16}).requires_grad_();
  capture::Body body = function_of_shape(shape, size);
  std::vector<capture::Function> functions;
  std::vector<ir::Graph> graphs;
  size_t operations = 0;
  double seconds = seconds_of([&] {
    for (size_t done = 0; done < kOperations; done += size) {
      functions.push_back(capture::function_of(capture::trace(body, {x})));
      if (joint) {
        functions.push_back(
            capture::gradient_of(functions.back(), {capture::Tangent::plain}, false));
      }
      graphs.push_back(capture::graph_of(functions.back()));
      operations += graphs.back().operations.size();
    }
  });
  return 1e9 * seconds / static_cast<double>(operations);
}

void measure_capture(const char* name, const std::string& shape, bool joint) {
  double best[] = {1e9, 1e9};
  for (size_t round = 0; round < kRounds; round++) {
    for (size_t i = 0; i < 2; i++) {
      best[i] = std::min(best[i], capture_once(shape, kSizes[i], joint));
    }
  }
  report(name, shape, best);
}

// The best of several rounds, sizes in turn.
void measure(const std::string& shape) {
  std::vector<ir::Graph> graphs;
  for (size_t size : kSizes) {
    graphs.push_back(make_graph(shape, size));
    ir::verify(graphs.back(), "bench");
  }
  for (const auto& [name, pass] : kPasses) {
    double best[] = {1e9, 1e9};
    for (size_t round = 0; round < kRounds; round++) {
      for (size_t i = 0; i < 2; i++) {
        best[i] = std::min(best[i], 1e9 * one_round(graphs[i], pass) / kOperations);
      }
    }
    report(name, shape, best);
  }
}

// Everything from a graph to loaded code, less what a graph of a few operations takes.
void measure_code(const std::string& shape) {
  constexpr size_t kCodeSizes[] = {2000, 20000}, kStart = 20;
  auto build = [&](size_t size) {
    ir::Graph graph = make_graph(shape, size);
    return seconds_of([&] { codegen::Executable code(schedule::make_schedule(graph)); });
  };
  double start = 1e9, best[] = {1e9, 1e9};
  build(kStart);  // opens the generator
  for (size_t round = 0; round < 3; round++) {
    start = std::min(start, build(kStart));
    for (size_t i = 0; i < 2; i++) best[i] = std::min(best[i], build(kCodeSizes[i]));
  }
  for (size_t i = 0; i < 2; i++) {
    best[i] = 1e9 * (best[i] - start) / static_cast<double>(kCodeSizes[i] - kStart);
  }
  report("native code", shape, best, kCodeSizes);
}

}  // namespace
}  // namespace fg::bench

int main() {
  // Memory is kept: otherwise large graphs measure what fresh pages cost in the kernel.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (const char* shape : {"chain", "wide", "random"}) {
    fg::bench::measure_capture("capture forward", shape, false);
    fg::bench::measure_capture("capture joint", shape, true);
    fg::bench::measure(shape);
    fg::bench::measure_code(shape);
  }
}
