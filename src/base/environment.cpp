#include "base/environment.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace fg {

bool has_foreign_rights() { return getauxval(AT_SECURE) != 0; }

const char* environment(const char* name) {
  return has_foreign_rights() ? nullptr : std::getenv(name);
}

}  // namespace fg
