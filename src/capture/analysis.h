// The meaning of a traced call to its caller: inputs that were written, and inputs and results with
// which the outputs share memory and history.
#pragma once

#include "capture/trace.h"

namespace fg::capture {

// Fills in mutations, results and outputs of a trace.
void analyse(Trace& trace, const Tensors& outputs);

}  // namespace fg::capture
