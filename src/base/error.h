// Errors: one sentence that says who, what came, what was expected, what to do.
// `kind` says whose fault it is and which Python exception a binding raises.
#pragma once

#include <stdexcept>
#include <string>

namespace fg {

enum class ErrorKind : uint8_t { runtime, value, type, index, not_implemented, memory, internal };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace fg
