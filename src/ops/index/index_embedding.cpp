// Rows of a table, and the gradient of the table.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/view/view_gradients.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

// The gradient of each looked-up row, divided by how often that row was looked up.
Tensor scaled_by_frequency(const Tensor& grad, const Tensor& indices, Dim rows) {
  Tensor ones_at = ones(indices.sizes(), grad.dtype());
  Tensor counts = ops::put_rows({}, {indices}, ones_at, {{0, false}, true, {rows}});
  return div(grad, unsqueeze(ops::take_rows(counts, {indices}, {0, false}), -1));
}

// The row that stands for padding gets no gradient.
Tensor without_row(const Tensor& table, int64_t row) {
  if (row < 0) return table;
  return index_fill_number(table, 0, tensor(std::vector<int64_t>{row}), Scalar(0));
}

const auto embedding_entry =
    define(embedding, "The rows of weight at the given indices.",
           [](const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
             if (weight.dim() != 2) {
               fail("embedding: weight must be a matrix, got sizes {}", text(weight.sizes()));
             }
             if (sparse) fail("embedding: sparse gradients are not supported; use sparse=False");
             return ops::take_rows(weight, {ops::as_positions(indices, "embedding")}, {0, false});
           })
        .vjp("EmbeddingBackward0",
             wrt(0, saves::shape(0) | saves::in(1),
                 [](const Vjp& v, int64_t padding_idx, bool scale_grad_by_freq, bool) {
                   return embedding_dense_backward(v.grad(), v.in(1), v.sizes(0)[0], padding_idx,
                                                   scale_grad_by_freq);
                 }))
        .samples([] {
          return Samples{
              {{sample({4, 3}), sample_indices({2, 2}, 4)}},
              {{sample({4, 3}), sample_indices({5}, 4), Scalar(3)}, "padding", false, false},
              {{sample({4, 3}), sample_indices({6}, 4), Scalar(-1), Scalar(true)},
               "scaled",
               false,
               false}};
        });
const auto embedding_backward_entry =
    define(embedding_dense_backward, "The gradient of embedding: the rows of grad_output summed.",
           [](const Tensor& grad, const Tensor& indices, Dim num_weights, int64_t padding_idx,
              bool scale_grad_by_freq) {
             Tensor at = ops::as_positions(indices, "embedding_dense_backward");
             Dims expected = at.sizes();
             expected.push_back(grad.dim_size(-1));
             ops::check_grad_sizes(grad, expected, "embedding_dense_backward");
             Tensor rows = scale_grad_by_freq ? scaled_by_frequency(grad, at, num_weights) : grad;
             Dims sizes{num_weights, grad.dim_size(-1)};
             return without_row(ops::put_rows({}, {at}, rows, {{0, false}, true, sizes}),
                                padding_idx);
           })
        .shown(Shown::nowhere)
        .vjp("EmbeddingDenseBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, Dim num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
                   Tensor rows = embedding(without_row(v.grad(), padding_idx), v.in(1));
                   return scale_grad_by_freq ? scaled_by_frequency(rows, v.in(1), num_weights)
                                             : rows;
                 }))
        .samples([] {
          return Samples{
              {{sample({5, 2}), sample_indices({5}, 4), Scalar(4), Scalar(-1), Scalar(false)}},
              {{sample({5, 2}), sample_indices({5}, 4), Scalar(4), Scalar(1), Scalar(true)},
               "padding, scaled"}};
        });

}  // namespace
}  // namespace fg
