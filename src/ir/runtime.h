// Functions that a formula calls for the few lanes its fast path cannot serve (huge arguments of
// sin, fmod of distant operands), or for every lane where no vector form pays off (lgamma).
// All worlds (vector lanes, the interpreter, compiled code) call the very same function.
#pragma once

#include <cstdint>

namespace fg::ir {

enum class Runtime : uint8_t {
  sin,
  cos,
  tan,
  fmod,
  lgamma,
  digamma,
  polygamma,  // of (order, x)
  zeta,       // of (s, q): the Hurwitz zeta function
  gammainc,   // of (a, x), as the next two
  gammaincc,
  gamma_slope,  // by a, of a gamma-distributed x
  i0,
  i0e,
  i1,
  i1e,
  count
};

// Unary functions ignore the second operand. For f32 the result is rounded to float by the caller.
using RuntimeFunction = double (*)(double, double);
RuntimeFunction runtime_function(Runtime which);
const char* name(Runtime which);

}  // namespace fg::ir
