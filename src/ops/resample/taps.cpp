#include "ops/resample/taps.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

using namespace ir;

namespace {

struct TapParams {
  Dims sizes;  // of a channel, for the primitive that makes one
  bool operator==(const TapParams&) const = default;
};

// Sizes [first, second, rest...] with the rest of another tensor.
Dims with_rest(Dim first, Dim second, const Dims& from) {
  Dims result{first, second};
  for (size_t i = 2; i < from.size(); i++) result.push_back(from[i]);
  return result;
}
int64_t rest_of(const Tensor& tensor) {
  int64_t count = 1;
  for (size_t i = 2; i < tensor.sizes().size(); i++) count *= tensor.sizes()[i].value();
  return count;
}

// The operands of a call in dense memory; image and grad are those that it has.
struct Taps {
  int64_t n, channels, taps, places, elements;
  Tensor index;

  Taps(const Tensor& image, const Tensor& grad, const Tensor& weights, const Tensor& given)
      : n(weights.sizes()[1].value()),
        channels((image.defined() ? image : grad).sizes()[1].value()),
        taps(weights.sizes()[0].value()),
        places(rest_of(weights)),
        elements(rest_of(image)),
        index(kernels::as_contiguous(given, kInt64)) {
    const int64_t* at = index.data_ptr<int64_t>();
    for (int64_t i = 0, end = index.numel(); i < end; i++) {
      if (at[i] >= elements) {
        fail("sum_taps: index {} is out of bounds for {} elements", at[i], elements);
      }
    }
  }
  const int64_t* row(int64_t tap, int64_t sample) const {
    return index.data_ptr<int64_t>() + (tap * n + sample) * places;
  }
};

template <class F>
void each_plane(int64_t count, int64_t work, F f) {
  constexpr int64_t kGrain = 16 * 1024;
  pool::parallel_for(count, std::max<int64_t>(kGrain / std::max<int64_t>(work, 1), 1),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; i++) f(i);
                     });
}
template <class F>
void with_float(DType dtype, F f) {
  if (dtype == kFloat32)
    f(float{});
  else
    f(double{});
}

// out[n][c][p] = sum over taps of weight[k][n][p] * x[n][c][index[k][n][p]], taps in order.
template <class T>
void sum_plane(const Taps& t, int64_t plane, const T* x, const T* weight, T* out) {
  const int64_t sample = plane / t.channels;
  x += plane * t.elements;
  out += plane * t.places;
  std::fill_n(out, t.places, T(0));
  for (int64_t k = 0; k < t.taps; k++) {
    const int64_t* at = t.row(k, sample);
    const T* w = weight + (k * t.n + sample) * t.places;
    for (int64_t p = 0; p < t.places; p++) {
      out[p] += w[p] * (at[p] < 0 ? T(0) : x[at[p]]);
    }
  }
}
// x[n][c][index[k][n][p]] += weight[k][n][p] * grad[n][c][p], taps in order.
template <class T>
void spread_plane(const Taps& t, int64_t plane, const T* grad, const T* weight, T* x) {
  const int64_t sample = plane / t.channels;
  x += plane * t.elements;
  grad += plane * t.places;
  std::fill_n(x, t.elements, T(0));
  for (int64_t k = 0; k < t.taps; k++) {
    const int64_t* at = t.row(k, sample);
    const T* w = weight + (k * t.n + sample) * t.places;
    for (int64_t p = 0; p < t.places; p++) {
      if (at[p] >= 0) x[at[p]] += w[p] * grad[p];
    }
  }
}
// weight[k][n][p] = sum over channels of grad[n][c][p] * x[n][c][index[k][n][p]], in order.
template <class T>
void weigh_row(const Taps& t, int64_t row, const T* grad, const T* x, T* weight) {
  const int64_t sample = row % t.n;
  const int64_t* at = t.row(row / t.n, sample);
  weight += row * t.places;
  std::fill_n(weight, t.places, T(0));
  for (int64_t c = 0; c < t.channels; c++) {
    const T* from = x + (sample * t.channels + c) * t.elements;
    const T* g = grad + (sample * t.channels + c) * t.places;
    for (int64_t p = 0; p < t.places; p++) {
      if (at[p] >= 0) weight[p] += g[p] * from[at[p]];
    }
  }
}

void evaluate_sum(Operands inputs, const TapParams&, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor x = kernels::as_contiguous(*inputs[0]), weight = kernels::as_contiguous(*inputs[1]);
  Taps t(x, {}, weight, *inputs[2]);
  with_float(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_plane(t.n * t.channels, t.places * t.taps, [&](int64_t plane) {
      sum_plane(t, plane, x.data_ptr<T>(), weight.data_ptr<T>(), out[0].data_ptr<T>());
    });
  });
}
void evaluate_spread(Operands inputs, const TapParams&, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor grad = kernels::as_contiguous(*inputs[0]), weight = kernels::as_contiguous(*inputs[1]);
  Taps t(out[0], grad, weight, *inputs[2]);
  with_float(grad.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_plane(t.n * t.channels, t.places * t.taps, [&](int64_t plane) {
      spread_plane(t, plane, grad.data_ptr<T>(), weight.data_ptr<T>(), out[0].data_ptr<T>());
    });
  });
}
void evaluate_weights(Operands inputs, const TapParams&, Tensor* out) {
  if (out[0].numel() == 0) return;
  Tensor grad = kernels::as_contiguous(*inputs[0]), x = kernels::as_contiguous(*inputs[1]);
  Taps t(x, grad, out[0], *inputs[2]);
  with_float(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_plane(t.taps * t.n, t.places * t.channels, [&](int64_t row) {
      weigh_row(t, row, grad.data_ptr<T>(), x.data_ptr<T>(), out[0].data_ptr<T>());
    });
  });
}

// ---- demands on graphs from outside, which sum_taps meets

bool alike(const Dims& a, const Dims& b, size_t from) {
  bool same = a.size() == b.size();
  for (size_t i = from; same && i < a.size(); i++) same = a[i] == b[i];
  return same;
}
void require_floats(Operands inputs, bool fits) {
  DType dtype = inputs[0]->dtype();
  ops::demand(fits && (dtype == kFloat32 || dtype == kFloat64) && inputs[1]->dtype() == dtype &&
                  is_integral(inputs[2]->dtype()),
              "sum_taps", "floats [n, c, ...], and weights and indices [taps, n, ...]");
}
void require_sum(Operands inputs, const TapParams&) {
  const Dims &x = inputs[0]->sizes(), &w = inputs[1]->sizes();
  require_floats(inputs, x.size() >= 2 && w.size() >= 2 && x[0] == w[1] && inputs[2]->sizes() == w);
}
void require_spread(Operands inputs, const TapParams& p) {
  const Dims &g = inputs[0]->sizes(), &w = inputs[1]->sizes();
  bool positive = true;
  for (Dim size : p.sizes) positive = positive && size >= 0;
  require_floats(inputs, positive && g.size() >= 2 && alike(g, w, 2) && g[0] == w[1] &&
                             inputs[2]->sizes() == w);
}
void require_weights(Operands inputs, const TapParams&) {
  const Dims &g = inputs[0]->sizes(), &x = inputs[1]->sizes(), &index = inputs[2]->sizes();
  require_floats(inputs, g.size() >= 2 && x.size() >= 2 && g[0] == x[0] && g[1] == x[1] &&
                             alike(g, index, 2) && index[1] == g[0]);
}

// ---- the primitives

Tensor spread(const Tensor& grad, const Tensor& weight, const Tensor& index, const Dims& x);
Tensor weights(const Tensor& grad, const Tensor& x, const Tensor& index);

const Registered sum_taps_p =
    plain_primitive<TapParams,
                    [](Operands inputs, const TapParams&, Meta* out) {
                      const Dims& x = inputs[0]->sizes();
                      out[0].sizes = with_rest(x[0], x[1], inputs[1]->sizes());
                      out[0].dtype = inputs[0]->dtype();
                    },
                    evaluate_sum>("sum_taps", Kind::gather, "ttt")
        .requiring<require_sum>()
        .raising()
        .linear_in({0}, {1})
        .vjp("GridSampler2DBackward0",
             wrt(0, saves::shape(0) | saves::in(1) | saves::in(2),
                 [](const Vjp& v) { return spread(v.grad(), v.in(1), v.in(2), v.sizes(0)); }),
             wrt(1, saves::in(0) | saves::in(2),
                 [](const Vjp& v) { return weights(v.grad(), v.in(0), v.in(2)); }));
const Registered spread_taps_p =
    plain_primitive<TapParams,
                    [](Operands inputs, const TapParams& p, Meta* out) {
                      const Dims& grad = inputs[0]->sizes();
                      out[0].sizes = {grad[0], grad[1]};
                      for (Dim size : p.sizes) out[0].sizes.push_back(size);
                      out[0].dtype = inputs[0]->dtype();
                    },
                    evaluate_spread>("spread_taps", Kind::scatter, "ttt")
        .requiring<require_spread>()
        .raising()
        .linear_in({0}, {1})
        .vjp("SpreadTapsBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v) { return sum_taps(v.grad(), v.in(1), v.in(2)); }),
             wrt(1, saves::in(0) | saves::in(2),
                 [](const Vjp& v) { return weights(v.in(0), v.grad(), v.in(2)); }));
const Registered weigh_taps_p =
    plain_primitive<TapParams,
                    [](Operands inputs, const TapParams&, Meta* out) {
                      out[0].sizes = inputs[2]->sizes();
                      out[0].dtype = inputs[0]->dtype();
                    },
                    evaluate_weights>("weigh_taps", Kind::gather, "ttt")
        .requiring<require_weights>()
        .raising()
        .linear_in({0}, {1})
        .vjp("WeighTapsBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v) { return sum_taps(v.in(1), v.grad(), v.in(2)); }),
             wrt(1, saves::in(0) | saves::shape(1) | saves::in(2),
                 [](const Vjp& v) { return spread(v.in(0), v.grad(), v.in(2), v.sizes(1)); }));

Tensor spread(const Tensor& grad, const Tensor& weight, const Tensor& index, const Dims& x) {
  TapParams p;
  for (size_t i = 2; i < x.size(); i++) p.sizes.push_back(x[i]);
  return spread_taps_p.with(p, grad, weight, index);
}
Tensor weights(const Tensor& grad, const Tensor& x, const Tensor& index) {
  return weigh_taps_p.with({}, grad, x, index);
}

}  // namespace

Tensor sum_taps(const Tensor& x, const Tensor& weight, const Tensor& index) {
  return sum_taps_p.with({}, x, weight, index);
}

}  // namespace fg::ops
