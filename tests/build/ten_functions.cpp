// A user's file with ten calls; compile_time.py holds its compile time down.
#include <foregrad/foregrad.h>

#include <cstdio>

int main() {
  fg::DType dtype = fg::promote(fg::kFloat16, fg::kInt64);
  bool floating = fg::is_floating(dtype), integral = fg::is_integral(dtype);
  bool with_sign = fg::is_signed(dtype), castable = fg::can_cast(dtype, fg::kFloat);
  size_t size = fg::item_size(dtype);
  fg::set_default_dtype(fg::default_dtype());
  fg::pool::parallel_for(10, 1, [](int64_t, int64_t) {});
  printf("%s %s %d%d%d%d %zu\n", fg::version(), fg::name(fg::level()), floating, integral,
         with_sign, castable, size);
}
