// Trains a network of two layers on a small regression and draws its loss curve.
//   two_layer_network [steps] [file.svg]
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

// Targets no straight line fits: sin(3 x0) + x1^2.
fg::Tensor target_of(const fg::Tensor& x) {
  fg::Tensor x0 = x.select(1, 0), x1 = x.select(1, 1);
  return (fg::sin(3 * x0) + x1 * x1).unsqueeze(1);
}

struct Network {
  fg::Tensor w1 = (fg::randn({2, 64}) * 0.7).requires_grad_();
  fg::Tensor b1 = fg::zeros({64}).requires_grad_();
  fg::Tensor w2 = (fg::randn({64, 1}) * 0.1).requires_grad_();
  fg::Tensor b2 = fg::zeros({1}).requires_grad_();

  fg::Tensor operator()(const fg::Tensor& x) const {
    return fg::matmul(fg::tanh(fg::matmul(x, w1) + b1), w2) + b2;
  }
  fg::Tensors parameters() const { return {w1, b1, w2, b2}; }
};

void descend(const fg::Tensors& parameters, double rate) {
  fg::NoGradGuard no_grad;
  for (const fg::Tensor& parameter : parameters) {
    parameter.sub_(parameter.grad(), rate);
    parameter.set_grad({});
  }
}

void show_progress(int step, int steps, double loss) {
  int filled = 30 * (step + 1) / steps;
  std::printf("\rstep %4d/%d [%s%s] loss %.5f", step + 1, steps, std::string(filled, '#').c_str(),
              std::string(30 - filled, '.').c_str(), loss);
  std::fflush(stdout);
}

void draw(const std::vector<double>& losses, const std::string& path) {
  constexpr double kWidth = 640, kHeight = 320, kMargin = 40;
  double highest = 0;
  for (double loss : losses) highest = std::max(highest, loss);
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kWidth << " " << kHeight
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
         "fill='white'/>\n<text x='"
      << kMargin << "' y='20'>loss over " << losses.size() << " steps, from " << losses.front()
      << " to " << losses.back()
      << "</text>\n<polyline fill='none' stroke='#2563eb' "
         "stroke-width='1.5' points='";
  for (size_t i = 0; i < losses.size(); i++) {
    double x = kMargin + (kWidth - 2 * kMargin) * double(i) / double(losses.size());
    double y = kHeight - kMargin - (kHeight - 2 * kMargin) * losses[i] / highest;
    svg << x << "," << y << " ";
  }
  svg << "'/>\n<path d='M" << kMargin << " " << kMargin << " V" << kHeight - kMargin << " H"
      << kWidth - kMargin << "' fill='none' stroke='#888'/>\n</svg>\n";
}

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 500;
  std::string path = argc > 2 ? argv[2] : "loss.svg";
  if (steps < 1) {
    std::fprintf(stderr, "two_layer_network: got %d steps; give at least 1\n", steps);
    return 2;
  }
  fg::manual_seed(0);
  fg::Tensor x = fg::rand({256, 2}) * 2 - 1;
  fg::Tensor y = target_of(x);
  Network network;
  std::vector<double> losses;
  for (int step = 0; step < steps; step++) {
    fg::Tensor loss = fg::mse_loss(network(x), y);
    loss.backward();
    descend(network.parameters(), 0.1);
    losses.push_back(loss.item<double>());
    if (step % 10 == 9 || step + 1 == steps) show_progress(step, steps, losses.back());
  }
  draw(losses, path);
  std::printf("\nloss curve written to %s\n", path.c_str());
  return losses.back() < losses.front() ? 0 : 1;
}
