// References of matrix products and convolutions.
#include "tests/ops/reference/reference_array.h"

namespace fg::table {

// The last two dimensions multiplied, what is before them broadcast or equal.
Array multiply(Array a, Array b) {
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a.sizes.insert(a.sizes.begin(), 1);
  if (column) b.sizes.push_back(1);
  int64_t m = a.sizes[a.sizes.size() - 2], k = a.sizes.back(), n = b.sizes.back();
  Array batch_a(Sizes(a.sizes.begin(), a.sizes.end() - 2)),
      batch_b(Sizes(b.sizes.begin(), b.sizes.end() - 2));
  Sizes sizes = combine(batch_a, batch_b, [](double, double) { return 0.0; }).sizes;
  sizes.insert(sizes.end(), {m, n});
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) {
    long double sum = 0;
    Sizes in_a = i, in_b = i;
    for (int64_t j = 0; j < k; j++) {
      in_a.back() = j;
      in_b[i.size() - 2] = j;
      sum += static_cast<long double>(a.broadcast(in_a)) * b.broadcast(in_b);
    }
    out[i] = static_cast<double>(sum);
  });
  if (column) out.sizes.pop_back();
  if (row) out.sizes.erase(out.sizes.end() - (column ? 1 : 2));
  return out;
}

static Array transposed(const Array& x) {
  if (x.rank() < 2) return x;
  Sizes sizes{x.sizes[1], x.sizes[0]};
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) { out[i] = x[{i[1], i[0]}]; });
  return out;
}

Array linear(const Call& call) {
  Array out = multiply(call.first(), transposed(call.second()));
  return call.has("bias")
             ? combine(out, call.array("bias"), [](double a, double b) { return a + b; })
             : out;
}

Compute add_product(const char* left, const char* right) {
  return [=](const Call& call) {
    double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
    return combine(multiply(call.array(left), call.array(right)), call.first(),
                   [=](double p, double x) { return alpha * p + (beta == 0 ? 0 : beta * x); });
  };
}

// ---- convolution: any number of spatial dimensions

static int64_t entry(const Sizes& list, size_t d) { return list.size() == 1 ? list[0] : list[d]; }

Array convolve(const Call& call) {
  Array x = call.first(), w = call.array("weight");
  size_t spatial = w.sizes.size() - 2;
  bool single = x.sizes.size() == spatial + 1;
  if (single) x.sizes.insert(x.sizes.begin(), 1);
  Sizes stride = call.list("stride", {1}), padding = call.list("padding", {0}),
        dilation = call.list("dilation", {1});
  int64_t groups = call.integer("groups", 1), per_group = w.sizes[0] / groups;
  Sizes sizes{x.sizes[0], w.sizes[0]};
  for (size_t d = 0; d < spatial; d++) {
    int64_t reach = entry(dilation, d) * (w.sizes[d + 2] - 1) + 1;
    sizes.push_back((x.sizes[d + 2] + 2 * entry(padding, d) - reach) / entry(stride, d) + 1);
  }
  Array out(sizes);
  Sizes taps(w.sizes.begin() + 1, w.sizes.end());
  each_index(sizes, [&](const Sizes& i) {
    long double sum = call.has("bias") ? call.array("bias")[{i[1]}] : 0;
    each_index(taps, [&](const Sizes& tap) {
      Sizes in{i[0], i[1] / per_group * taps[0] + tap[0]}, weight{i[1], tap[0]};
      for (size_t d = 0; d < spatial; d++) {
        int64_t at =
            i[d + 2] * entry(stride, d) - entry(padding, d) + tap[d + 1] * entry(dilation, d);
        if (at < 0 || at >= x.sizes[d + 2]) return;
        in.push_back(at);
        weight.push_back(tap[d + 1]);
      }
      sum += static_cast<long double>(x[in]) * w[weight];
    });
    out[i] = static_cast<double>(sum);
  });
  if (single) out.sizes.erase(out.sizes.begin());
  return out;
}

}  // namespace fg::table
