#include "base/version.h"

namespace fg {

const char* version() { return FOREGRAD_VERSION; }

}  // namespace fg
