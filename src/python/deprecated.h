// Forms of calls that PyTorch still takes with a warning: a factor by position in front of the
// tensor that it belongs to, as in add(x, 2, y) and addmm(beta, x, alpha, a, b).
#pragma once

#include "python/arguments.h"

namespace fg::python {

// A call in the form of today. Objects are borrowed from the call that it was.
struct Rewritten {
  std::vector<PyObject*> arguments{};  // by position, then those that `names` names
  size_t positional = 0;
  nb::object names{};
  bool method = false;
  const char* form = nullptr;  // of today; null: the call was in no deprecated form

  explicit operator bool() const { return form != nullptr; }
  Call call() const { return {arguments.data(), positional, names.ptr(), method}; }
};

Rewritten without_deprecated_form(const std::string& function, const Call& call);
void warn_of_form(const std::string& function, const Rewritten& rewritten);

}  // namespace fg::python
