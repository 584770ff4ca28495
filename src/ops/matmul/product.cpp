#include "ops/matmul/product.h"

#include "base/fail.h"
#include "ops/matmul/gemm.h"

namespace fg::ops {

void check_dtypes(const char* who, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) {
    fail("{}: expected operands of the same dtype, got {} and {}; convert one with to()", who,
         name(a.dtype()), name(b.dtype()));
  }
  if (!is_real(a.dtype())) {
    fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to an integer dtype", who,
         name(a.dtype()));
  }
}

void check_ranks(const char* who, const Tensor& a, int64_t rank_a, const Tensor& b,
                 int64_t rank_b) {
  if (a.dim() == rank_a && b.dim() == rank_b) return;
  fail("{}: expected tensors of {} and {} dimensions, got {} x {}", who, rank_a, rank_b,
       text(a.sizes()), text(b.sizes()));
}

void check_inner(const char* who, const Tensor& a, const Tensor& b) {
  Dim inner = b.sizes()[b.dim() > 1 ? b.dim() - 2 : 0];
  if (a.sizes().back() == inner) return;
  fail("{}: inner sizes differ: got {} x {}; the last axis of a must equal the {} of b", who,
       text(a.sizes()), text(b.sizes()), b.dim() > 2 ? "last but one" : "first");
}

void check_product(const char* who, const Tensor& a, int64_t rank_a, const Tensor& b,
                   int64_t rank_b) {
  check_ranks(who, a, rank_a, b, rank_b);
  check_dtypes(who, a, b);
  check_inner(who, a, b);
}

void check_batches(const char* who, const Tensor& a, const Tensor& b) {
  check_product(who, a, 3, b, 3);
  if (a.sizes()[0] == b.sizes()[0]) return;
  fail("{}: batch sizes differ: got {} x {}; use matmul to broadcast", who, text(a.sizes()),
       text(b.sizes()));
}

void require_product(const Tensor& a, const Tensor& b) {
  bool usable = a.dim() >= 2 && (b.dim() == a.dim() || (a.dim() == 2 && b.dim() == 1));
  for (int64_t i = 0; usable && i < b.dim() - 2; i++) usable = a.sizes()[i] == b.sizes()[i];
  if (!usable) check_ranks("a product", a, 2, b, 2);
  if (!usable) fail("a product: batch sizes differ: got {} x {}", text(a.sizes()), text(b.sizes()));
  check_dtypes("a product", a, b);
  check_inner("a product", a, b);
}

Dims product_sizes(const Tensor& a, const Tensor& b) {
  Dims sizes = a.sizes();
  sizes.pop_back();
  if (b.dim() > 1) sizes.push_back(b.sizes().back());
  return sizes;
}

static std::vector<int64_t> batch_part(const Dims& dims) {
  return values(Dims(std::span(dims.data(), dims.size() - 2)));
}

// self as a matrix of m x n: what is repeated has a stride of 0.
static kernels::MatrixView broadcast_view(const Tensor& self, int64_t m, int64_t n) {
  auto stride = [&](int64_t back, int64_t size) {
    const int64_t axis = self.dim() - back;
    return axis >= 0 && self.sizes()[axis].value() == size ? self.strides()[axis].value() : 0;
  };
  return {self.data_ptr(), stride(2, m), stride(1, n)};
}

void multiply(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor* self) {
  auto last = [](const Dims& dims, int64_t back) { return dims[dims.size() - back].value(); };
  const bool rows = a.dim() > 1, columns = b.dim() > 1;
  kernels::MatrixView left{a.data_ptr(), rows ? last(a.strides(), 2) : 0, last(a.strides(), 1)};
  kernels::MatrixView right{b.data_ptr(), last(b.strides(), columns ? 2 : 1),
                            columns ? last(b.strides(), 1) : 1};
  int64_t m = rows ? last(a.sizes(), 2) : 1, n = columns ? last(b.sizes(), 1) : 1;
  kernels::Product product{m, n, last(a.sizes(), 1), left, right, out.data_ptr(), n};
  if (self != nullptr) product.self = broadcast_view(*self, m, n);
  if (a.dim() <= 2) return kernels::gemm(a.dtype(), product);
  auto sizes = batch_part(a.sizes()), a_strides = batch_part(a.strides()),
       b_strides = batch_part(b.strides()), c_strides = batch_part(out.strides());
  kernels::gemm(a.dtype(), product, {sizes, a_strides, b_strides, c_strides});
}

}  // namespace fg::ops
