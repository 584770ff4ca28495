// Printing a tensor with its place in the graph, as PyTorch does.
#include <ostream>

#include "autograd/node.h"
#include "tensor/format.h"

namespace fg {

std::string Tensor::text() const {
  if (!defined()) return "tensor(undefined)";
  PrintFrame frame;
  if (Ref<autograd::Node> node = grad_fn())
    frame.suffixes.push_back("grad_fn=<" + node->name() + ">");
  else if (requires_grad())
    frame.suffixes.push_back("requires_grad=True");
  if (!is_known()) return format_frame("...", {}, frame);
  ArrayView view{dtype(), values(sizes()), values(strides()), data_ptr()};
  return format_tensor(view, {}, frame);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.text(); }

}  // namespace fg
