#include <foregrad/foregrad.h>

namespace lib = fg;
#include "cases.h"

int main() { bench::run_all(fg::pool::set_num_threads); }
