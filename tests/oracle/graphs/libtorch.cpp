#include <torch/torch.h>

namespace lib = torch;
#define GRAPH true, true
#define UNUSED {}, false, true
#include "all.h"
