// What a traced call means to its caller: which inputs were written, what the outputs share memory
// and history with.
#pragma once

#include "capture/trace.h"

namespace fg::capture {

// Fills in mutations, results and outputs of a trace.
void analyse(Trace& trace, const Tensors& outputs);

}  // namespace fg::capture
