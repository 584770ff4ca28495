// Parts of Programs: a forward and a backward, compiled or from the cache.
#pragma once

#include <optional>

#include "base/trace.h"
#include "capture/function.h"
#include "compile/backend.h"
#include "compile/lazy_graph.h"
#include "passes/partition.h"

namespace fg::compiler {

// What a backward is asked for: the gradients that come, and those that someone wants. Each
// combination is captured when it first comes.
struct Request {
  capture::Tangents tangents;
  std::vector<bool> wanted;  // of the inputs that need a gradient
  size_t state = 0;          // of the things that code of the user reads when it is traced
  auto operator<=>(const Request&) const = default;
};

struct Backward {
  GraphCallable run;
  std::vector<size_t> saved;    // which of the saved values it reads
  std::vector<size_t> watched;  // which inputs, then outputs, must not have been written since
  std::vector<size_t> live{};   // inputs that it reads as they are when it runs
  std::vector<capture::Function::Write> writes{};
  LazyGraph graph;  // to look at, as what follows
  std::vector<timing::Time> phases;
  std::string from{};  // the cache, and what it knows of its making; empty: it was made here
};

// What the forward keeps: an input, an output, or a value of its own.
struct Kept {
  enum class From : uint8_t { input, output, extra } from;
  size_t index;
  bool alone = false;  // of its own: no other output shows its memory
};

// For people: forward and backward in one graph, what is saved and why, what calls must look like.
struct ForwardTexts {
  std::string joint, partition, guards;
};

struct Forward {
  LazyGraph graph;
  GraphCallable run;
  std::vector<passes::Saved> saved;
  bool placed = true;  // the saved values are known in the trace; not of one from the cache
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
  std::vector<bool> reached;  // inputs that need a gradient: whether one gets there
  int64_t work = 0;           // about how many elements a call computes
  std::string from{};         // as of a backward
  // While it is planned and compiled: its gradient.
  std::optional<capture::Function> gradient{};

  size_t outputs(size_t own) const {
    for (const Kept& one : kept) own += one.from == Kept::From::extra;
    return own;
  }
};

}  // namespace fg::compiler
