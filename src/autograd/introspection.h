// Questions that code inside a backward call, such as a hook, may ask about the call.
#pragma once

#include "autograd/node.h"

namespace fg::autograd {

// Outside of backward all but the first are errors.
int64_t current_graph_task_id();  // -1 outside
Ref<Node> current_graph_task_node();
bool will_engine_execute_node(const Ref<Node>& node);
std::vector<Ref<Node>> current_graph_task_execution_order();
bool current_graph_task_keep_graph();

}  // namespace fg::autograd
