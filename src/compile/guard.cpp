// Guards on the inputs of a call.
#include <fmt/format.h>

#include "base/first_places.h"
#include "compile/version.h"

namespace fg::compiler {

TensorGuard::TensorGuard(const Tensor& tensor)
    : sizes(tensor.sizes()),
      strides(tensor.strides()),
      offset(tensor.impl()->offset),
      dtype(tensor.dtype()),
      requires_grad(tensor.requires_grad()),
      leaf(tensor.is_leaf()),
      inference(tensor.is_inference()),
      number(tensor.impl()->wrapped_number),
      view(tensor.is_view()),
      hooked(capture::has_caller_hooks(tensor)) {}

bool TensorGuard::holds(const Tensor& tensor) const {
  return sizes == tensor.sizes() && strides == tensor.strides() && dtype == tensor.dtype() &&
         requires_grad == tensor.requires_grad() && (!requires_grad || leaf == tensor.is_leaf()) &&
         inference == tensor.is_inference() && (!check_view || view == tensor.is_view()) &&
         number == tensor.impl()->wrapped_number &&
         (!check_offset || offset == tensor.impl()->offset) &&
         (!check_hooks || hooked == capture::has_caller_hooks(tensor));
}

std::string TensorGuard::difference(const Tensor& tensor) const {
  if (!(sizes == tensor.sizes())) {
    return fmt::format("sizes {}, not {}", text(tensor.sizes()), text(sizes));
  }
  if (dtype != tensor.dtype()) return fmt::format("{}, not {}", name(tensor.dtype()), name(dtype));
  if (!(strides == tensor.strides())) {
    return fmt::format("strides {}, not {}", text(tensor.strides()), text(strides));
  }
  if (requires_grad != tensor.requires_grad()) {
    return fmt::format("requires_grad {}", tensor.requires_grad());
  }
  return holds(tensor) ? "" : "another kind of tensor (leaf, inference, number or offset)";
}

std::vector<size_t> alias_pattern(const Tensors& inputs) {
  FirstPlaces places;
  std::vector<size_t> result;
  for (const Tensor& input : inputs) result.push_back(places.of(input.impl()->storage.get()));
  return result;
}

std::string text_of(const TensorGuard& guard) {
  std::string out =
      fmt::format("{}{} strides {}", name(guard.dtype), text(guard.sizes), text(guard.strides));
  if (guard.requires_grad) out += guard.leaf ? ", requires grad, a leaf" : ", requires grad";
  if (guard.number) out += ", a plain number";
  if (guard.check_offset) out += fmt::format(", begins at element {}", guard.offset.text());
  if (guard.check_view) out += guard.view ? ", a view" : ", no view";
  if (guard.check_hooks) out += guard.hooked ? ", has hooks" : ", no hooks";
  return out;
}

}  // namespace fg::compiler
