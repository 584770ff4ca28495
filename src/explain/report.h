// What was compiled, and where its time and memory go: as a page for people (page.h) and as
// JSON (the command `foregrad explain --json`).
//
// An explanation is made from graphs alone: they are compiled once more, and run with inputs of its
// own to measure them. So it costs nothing until someone asks for it.
#pragma once

#include "codegen/listing.h"
#include "compile/version.h"

namespace fg::explain {

// One value in the block of memory of a call: its bytes from the step that makes it to the last
// that reads it.
struct Life {
  ir::ValueId value;
  int64_t offset, bytes;
  size_t first, last;
};
struct MemoryUse {
  std::vector<Life> lives;
  std::vector<int64_t> bytes;  // in use while step i runs
  size_t peak = 0;             // the step that needs most
  int64_t block = 0;           // what a call takes for all of them
  int64_t consuming = 0;       // the same, where it may use the memory of saved values
  int64_t inputs = 0, results = 0, saved = 0;
};
MemoryUse memory_use(const ir::Graph& graph, const codegen::Listing& listing);

struct GraphReport {
  std::string title;
  ir::Graph graph;
  std::vector<timing::Time> phases;
  codegen::Listing listing;
  MemoryUse memory;
  std::vector<double> seconds;  // per step
  std::string from{};           // the cache, where its code is from; empty: it was compiled
  std::string not_native;       // why there is no native code
  std::string not_measured;     // why there are no times

  double total_seconds() const;
};
// `graph` is one that the passes have seen.
GraphReport explain_graph(ir::Graph graph, std::string title);
// Of a text, which need not have seen them; with all phases.
GraphReport explain_text(std::string_view text, std::string title);

struct VersionReport {
  std::vector<std::string> conditions;               // when it is used
  std::vector<std::array<std::string, 2>> inputs;    // what each is, and must look like
  std::vector<compiler::Programs::SavedInfo> saved;  // values of the first graph
  std::vector<timing::Time> phases;                  // of capturing it and of making its forward
  std::vector<GraphReport> graphs;
};
VersionReport explain_version(compiler::Version& version);

struct Report {
  std::string name, note{};
  std::vector<VersionReport> versions{};
};

}  // namespace fg::explain
