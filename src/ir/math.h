// Every elementary function as a formula, generic in its value type: the same source is the eager
// kernel (Lanes) and the source of compiled code (Expr), and both give the same bits at one level.
// Nothing here calls libm, except lanes that a formula declares rare (runtime.h).
#pragma once

#include "ir/math_basic.h"
#include "ir/math_erf.h"
#include "ir/math_exp.h"
#include "ir/math_log.h"
#include "ir/math_pow.h"
#include "ir/math_trig.h"

namespace fg::ir {

template <FormulaValue V>
FG_INLINE V rsqrt(const V& x) {
  return 1 / sqrt(x);
}

}  // namespace fg::ir
