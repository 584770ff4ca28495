#include "autograd/sum_to.h"

#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg::autograd {

Tensor sum_to_size(const Tensor& grad, const Dims& sizes) {
  size_t extra = grad.sizes().size() - sizes.size();
  Dims axes;
  for (size_t i = 0; i < grad.sizes().size(); i++) {
    bool broadcast = i < extra || (sizes[i - extra] == 1 && !(grad.sizes()[i] == 1));
    if (broadcast) axes.push_back(static_cast<int64_t>(i));
  }
  Tensor summed = axes.empty() ? grad : sum(grad, axes, true);
  return extra == 0 ? summed : view(summed, sizes);
}

}  // namespace fg::autograd
