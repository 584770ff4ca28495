#include <foregrad/foregrad.h>

#include <atomic>
#include <cstdio>

int main() {
  std::atomic<int64_t> sum = 0;
  fg::pool::parallel_for(100, 10, [&](int64_t begin, int64_t end) { sum += end - begin; });
  printf("foregrad %s at level %s counts to %d\n", fg::version(), fg::name(fg::level()),
         static_cast<int>(sum));
  return sum == 100 ? 0 : 1;
}
