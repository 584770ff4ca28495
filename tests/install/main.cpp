#include <foregrad/foregrad.h>

#include <atomic>
#include <cstdio>

int main() {
  std::atomic<int64_t> sum = 0;
  fg::pool::parallel_for(100, 10, [&](int64_t begin, int64_t end) { sum += end - begin; });
  printf("foregrad %s at level %s counts to %d\n", fg::version(), fg::name(fg::level()),
         static_cast<int>(sum));
  fg::Tensor x = fg::ones({2}).requires_grad_();
  fg::sum(x * 3).backward();
  return sum == 100 && x.grad().equal(fg::full({2}, 3.)) ? 0 : 1;
}
