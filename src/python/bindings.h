// The parts of foregrad._C that nanobind binds: each function adds those of one file.
#pragma once

#include "python/object.h"

namespace fg::python {

void install_hooks();  // interrupts, warnings
void add_autograd(nb::module_& module);
void add_capture(nb::module_& module);
void add_optimizers(nb::module_& module);
void add_step(nb::module_& module);
void add_nn(nb::module_& module);
void add_shared(nb::module_& module);
void add_compiled(nb::module_& module);
void add_cache(nb::module_& module);
void add_profile(nb::module_& module);
void add_watch(nb::module_& module);

}  // namespace fg::python
