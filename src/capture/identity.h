// The identity of a captured function: all that decides its code, as text. Equal texts, equal code.
// Nothing in it depends on names, addresses, lines of the user, or on other traced operations.
#pragma once

#include "capture/function.h"

namespace fg::capture {

// The lines of the user behind the operations of a graph. They are no part of an identity: code
// that another program compiled serves this one, whose lines its errors must name.
struct Lines {
  std::vector<uint32_t> places;    // per operation, in `texts`
  std::vector<std::string> texts;  // the first is empty: no line
};

// A graph without lines, names and addresses.
struct AnonymousGraph {
  std::string text;
  std::string constants;  // digests of those that are too long for the text, or that it would round
  // Build-ids of the executables and libraries of the user that hold the code of primitives in it.
  std::string code;
  std::string unidentified;  // a primitive whose code has no build-id; empty: there is none
};
AnonymousGraph anonymous(ir::Graph graph);

struct Identity {
  AnonymousGraph graph;  // the forward and what nodes saved of it, values numbered anew
  std::string outputs;   // the meaning of outputs to the caller
  std::string gradient;  // the nodes of autograd behind the outputs
  // The reason why nodes do not identify the gradient: it runs code of the user. Empty: they do.
  std::string unknown;
  Lines lines;  // of `graph`
};

// Identifies a function whose trace still knows the tensors from outside. `record`: with its
// gradient. `known`: values that its calls are given beside the inputs.
Identity identify(const Function& function, bool record, const std::vector<ir::ValueId>& known);

}  // namespace fg::capture
