// The backward engine: runs on the calling thread, newest node first, only nodes that lead to the
// requested inputs; re-entrant; several threads may run over shared graphs.
#pragma once

#include "autograd/node.h"

namespace fg::autograd {

struct EngineOptions {
  bool keep_graph = false, create_graph = false;
  bool accumulate = true;  // into leaves; otherwise gradients of `targets` are returned
};

// Runs backward from `roots` with their gradients. With targets, only nodes that lead to them run;
// the result has one gradient per target (undefined where none flowed) unless accumulating.
Tensors run_backward(const std::vector<Edge>& roots, const Tensors& grads,
                     const std::vector<Edge>& targets, const EngineOptions& options);

}  // namespace fg::autograd
