// The library's version, as `foregrad --version` and the CMake package say it.
#pragma once

namespace fg {

const char* version();

}  // namespace fg
