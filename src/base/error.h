// Errors: one sentence with the function, the value that came, the expected one, and the remedy.
// `kind` tells a user's mistake from others and selects the Python exception of a binding.
#pragma once

#include <stdexcept>
#include <string>

namespace fg {

enum class ErrorKind : uint8_t {
  runtime,
  value,
  type,
  index,
  not_implemented,
  memory,
  internal,
  linalg  // a matrix without the factorisation or inverse that was asked for
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace fg
