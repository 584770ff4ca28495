// Trains a small network that tells two spirals apart.
//   mlp [steps]        (the same in Python: mlp.py)
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace nn = fg::nn;

// Points on two arms that wind around each other, with noise, and the arm of each.
std::pair<fg::Tensor, fg::Tensor> spirals(int64_t count) {
  fg::Tensor arm = fg::randint(0, 2, {count});
  // The root: as many points outside as inside.
  fg::Tensor turn = fg::rand({count}).sqrt() * (3 * M_PI);
  fg::Tensor angle = turn + arm * M_PI;  // the second arm begins half a turn later
  fg::Tensor points = fg::stack({turn * angle.cos(), turn * angle.sin()}, 1) / 5;
  return {points + 0.02 * fg::randn({count, 2}), arm};
}

double accuracy(const nn::Sequential& net, const fg::Tensor& points, const fg::Tensor& arm) {
  fg::NoGradGuard no_grad;  // nothing is to be differentiated
  return net(points).argmax(1).eq(arm).to(fg::kFloat32).mean().item<double>();
}

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 500;
  fg::manual_seed(0);
  auto [points, arm] = spirals(2000);
  // In braces: C++ makes the layers in the order in which they are written.
  nn::Sequential net{nn::Linear(2, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(),
                     nn::Linear(64, 2)};
  auto loss_of = [net](const fg::Tensor& points, const fg::Tensor& arm) {
    return fg::cross_entropy(net(points), arm);
  };

  // Forward, backward and the update of all parameters become one compiled program.
  auto step = fg::compile_step(loss_of, net, fg::AdamW{.lr = 1e-2});
  for (int i = 0; i < steps; i++) {
    fg::Tensor loss = step(points, arm);
    if ((i + 1) % std::max(steps / 10, 1) == 0) {
      std::printf("step %4d  loss %.4f\n", i + 1, loss.item<double>());
    }
  }

  auto [new_points, new_arm] = spirals(1000);  // new to the network
  double right = accuracy(net, new_points, new_arm);
  std::printf("accuracy %.3f\n", right);
  return right > 0.95 ? 0 : 1;
}
