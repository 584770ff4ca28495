// Trains a convolutional network that says which shape an image shows.
//   cnn [steps]        (the same in Python: cnn.py)
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace nn = fg::nn;

constexpr int64_t kSize = 16, kCount = 3;
constexpr const char* kShapes[kCount] = {"circle", "square", "diamond"};

// Outlines of shapes somewhere in noisy images, and the number of each shape.
std::pair<fg::Tensor, fg::Tensor> images(int64_t count) {
  fg::Tensor shape = fg::randint(0, kCount, {count});
  fg::Tensor place = fg::arange(kSize, fg::kFloat32);
  fg::Tensor middle = 6 + 4 * fg::rand({2, count, 1, 1});
  fg::Tensor dx = (place.view({1, 1, kSize}) - middle[0]).abs().expand({count, kSize, kSize});
  fg::Tensor dy = (place.view({1, kSize, 1}) - middle[1]).abs().expand({count, kSize, kSize});
  // How far a pixel is from the middle, as each shape counts it: a shape is a circle to itself.
  fg::Tensor far = fg::stack({(dx * dx + dy * dy).sqrt(), fg::maximum(dx, dy), dx + dy}, 1);
  far = far.index({fg::arange(count), shape});
  fg::Tensor radius = 3 + 3 * fg::rand({count, 1, 1});
  fg::Tensor outline = fg::lt((far - radius).abs(), 0.8).to(fg::kFloat32);
  return {(outline + 0.3 * fg::randn({count, kSize, kSize})).unsqueeze(1), shape};
}

// Half the width and height, more channels.
nn::Sequential block(int64_t inputs, int64_t outputs) {
  return nn::Sequential{nn::Conv2d(nn::Conv2dOptions(inputs, outputs, {3}).padding({1})),
                        nn::BatchNorm2d(outputs), nn::ReLU(), nn::MaxPool2d(2)};
}

double mean_of(const fg::Tensor& right) { return right.to(fg::kFloat32).mean().item<double>(); }

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 300;
  fg::manual_seed(0);
  // In braces: C++ makes the parts in the order in which they are written.
  nn::Sequential net{block(1, 8), block(8, 16), nn::Flatten(),
                     nn::Linear(16 * kSize * kSize / 16, kCount)};
  auto loss_of = [net](const fg::Tensor& x, const fg::Tensor& shape) {
    return fg::cross_entropy(net(x), shape);
  };
  auto step = fg::compile_step(loss_of, net, fg::AdamW{.lr = 3e-3});
  for (int i = 0; i < steps; i++) {
    auto [x, shape] = images(64);  // new images at every step
    fg::Tensor loss = step(x, shape);
    if ((i + 1) % std::max(steps / 10, 1) == 0) {
      std::printf("step %4d  loss %.4f\n", i + 1, loss.item<double>());
    }
  }

  // In evaluation BatchNorm uses what it has seen in training, not what is in this batch.
  net->eval();
  auto predict = fg::compile(net);
  auto [x, shape] = images(512);
  fg::NoGradGuard no_grad;
  fg::Tensor right = predict(x).argmax(1).eq(shape);
  for (int64_t i = 0; i < kCount; i++) {
    std::printf("%-8s %.3f\n", kShapes[i], mean_of(right.masked_select(shape.eq(i))));
  }
  std::printf("accuracy %.3f\n", mean_of(right));
  return mean_of(right) > 0.9 ? 0 : 1;
}
