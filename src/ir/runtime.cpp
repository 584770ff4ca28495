#include "ir/runtime.h"

#include <cmath>

#include "ir/runtime_special.h"

namespace fg::ir {
namespace {

struct NamedFunction {
  const char* name;
  RuntimeFunction function;
};
constexpr NamedFunction kFunctions[] = {
    {"sin", [](double x, double) { return std::sin(x); }},
    {"cos", [](double x, double) { return std::cos(x); }},
    {"tan", [](double x, double) { return std::tan(x); }},
    {"fmod", [](double x, double y) { return std::fmod(x, y); }},
    {"lgamma", [](double x, double) { return special::log_gamma(x); }},
    {"digamma", [](double x, double) { return special::digamma(x); }},
    {"polygamma", special::polygamma},
    {"zeta", special::zeta},
    {"gammainc", special::gammainc},
    {"gammaincc", special::gammaincc},
    {"gamma_slope", special::gamma_slope},
    {"i0", [](double x, double) { return special::i0(x); }},
    {"i0e", [](double x, double) { return special::i0e(x); }},
    {"i1", [](double x, double) { return special::i1(x); }},
    {"i1e", [](double x, double) { return special::i1e(x); }},
};
static_assert(sizeof(kFunctions) / sizeof(NamedFunction) == static_cast<int>(Runtime::count));

}  // namespace

RuntimeFunction runtime_function(Runtime which) {
  return kFunctions[static_cast<int>(which)].function;
}
const char* name(Runtime which) { return kFunctions[static_cast<int>(which)].name; }

}  // namespace fg::ir
