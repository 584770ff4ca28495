// A function with a gradient of its own: Kepler's equation, solved and differentiated.
//   custom_op [steps]        (the same in Python: custom_op.py)
//
// The place of a planet on its orbit follows from the angle E with  E - e sin(E) = m,  where m
// grows with time and e says how long the ellipse is. There is no formula for E: Newton's method
// finds it. To differentiate that loop would be slow and pointless, since the equation itself says
// how E changes:
//
//   dE/dm = 1 / (1 - e cos E)        dE/de = sin E / (1 - e cos E)
//
// So the loop becomes a function whose backward is these two lines. With it the shape of an orbit
// is found from where a planet was seen.
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using fg::Tensor;

struct Kepler : fg::autograd::Function<Kepler> {
  static Tensor forward(fg::autograd::AutogradContext* ctx, const Tensor& m, const Tensor& e) {
    Tensor angle = m + e * m.sin();
    for (int i = 0; i < 8; i++) {  // nothing in here is recorded
      angle = angle - (angle - e * angle.sin() - m) / (1 - e * angle.cos());
    }
    ctx->save_for_backward({angle, e});
    return angle;
  }
  static fg::Tensors backward(fg::autograd::AutogradContext* ctx, const fg::Tensors& grads) {
    fg::Tensors saved = ctx->get_saved_variables();
    Tensor angle = saved[0], e = saved[1];
    Tensor by_m = grads[0] / (1 - e * angle.cos());
    return {by_m, (by_m * angle.sin()).sum()};  // one e for all m: gradients add up
  }
};

// x and y at some times of an orbit that takes one unit of time.
Tensor places(const Tensor& time, const Tensor& e, const Tensor& start) {
  Tensor angle = Kepler::apply(2 * M_PI * time + start, e);
  return fg::stack({angle.cos() - e, (1 - e * e).sqrt() * angle.sin()});
}

// Compares gradients and second ones with finite differences; a mismatch is an error.
void check() {
  Tensor m = fg::tensor({0.5, 2.0, 4.0}, fg::kFloat64).requires_grad_();
  Tensor e = fg::tensor(0.6, fg::kFloat64).requires_grad_();
  auto kepler = [](const fg::Tensors& in) { return fg::Tensors{Kepler::apply(in[0], in[1])}; };
  fg::autograd::gradcheck(kepler, {m, e});
  fg::autograd::gradgradcheck(kepler, {m, e});
  std::printf("gradients agree with finite differences\n");
}

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 300;
  check();
  fg::manual_seed(0);
  Tensor time = fg::rand({200});
  Tensor seen = places(time, fg::tensor(0.6), fg::tensor(0.3)) + 0.01 * fg::randn({2, 200});

  // The unknowns; e stays between 0 and 1 as a sigmoid.
  Tensor shape = fg::zeros({}).requires_grad_(), start = fg::zeros({}).requires_grad_();
  auto loss_of = [&](const Tensor& time, const Tensor& seen) {
    return (places(time, shape.sigmoid(), start) - seen).square().mean();
  };
  auto step = fg::compile_step(loss_of, fg::Tensors{shape, start},
                               fg::AdamW{.lr = 0.05, .weight_decay = 0}, {.fullgraph = true});
  for (int i = 0; i < steps; i++) {
    Tensor loss = step(time, seen);
    if ((i + 1) % std::max(steps / 10, 1) == 0) {
      std::printf("step %4d  loss %.6f  e %.4f\n", i + 1, loss.item<double>(),
                  shape.sigmoid().item<double>());
    }
  }
  double error = std::abs(shape.sigmoid().item<double>() - 0.6);
  std::printf("error %.4f\n", error);
  return error < 0.01 ? 0 : 1;
}
