#include <torch/torch.h>

namespace lib = torch;
#include "cases.h"

int main() {
  bench::run_all([](int threads) { torch::set_num_threads(threads); });
}
