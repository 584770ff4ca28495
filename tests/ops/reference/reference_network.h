// Slow references of the functions of networks.
#pragma once

#include <map>
#include <string>

#include "tests/ops/reference/reference_array.h"

namespace fg::table {

// Null if there is none for this function.
const Compute* find_network_reference(const std::string& name);

}  // namespace fg::table
