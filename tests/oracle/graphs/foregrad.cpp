#include <foregrad/foregrad.h>

namespace lib = fg;
#define GRAPH {.retain_graph = true, .create_graph = true}
#define UNUSED {.allow_unused = true}
#include "all.h"
