// Calls from Python as a profiler sees them.
#pragma once

#include "base/recorder.h"
#include "python/arguments.h"

namespace fg::python {

// Notes the sizes of the tensors among the arguments, and the lines of Python that led to the
// call, as far as the recording wants them.
void note_call(timing::Operation& operation, const Call& call);

}  // namespace fg::python
