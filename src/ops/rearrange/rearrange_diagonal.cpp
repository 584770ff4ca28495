// Triangles and diagonals of matrices.
#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/kernels/strided.h"
#include "ops/rearrange/rearrange.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_gradients.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// ---- tril, triu

struct TriangleParams {
  int64_t diagonal;
  bool operator==(const TriangleParams&) const = default;
};

void infer_triangle(const Tensor& self, const char* who, Meta& out) {
  if (self.dim() < 2) {
    fail("{}: expects at least 2 dimensions, but self has sizes {}", who, text(self.sizes()));
  }
  out.sizes = self.sizes();
  out.dtype = self.dtype();
}

// Each row is a part that is kept and zeros: up to the diagonal, or from it on.
void keep_triangle(const Tensor& self, bool lower, int64_t offset, const Tensor& out) {
  if (out.numel() == 0) return;
  Tensor dense = kernels::as_contiguous(self);
  size_t rank = out.sizes().size();
  int64_t rows = out.sizes()[rank - 2].value(), columns = out.sizes()[rank - 1].value();
  int64_t diagonal = std::clamp(offset, -rows, columns);  // farther means the same
  auto item = static_cast<int64_t>(item_size(out.dtype()));
  const char* from = static_cast<const char*>(dense.data_ptr());
  char* to = static_cast<char*>(out.data_ptr());
  int64_t grain = std::max<int64_t>(16 * 1024 / columns, 1);
  pool::parallel_for(out.numel() / columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      int64_t border = std::clamp<int64_t>(i % rows + diagonal + (lower ? 1 : 0), 0, columns);
      int64_t row = i * columns * item, head = border * item, whole = columns * item;
      std::memcpy(to + row, from + row, static_cast<size_t>(whole));
      if (lower)
        std::memset(to + row + head, 0, static_cast<size_t>(whole - head));
      else
        std::memset(to + row, 0, static_cast<size_t>(head));
    }
  });
}

const Registered tril_p =
    plain_primitive<TriangleParams,
                    [](Operands inputs, const TriangleParams&, Meta* out) {
                      infer_triangle(*inputs[0], "tril", out[0]);
                    },
                    [](Operands inputs, const TriangleParams& p, Tensor* out) {
                      keep_triangle(*inputs[0], true, p.diagonal, out[0]);
                    }>("tril", Kind::gather, "t")
        .linear_in({0})
        .vjp("TrilBackward0", wrt(0, saves::nothing, [](const Vjp& v, const TriangleParams& p) {
               return tril(v.grad(), p.diagonal);
             }));
const Registered triu_p =
    plain_primitive<TriangleParams,
                    [](Operands inputs, const TriangleParams&, Meta* out) {
                      infer_triangle(*inputs[0], "triu", out[0]);
                    },
                    [](Operands inputs, const TriangleParams& p, Tensor* out) {
                      keep_triangle(*inputs[0], false, p.diagonal, out[0]);
                    }>("triu", Kind::gather, "t")
        .linear_in({0})
        .vjp("TriuBackward0", wrt(0, saves::nothing, [](const Vjp& v, const TriangleParams& p) {
               return triu(v.grad(), p.diagonal);
             }));

Samples triangles() {
  return {{{sample({3, 3})}},
          {{sample({2, 4}), Scalar(1)}, "above"},
          {{sample({2, 3, 2}), Scalar(-1)}, "batch"}};
}
const auto tril_entry =
    define_as<tril_p>(tril, "The lower triangle of matrices; zeros above the diagonal.")
        .inplace()
        .out()
        .samples(triangles);
const auto triu_entry =
    define_as<triu_p>(triu, "The upper triangle of matrices; zeros below the diagonal.")
        .inplace()
        .out()
        .samples(triangles);

// ---- diag, diag_embed, trace

const auto diagonal_copy_entry =
    define(diagonal_copy, "A copy of the diagonal of two dimensions.",
           [](const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
             return clone(diagonal(self, offset, dim1, dim2));
           })
        .shown(Shown::as_function)
        .vjp("DiagonalBackward0_copy",
             wrt(0, saves::shape(0),
                 [](const Vjp& v, int64_t offset, int64_t dim1, int64_t dim2) {
                   return diagonal_backward(v.grad(), v.sizes(0), offset, dim1, dim2);
                 }))
        .samples(
            [] { return Samples{{{sample({3, 2})}}, {{sample({3, 3}), Scalar(1)}, "above"}}; });

const auto diag_embed_entry =
    define(diag_embed, "Matrices of zeros with the last dimension of self on a diagonal.",
           [](const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
             size_t rank = self.sizes().size() + 1;
             int64_t row = wrap_axis(dim1, rank, "diag_embed");
             int64_t column = wrap_axis(dim2, rank, "diag_embed");
             if (row == column) {
               fail("diag_embed: dim1 and dim2 must be different, got {} and {}", dim1, dim2);
             }
             Dim size = self.dim_size(-1) + (offset < 0 ? -Dim(offset) : Dim(offset));
             Dims sizes = self.sizes();
             sizes.pop_back();
             sizes.insert(std::min(row, column), size);
             sizes.insert(std::max(row, column), size);
             return diagonal_backward(self, sizes, offset, row, column);
           })
        .vjp("DiagEmbedBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, int64_t offset, int64_t dim1, int64_t dim2) {
                   return diagonal(v.grad(), offset, dim1, dim2);
                 }))
        .samples([] {
          return Samples{{{sample({3})}},
                         {{sample({2, 3}), Scalar(-1)}, "below"},
                         {{sample({2, 3}), Scalar(1), Scalar(0), Scalar(2)}, "other dims"}};
        });
const auto diag_entry =
    define(diag, "The diagonal of a matrix, or the matrix with a vector on its diagonal.",
           [](const Tensor& self, int64_t diagonal) {
             if (self.dim() == 1) return diag_embed(self, diagonal);
             if (self.dim() != 2) {
               fail("diag: expects a vector or a matrix, but self has sizes {}",
                    text(self.sizes()));
             }
             return diagonal_copy(self, diagonal);
           })
        .out()
        .samples([] { return Samples{{{sample({3, 2})}}, {{sample({2}), Scalar(1)}, "vector"}}; });
const auto diagflat_entry =
    define(diagflat, "The matrix with all elements of self on its diagonal.",
           [](const Tensor& self, int64_t offset) {
             return diag_embed(reshape(contiguous(self), {-1}), offset);
           })
        .samples([] { return Samples{{{sample({2, 2}), Scalar(-1)}}}; });
const auto trace_entry =
    define(trace, "The sum of the diagonal of a matrix.",
           [](const Tensor& self) {
             if (self.dim() != 2) {
               fail("trace: expects a matrix, but self has sizes {}", text(self.sizes()));
             }
             return sum(diagonal(self));
           })
        .vjp("TraceBackward0", wrt(0, saves::shape(0),
                                   [](const Vjp& v) {
                                     const Dims& sizes = v.sizes(0);
                                     return diagonal_backward(
                                         expand(v.grad(), {min(sizes[0], sizes[1])}), sizes, 0, 0,
                                         1);
                                   }))
        .samples([] { return Samples{{{sample({3, 3})}}, {{sample({2, 4})}, "wide"}}; });

}  // namespace

Tensor Tensor::tril(int64_t diagonal) const { return fg::tril(*this, diagonal); }
Tensor Tensor::triu(int64_t diagonal) const { return fg::triu(*this, diagonal); }

}  // namespace fg
