#include "base/fail.h"

namespace fg {

void raise(ErrorKind kind, std::string message) { throw Error(kind, message); }

}  // namespace fg
