// Finds the line that some points lie on.
//   line [steps]
#include <foregrad/foregrad.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 500;
  std::printf("foregrad %s, level %s\n", fg::version(), fg::name(fg::level()));

  fg::manual_seed(0);
  fg::Tensor x = fg::rand({100, 1});
  fg::Tensor y = 3 * x - 1 + 0.01 * fg::randn({100, 1});

  fg::nn::Linear line(1, 1);
  auto loss_of = [line](const fg::Tensor& x, const fg::Tensor& y) {
    return fg::mse_loss(line(x), y);
  };
  auto step = fg::compile_step(loss_of, line, fg::AdamW{.lr = 0.1, .weight_decay = 0});
  for (int i = 0; i < steps; i++) step(x, y);

  double slope = line->weight.item<double>(), height = line->bias.item<double>();
  std::printf("y = %.2f x %+.2f\n", slope, height);
  return std::abs(slope - 3) + std::abs(height + 1) < 0.05 ? 0 : 1;
}
