// Slow references for the functions of the table: plain loops in double, written from the
// definition and sharing nothing with the library's kernels.
#pragma once

#include "tests/ops/table/table_cases.h"

namespace fg::table {

// The results, or the first few of them; all floating arguments are float64.
using Reference = std::function<Tensors(const Arguments&)>;
// Empty if there is none for this function.
Reference find_reference(const FunctionInfo& info);

}  // namespace fg::table
