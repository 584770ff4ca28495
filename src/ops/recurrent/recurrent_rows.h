// The formulas of recurrent cells on some rows and some units of a step, forward and backward. Each
// is a struct whose `run` is compiled for every level.
#pragma once

#include "ir/math.h"
#include "ops/kernels/matrix_rows.h"
#include "ops/recurrent/recurrent_kernel.h"
#include "ops/reduce/reduce_rows.h"

namespace fg::kernels {

// 1 / (1 + exp(-x)); beyond the limits it is 0 or 1 to the last bit that counts.
template <class V>
FG_INLINE V gate_sigmoid(const V& x) {
  V limited =
      ir::at_most(ir::at_least(x, ir::by_double(x, -708.0, -87.0)), ir::by_double(x, 708.0, 87.0));
  return 1 / (1 + ir::exp_normal(-limited));
}

// e / (e + 2) with e = exp(2x) - 1.
template <class V>
FG_INLINE V gate_tanh(const V& x) {
  V limited =
      ir::at_most(ir::at_least(x, ir::by_double(x, -20.0, -10.0)), ir::by_double(x, 20.0, 10.0));
  auto parts = ir::exp_parts(limited + limited);
  V power = ir::power_of_two(ir::bits(parts.shifted));
  V e = ir::mad(power, parts.expm1, power - 1);
  return e / (e + 2);
}

template <Level L, class T>
using Numbers = ir::Lanes<T, L>;

// A formula on the columns [0, units) of some rows: `f(row, column, count)`.
template <class F>
FG_INLINE void each_element(int64_t rows, int64_t units, const F& f) {
  for (int64_t i = 0; i < rows; i++) {
    each_group(units, [&](int64_t c, int64_t count) FG_INLINED { f(i, c, count); });
  }
}

// Part `part` of a row that has `hidden` elements in each.
template <Level L, class T>
FG_INLINE auto load_part(Rows<T> rows, int64_t row, int64_t at, int64_t count) {
  return load_group<L>(rows.data + row * rows.stride + at, count);
}
template <Level L, class T>
FG_INLINE auto load_or_zero(Rows<const T> rows, int64_t row, int64_t at, int64_t count) {
  return rows.data ? load_part<L>(rows, row, at, count) : ir::splat<T, L>(T(0));
}
template <Level L, class T>
FG_INLINE void store_part(Rows<T> rows, int64_t row, int64_t at, const Numbers<L, T>& value,
                          int64_t count) {
  store_group<L>(rows.data + row * rows.stride + at, value, count);
}

// Rows of one step from the product on. `kept` has the products where the gates will be; h goes to
// `out` and, with c, to where the next step reads it.
template <class T>
struct CellRows {
  int64_t rows, units, hidden;
  Rows<const T> x;
  const T* bias;
  Rows<T> kept, out, next_h, next_c;
};

template <class T>
struct LstmRows : CellRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    const int64_t h = this->hidden;
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      auto sum = [&](int64_t gate) FG_INLINED {
        return load_part<L>(this->x, r, gate * h + u, count) +
               load_part<L>(this->kept, r, gate * h + u, count);
      };
      auto keep = [&](int64_t gate, const Numbers<L, T>& value)
                      FG_INLINED { store_part<L>(this->kept, r, gate * h + u, value, count); };
      auto i = gate_sigmoid(sum(0)), f = gate_sigmoid(sum(1)), g = gate_tanh(sum(2)),
           o = gate_sigmoid(sum(3));
      keep(0, i), keep(1, f), keep(2, g), keep(3, o);
      auto c = ir::mad(f, load_part<L>(this->kept, r, 4 * h + u, count), i * g);
      auto out = o * gate_tanh(c);
      store_part<L>(this->out, r, u, out, count);
      store_part<L>(this->next_h, r, u, out, count);
      store_part<L>(this->next_c, r, u, c, count);
    });
  }
};

template <class T>
struct GruRows : CellRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    const int64_t h = this->hidden;
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      // Gates of the weight are r, z, n; the product for n is kept beside it.
      auto product = [&](int64_t gate) FG_INLINED {
        auto value = load_part<L>(this->kept, r, (gate == 2 ? 3 : gate) * h + u, count);
        return this->bias ? value + load_group<L>(this->bias + gate * h + u, count) : value;
      };
      auto x = [&](int64_t gate)
                   FG_INLINED { return load_part<L>(this->x, r, gate * h + u, count); };
      auto keep = [&](int64_t part, const Numbers<L, T>& value)
                      FG_INLINED { store_part<L>(this->kept, r, part * h + u, value, count); };
      auto reset = gate_sigmoid(x(0) + product(0)), z = gate_sigmoid(x(1) + product(1)),
           inner = product(2), n = gate_tanh(ir::mad(reset, inner, x(2)));
      keep(0, reset), keep(1, z), keep(2, n), keep(3, inner);
      auto out = ir::mad(z, load_part<L>(this->kept, r, 4 * h + u, count) - n, n);
      store_part<L>(this->out, r, u, out, count);
      store_part<L>(this->next_h, r, u, out, count);
    });
  }
};

template <class T, bool kRelu>
struct PlainRows : CellRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      auto sum = load_part<L>(this->x, r, u, count) + load_part<L>(this->kept, r, u, count);
      auto out = sum;
      if constexpr (kRelu) {
        out = ir::select(sum < 0, ir::like(sum, 0), sum);
      } else {
        out = gate_tanh(sum);
      }
      store_part<L>(this->kept, r, u, out, count);
      store_part<L>(this->out, r, u, out, count);
      store_part<L>(this->next_h, r, u, out, count);
    });
  }
};

// Rows of one step of the backward. The gradient of h' is that of out plus what comes from the step
// after it (`after_h`, null: nothing). For a gru the direct part of the gradient of h goes to d_h.
template <class T>
struct CellBackwardRows {
  int64_t rows, units, hidden;
  Rows<const T> d_out, after_h, after_c, kept;
  Rows<T> d_x, d_product, d_h, d_c;
};

template <class T>
struct LstmBackwardRows : CellBackwardRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    const int64_t h = this->hidden;
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      auto kept = [&](int64_t part)
                      FG_INLINED { return load_part<L>(this->kept, r, part * h + u, count); };
      auto give = [&](int64_t gate, const Numbers<L, T>& value)
                      FG_INLINED { store_part<L>(this->d_x, r, gate * h + u, value, count); };
      auto i = kept(0), f = kept(1), g = kept(2), o = kept(3), c = kept(4);
      auto t = gate_tanh(ir::mad(f, c, i * g));
      auto d_h =
          load_or_zero<L>(this->d_out, r, u, count) + load_or_zero<L>(this->after_h, r, u, count);
      auto d_c = ir::mad(d_h * o, 1 - t * t, load_or_zero<L>(this->after_c, r, u, count));
      give(0, d_c * g * (i * (1 - i)));
      give(1, d_c * c * (f * (1 - f)));
      give(2, d_c * i * (1 - g * g));
      give(3, d_h * t * (o * (1 - o)));
      store_part<L>(this->d_c, r, u, d_c * f, count);
    });
  }
};

template <class T>
struct GruBackwardRows : CellBackwardRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    const int64_t h = this->hidden;
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      auto kept = [&](int64_t part)
                      FG_INLINED { return load_part<L>(this->kept, r, part * h + u, count); };
      auto give = [&](Rows<T> to, int64_t gate, const Numbers<L, T>& value)
                      FG_INLINED { store_part<L>(to, r, gate * h + u, value, count); };
      auto reset = kept(0), z = kept(1), n = kept(2), inner = kept(3), before = kept(4);
      auto d_h =
          load_or_zero<L>(this->d_out, r, u, count) + load_or_zero<L>(this->after_h, r, u, count);
      auto d_z = d_h * (before - n) * (z * (1 - z));
      auto d_n = d_h * (1 - z) * (1 - n * n);
      auto d_reset = d_n * inner * (reset * (1 - reset));
      give(this->d_x, 0, d_reset), give(this->d_x, 1, d_z), give(this->d_x, 2, d_n);
      give(this->d_product, 0, d_reset), give(this->d_product, 1, d_z);
      give(this->d_product, 2, d_n * reset);
      store_part<L>(this->d_h, r, u, d_h * z, count);
    });
  }
};

template <class T, bool kRelu>
struct PlainBackwardRows : CellBackwardRows<T> {
  template <Level L>
  FG_INLINE void run() const {
    each_element(this->rows, this->units, [&](int64_t r, int64_t u, int64_t count) FG_INLINED {
      auto out = load_part<L>(this->kept, r, u, count);
      auto d_h =
          load_or_zero<L>(this->d_out, r, u, count) + load_or_zero<L>(this->after_h, r, u, count);
      if constexpr (kRelu) {
        d_h = ir::select(out > 0, d_h, ir::like(d_h, 0));
      } else {
        d_h = d_h * (1 - out * out);
      }
      store_part<L>(this->d_x, r, u, d_h, count);
    });
  }
};

}  // namespace fg::kernels
