// Running graphs with the eager kernels, and cutting graphs out of larger ones.
#pragma once

#include "base/error.h"
#include "ir/graph.h"

namespace fg::ir {

// Refuses tensors of other numbers, sizes, strides or dtypes than the graph's inputs have: views
// inside reach elements by the strides that were captured, others would lead out of memory.
void check_inputs(const Graph& graph, const Tensors& inputs);
// Throws `error` again, while it is handled, with the user's line of the operation that failed.
[[noreturn]] void name_line(const Error& error, const Graph& graph, const Operation& operation);

// A graph prepared for many runs: a value is dropped after its last use.
class Runner {
 public:
  explicit Runner(Graph graph);
  const Graph& graph() const { return graph_; }
  // Takes one tensor per input, of the graph's sizes and dtypes; gives one tensor per output.
  // Thread-safe. Records nothing.
  Tensors run(Tensors inputs) const;

 private:
  void run_operation(const Operation& operation, Tensor* values) const;

  Graph graph_;
  // Values whose last use is operation i: last_[first_[i]] to last_[first_[i + 1]].
  std::vector<uint32_t> first_;
  std::vector<ValueId> last_;
};

// The part of a graph that computes `outputs` from `inputs`, numbered anew. Unused inputs stay
// inputs. A value that does not follow from the inputs is an error. Among the first `checked`
// operations those that may refuse values are part of it in any case.
struct Ends {
  std::vector<ValueId> values;
  std::vector<Role> roles;
  void add(ValueId value, Role role) {
    values.push_back(value);
    roles.push_back(std::move(role));
  }
};
Graph cut(const Graph& graph, const Ends& inputs, const Ends& outputs, size_t checked = 0);

}  // namespace fg::ir
