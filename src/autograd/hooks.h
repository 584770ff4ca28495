// Running hooks around a node, with checks of their results.
// Order for one node: tensor hooks, retain_grad, node pre-hooks, the node, post-accumulate hooks,
// node post-hooks; hooks of one kind in the order they were registered. A tensor hook is called
// with an undefined gradient when its node runs for another output.
#pragma once

#include "autograd/node.h"

namespace fg::autograd {

void call_tensor_hooks(Node& node, Tensors& grads);
void call_pre_hooks(Node& node, Tensors& grads);
void call_post_hooks(Node& node, Tensors& grad_inputs, const Tensors& grad_outputs);

}  // namespace fg::autograd
