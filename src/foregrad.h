// The one header of the library's users.
#pragma once

#include "base/error.h"
#include "base/level.h"
#include "base/pool.h"
#include "base/version.h"
#include "tensor/dtype.h"
