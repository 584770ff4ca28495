// Printing a tensor with its place in the graph, as PyTorch does.
#include <ostream>

#include "autograd/node.h"
#include "base/error.h"
#include "tensor/format.h"

namespace fg {

// The name of the node that made a tensor; empty: none. A view whose base was written in a way that
// it cannot follow has no history to name, but it has values.
static std::string node_text(const Tensor& tensor) {
  try {
    Ref<autograd::Node> node = tensor.grad_fn();
    return node ? node->name() : std::string();
  } catch (const Error&) {
    return "Invalid";
  }
}

std::string Tensor::text() const {
  if (!defined()) return "tensor(undefined)";
  PrintFrame frame;
  if (std::string node = node_text(*this); !node.empty())
    frame.suffixes.push_back("grad_fn=<" + node + ">");
  else if (requires_grad())
    frame.suffixes.push_back("requires_grad=True");
  if (!is_known()) return format_frame("...", print_options(), frame);
  ArrayView view{dtype(), values(sizes()), values(strides()), data_ptr()};
  return format_tensor(view, print_options(), frame);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.text(); }

}  // namespace fg
