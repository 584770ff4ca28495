// The modes of a thread: grad mode, inference mode, and the innermost interpreter, which sees every
// call before the eager kernels do (none in the common case).
#pragma once

#include <cstdint>

namespace fg {

namespace ir {
class Interpreter;
class Capturing;
}  // namespace ir

struct Modes {
  bool grad_enabled = true;
  bool inference = false;
  ir::Interpreter* interpreter = nullptr;  // innermost of a stack, see ir/call.h
  ir::Capturing* capturing = nullptr;      // the capture that runs, wherever it is on the stack
};

// Counters of the graph that every recorded op touches; here because this block is fast to reach.
struct GraphCounters {
  uint64_t next_sequence_nr = 0;
  void* dead_nodes = nullptr;  // waiting to be freed; see autograd/node.cpp
  bool freeing_nodes = false;
  int saved_tensor_hooks = 0;   // how many pairs are active
  int node_creation_hooks = 0;  // how many are active
};
extern thread_local GraphCounters graph_counters __attribute__((tls_model("initial-exec")));

// initial-exec: one instruction instead of a call in a shared library; this block is small.
extern thread_local Modes modes __attribute__((tls_model("initial-exec")));

// Restores on scope exit whatever the scope changed.
class ModesGuard {
 public:
  ModesGuard() : saved_(modes) {}
  ~ModesGuard() { modes = saved_; }
  ModesGuard(const ModesGuard&) = delete;
  ModesGuard& operator=(const ModesGuard&) = delete;

 private:
  Modes saved_;
};

class AutoGradMode : ModesGuard {
 public:
  explicit AutoGradMode(bool enabled) { modes.grad_enabled = enabled; }
};
class NoGradGuard : AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};
class EnableGradGuard : AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};
// Nothing is recorded and new tensors carry no version counter; `false` leaves the mode again.
class InferenceMode : ModesGuard {
 public:
  explicit InferenceMode(bool enabled = true) {
    modes.inference = enabled;
    modes.grad_enabled = !enabled;
  }
  static bool is_enabled() { return modes.inference; }
};

// While alive, calls are neither interpreted nor recorded.
class Eagerly : ModesGuard {
 public:
  Eagerly() {
    modes.interpreter = nullptr;
    modes.capturing = nullptr;
    modes.grad_enabled = false;
  }
};

// Whether a function is being captured on this thread: calls become part of its graph.
inline bool is_capturing() { return modes.capturing != nullptr; }
inline bool is_grad_enabled() { return modes.grad_enabled; }
inline void set_grad_enabled(bool enabled) { modes.grad_enabled = enabled; }

}  // namespace fg
