// Running graphs with the eager kernels, and cutting graphs out of larger ones.
#pragma once

#include "ir/graph.h"

namespace fg::ir {

// A graph prepared for many runs: a value is dropped after its last use.
class Runner {
 public:
  explicit Runner(Graph graph);
  const Graph& graph() const { return graph_; }
  // One tensor per input, of the sizes and dtypes that the graph says; one tensor per output.
  // Thread-safe. Records nothing.
  Tensors run(Tensors inputs) const;

 private:
  void check_input(const Tensor& tensor, size_t input) const;
  void run_operation(const Operation& operation, Tensor* values) const;

  Graph graph_;
  // Values whose last use is operation i: last_[first_[i]] to last_[first_[i + 1]].
  std::vector<uint32_t> first_;
  std::vector<ValueId> last_;
};

// What of a graph computes `outputs` from `inputs`, numbered anew. An input that nothing needs
// stays an input. Asking for a value that does not follow from the inputs is an error. Of the first
// `checked` operations those that may refuse values are part of it in any case.
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
