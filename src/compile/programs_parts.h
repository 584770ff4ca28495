// Parts of Programs: a forward and a backward, compiled or from the cache.
#pragma once

#include <optional>

#include "base/trace.h"
#include "capture/function.h"
#include "compile/backend.h"
#include "compile/lazy_graph.h"
#include "passes/partition.h"

namespace fg::compiler {

// A kind of backward: the gradients that come, and those that are wanted. Each combination is
// captured when it first comes.
struct Request {
  capture::Tangents tangents;
  std::vector<bool> wanted;  // of the inputs that need a gradient
  size_t state = 0;          // of the things that code of the user reads when it is traced
  auto operator<=>(const Request&) const = default;
};

struct Backward {
  GraphCallable run;
  std::vector<size_t> saved;    // places of the saved values that it reads
  std::vector<size_t> watched;  // inputs, then outputs, that must not have been written since
  std::vector<size_t> live{};   // inputs that it reads as they are when it runs
  std::vector<capture::Function::Write> writes{};
  LazyGraph graph;  // for people, as are the next two
  std::vector<timing::Time> phases;
  std::string from{};  // the cache, and its note on the making; empty: it was made here
};

// A value that the forward keeps: an input, an output, or a value of its own.
struct Kept {
  enum class From : uint8_t { input, output, extra } from;
  size_t index;
  bool alone = false;  // of its own: no other output shows its memory
};

// Texts for people: the joint graph, the partition with its reasons, the guards.
struct ForwardTexts {
  std::string joint, partition, guards;
};

struct Forward {
  LazyGraph graph;
  GraphCallable run;
  std::vector<passes::Saved> saved;
  bool placed = true;  // the trace knows the saved values; false for a forward from the cache
  std::vector<Kept> kept;
  std::vector<Dims> saved_strides;
  std::vector<size_t> watched;  // outputs that eager code would have saved
  std::vector<std::vector<size_t>> watched_behind;
  capture::Reach reach;
  // Inputs that code of the user reaches in the backward, and those of them that it writes to.
  std::vector<size_t> live{}, written{};
  std::string traced{};  // its gradient, where that runs code of the user
  std::vector<bool> used, varies;
  // Inputs that a call keeps: to compare their versions, as eager code would have saved them, and
  // for derivatives of higher order.
  std::vector<bool> held{}, again{};
  std::vector<bool> reached;  // per input that needs a gradient: whether one gets there
  int64_t work = 0;           // about how many elements a call computes
  std::string from{};         // as in Backward
  // The gradient, while the forward is planned and compiled.
  std::optional<capture::Function> gradient{};

  size_t outputs(size_t own) const {
    for (const Kept& one : kept) own += one.from == Kept::From::extra;
    return own;
  }
};

}  // namespace fg::compiler
