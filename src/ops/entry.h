// The words with which primitives and functions are defined. Unlike `using namespace ir`, this
// leaves out the formulas of ir/math.h: exp is the function of tensors, ir::exp the formula.
#pragma once

#include "ir/define.h"
#include "ops/elementwise/elementwise.h"

namespace fg::ops::entry {

using ir::define;
using ir::define_as;
using ir::FormulaValue;
using ir::Function;
using ir::Kind;
using ir::Meta;
using ir::Operand;
using ir::Operands;
using ir::Registered;
using ir::sample;
using ir::sample_indices;
using ir::sample_mask;
using ir::Samples;
using ir::Shown;
using ir::StandsFor;
using ir::Vjp;
using ir::wrt;
using ir::wrt_all;
using ops::elementwise;
using ops::number;
using ops::Types;
namespace saves = ir::saves;

}  // namespace fg::ops::entry
