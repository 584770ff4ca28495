// Python functions and methods, made from the op table: no function has code of its own here.
#pragma once

#include "python/arguments.h"

namespace fg::python {

enum class Form : uint8_t { plain, inplace };

// Calls a function by its overloads; a new reference.
PyObject* call(const OverloadSet& set, Form form, const Call& arguments);

// The overloads of a name; null when the table has none. The table lives as long as the process.
const OverloadSet* find_overloads(std::string_view name);

// Adds every function to the module `functions` and every method to the Tensor type.
void add_functions(nb::module_& functions);

}  // namespace fg::python
