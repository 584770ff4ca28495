// The header for programs that inspect captured functions: graphs, running them, own backends.
// <foregrad/foregrad.h> is enough for calling and compiling.
#pragma once

#include "foregrad.h"

#pragma GCC visibility push(default)

#include "capture/line.h"
#include "compile/graphs.h"
#include "ir/picture.h"

#pragma GCC visibility pop
