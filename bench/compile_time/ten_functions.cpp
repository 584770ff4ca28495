// A user's file with ten functions: bench/compile_time/run says how long it may take to compile.
#include <foregrad/foregrad.h>

int main() {
  fg::Tensor x = fg::randn({4, 3});
  fg::Tensor w = fg::ones({3, 2}).requires_grad_();
  fg::Tensor y = fg::softmax(fg::matmul(x, w), 1);
  fg::Tensor z = fg::cat({fg::relu(y), fg::exp(y)}, 0);
  fg::Tensor loss = fg::mse_loss(fg::transpose(z, 0, 1).sum({0}, true), fg::zeros({1, 8}));
  loss.backward();
  return w.grad().defined() ? 0 : 1;
}
