// Conversion kernels between every pair of dtypes.
#pragma once

#include "ops/kernels/row.h"

namespace fg::kernels {

RowKernel convert_kernel(DType from, DType to);

}  // namespace fg::kernels
