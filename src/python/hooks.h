// Python callables as hooks of tensors and nodes, of saved tensors and of new nodes.
//
// Hooks of tensors and nodes live in dictionaries by id, as PyTorch keeps them: one per kind of
// hook and output of a node. A dictionary is bound to the node once and is one hook for the engine;
// a RemovableHandle takes a function out of it.
#pragma once

#include "autograd/active_hooks.h"
#include "python/object.h"

namespace fg::python {

enum class HookKind { tensor, pre, post, post_accumulate };

// A dictionary of hooks, with the handle of the one hook that it is for the engine.
struct BoundHooks {
  Held dictionary;
  autograd::HookHandle handle;
};
// The dictionary of an output; null if it has none.
PyObject* hook_dictionary(autograd::NodeHooks* hooks, HookKind kind, int output = 0);
// Binds a dictionary in place of the one before; null only removes that.
void bind_hook_dictionary(autograd::NodeHooks& hooks, HookKind kind, int output, PyObject* by_id);
// Adds a function; the result is a RemovableHandle.
nb::object register_hook(autograd::NodeHooks& hooks, HookKind kind, int output,
                         nb::object function);

// The result of a pack hook, with the hook that turns it back into the tensor.
struct Packed {
  Held value, unpack;
};
struct SavedHooks {
  autograd::PackHook pack;
  autograd::UnpackHook unpack;
};
SavedHooks saved_hooks(nb::object pack, nb::object unpack);
autograd::NodeCreationCallback node_creation_hook(nb::object function);

}  // namespace fg::python
