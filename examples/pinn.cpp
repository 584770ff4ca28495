// Solves a differential equation by training a network: Poisson's, on a square.
//   pinn [steps]        (the same in Python: pinn.py)
//
//   u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y)   inside,   u = 0 at the border
//
// The network gets no values of u to learn from, only the equation: its loss is how far the
// network's own second derivatives are from the right side. The training step differentiates that
// once more, by the parameters; all three derivatives are in one compiled program.
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace nn = fg::nn;
using fg::Tensor;

// u(x, y): a network times something that is 0 at the border and 1 in the middle.
struct FieldImpl : nn::Module {
  Tensor forward(const Tensor& x, const Tensor& y) const {
    Tensor inside = 16 * x * (1 - x) * y * (1 - y);
    return inside * net(fg::stack({x, y}, 1)).squeeze(1);
  }

  nn::Sequential net =
      register_module("net", nn::Sequential{nn::Linear(2, 32), nn::Tanh(), nn::Linear(32, 32),
                                            nn::Tanh(), nn::Linear(32, 1)});
};
FG_MODULE(Field);

// The second derivative of each u by its x: a gradient of a gradient.
Tensor second(const Tensor& u, const Tensor& x) {
  Tensor first = fg::autograd::grad({u.sum()}, {x}, {}, {.create_graph = true})[0];
  return fg::autograd::grad({first.sum()}, {x}, {}, {.create_graph = true})[0];
}

Tensor exact(const Tensor& x, const Tensor& y) { return (M_PI * x).sin() * (M_PI * y).sin(); }

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 1000;
  fg::manual_seed(0);
  Field field;
  auto loss_of = [field](const Tensor& at_x, const Tensor& at_y) {
    Tensor x = at_x.detach().requires_grad_(), y = at_y.detach().requires_grad_();
    Tensor u = field(x, y);
    Tensor u_xx = second(u, x), u_yy = second(u, y);
    Tensor residual = u_xx + u_yy + 2 * M_PI * M_PI * exact(x, y);
    return residual.square().mean();
  };

  auto step = fg::compile_step(loss_of, field, fg::AdamW{.lr = 5e-3, .weight_decay = 0},
                               {.fullgraph = true});
  for (int i = 0; i < steps; i++) {
    step.set_lr(5e-3 * 0.5 * (1 + std::cos(M_PI * i / steps)));  // captures nothing anew
    Tensor x = fg::rand({256}), y = fg::rand({256});             // other points each time
    Tensor loss = step(x, y);
    if ((i + 1) % std::max(steps / 10, 1) == 0) {
      std::printf("step %4d  loss %.5f\n", i + 1, loss.item<double>());
    }
  }

  fg::NoGradGuard no_grad;
  Tensor x = fg::rand({1000}), y = fg::rand({1000});
  double error = (field(x, y) - exact(x, y)).abs().max().item<double>();
  std::printf("error %.4f\n", error);
  return error < 0.05 ? 0 : 1;
}
