// Python callables as hooks of tensors and nodes, and as saved-tensor hooks.
#pragma once

#include "autograd/saved_value.h"
#include "python/object.h"

namespace fg::python {

autograd::TensorHook tensor_hook(nb::object function);
autograd::PostAccumulateHook post_accumulate_hook(nb::object function);
autograd::NodePreHook node_pre_hook(nb::object function);
autograd::NodePostHook node_post_hook(nb::object function);
autograd::PackHook pack_hook(nb::object function);
autograd::UnpackHook unpack_hook(nb::object function);

}  // namespace fg::python
