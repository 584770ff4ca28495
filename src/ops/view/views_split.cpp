// Several parts of a tensor at once: all are views of one node with several outputs.
#include "base/fail.h"
#include "ir/define.h"
#include "ir/record.h"
#include "ops/create/create.h"
#include "ops/rearrange/join.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

// A write into one of several views would leave the others without a history: autograd refuses it,
// also when nothing was recorded yet.
Tensors restricted(const Tensor& self, Tensors parts) {
  if (autograd::current_view_origin() == autograd::ViewOrigin::plain) {
    for (const Tensor& part : parts) {
      autograd::make_view(self, part, autograd::ViewOrigin::multi_output);
    }
  }
  return parts;
}

int64_t checked_axis(const Tensor& self, int64_t dim, const char* who) {
  int64_t axis = wrap_axis(dim, self.sizes().size(), who);
  if (self.dim() == 0) fail("{}: a zero-dim tensor has no dimension to split", who);
  return axis;
}

// ---- unbind

constexpr int64_t kMostParts = 1 << 24;

const auto unbind_entry =
    define(unbind, "The parts of self at every index of a dimension.",
           [](const Tensor& self, int64_t dim) {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "unbind");
             if (self.dim() == 0) {
               fail(ErrorKind::index, "unbind: a zero-dim tensor has no dimension to unbind");
             }
             if (Dim(kMostParts) < self.sizes()[axis]) {
               fail("unbind: dimension {} has {} parts; at most {} are made", axis,
                    self.sizes()[axis].text(), kMostParts);
             }
             Tensors parts;
             for (int64_t i = 0; Dim(i) < self.sizes()[axis]; i++) {
               parts.push_back(select(self, axis, i));
             }
             return restricted(self, std::move(parts));
           })
        .vjp("UnbindBackward0",
             wrt(0, saves::shape(0),
                 [](const Vjp& v, int64_t dim) {
                   Dims part = v.sizes(0);
                   int64_t axis = wrap_axis(dim, part.size(), "unbind");
                   Dim count = part[axis];
                   part.erase(axis);
                   Tensors grads;
                   for (int i = 0; Dim(i) < count; i++) {
                     grads.push_back(v.grad(i).defined() ? v.grad(i) : zeros(part, v.dtype(0)));
                   }
                   return stack(grads, axis);
                 }))
        .samples(
            [] { return Samples{{{sample({2, 3})}}, {{sample({2, 3}), Scalar(-1)}, "columns"}}; });

// ---- split

Tensors slices(const Tensor& self, const Dims& lengths, int64_t axis) {
  Tensors parts;
  Dim at = 0;
  for (Dim length : lengths) {
    parts.push_back(slice(self, axis, at, at + length, 1));
    at += length;
  }
  return restricted(self, std::move(parts));
}

// Parts of one length, the last one what is left.
Dims equal_lengths(Dim size, Dim length, int64_t axis) {
  if (length < 0) fail("split: split_size must be 0 or more, got {}", length.text());
  if (length == 0 && !(size == 0)) {
    fail("split: split_size is 0, but dimension {} has size {}; use at least 1", axis, size.text());
  }
  if (length == 0 || size == 0) return Dims{size};
  Dims lengths;
  for (Dim at = 0; at < size; at += length) lengths.push_back(min(length, size - at));
  return lengths;
}

void check_lengths(const Dims& lengths, Dim size, int64_t axis) {
  Dim total = 0;
  for (Dim length : lengths) {
    if (length < 0) fail("split_with_sizes: sizes must be 0 or more, got {}", text(lengths));
    total += length;
  }
  if (!(total == size)) {
    fail("split_with_sizes: sizes {} add up to {}, but dimension {} has size {}", text(lengths),
         total.text(), axis, size.text());
  }
}

Tensor join_grads(const Vjp& v, const Dims& lengths, int64_t axis) {
  Tensors grads;
  for (size_t i = 0; i < lengths.size(); i++) {
    Dims part = v.sizes(0);
    part[axis] = lengths[i];
    const Tensor& grad = v.grad(static_cast<int>(i));
    grads.push_back(grad.defined() ? grad : zeros(part, v.dtype(0)));
  }
  return cat(grads, axis);
}

const auto split_entry =
    define(split.overload<0>(),
           "Parts of split_size elements along a dimension; the last may be "
           "smaller.",
           [](const Tensor& self, int64_t split_size, int64_t dim) {
             int64_t axis = checked_axis(self, dim, "split");
             return slices(self, equal_lengths(self.sizes()[axis], split_size, axis), axis);
           })
        .vjp("SplitBackward0",
             wrt(0, saves::shape(0),
                 [](const Vjp& v, int64_t split_size, int64_t dim) {
                   int64_t axis = wrap_axis(dim, v.sizes(0).size(), "split");
                   return join_grads(v, equal_lengths(v.sizes(0)[axis], split_size, axis), axis);
                 }))
        .samples([] {
          return Samples{{{sample({5, 2}), Scalar(2)}},
                         {{sample({2, 4}), Scalar(2), Scalar(-1)}, "columns"},
                         {{sample({3}), Scalar(4)}, "one part"}};
        });
const auto split_with_sizes_entry =
    define(split_with_sizes, "Parts of the given sizes along a dimension.",
           [](const Tensor& self, const Dims& split_sizes, int64_t dim) {
             int64_t axis = checked_axis(self, dim, "split_with_sizes");
             check_lengths(split_sizes, self.sizes()[axis], axis);
             return slices(self, split_sizes, axis);
           })
        .vjp("SplitWithSizesBackward0",
             wrt(0, saves::shape(0),
                 [](const Vjp& v, const Dims& split_sizes, int64_t dim) {
                   return join_grads(v, split_sizes, wrap_axis(dim, v.sizes(0).size(), "split"));
                 }))
        .samples([] {
          return Samples{{{sample({5, 2}), Dims{2, 3}}},
                         {{sample({2, 4}), Dims{1, 0, 3}, Scalar(1)}, "empty part"}};
        });
const auto split_sizes_entry =
    define(split.overload<1>(), "Parts of the given sizes along a dimension.",
           [](const Tensor& self, const Dims& split_size, int64_t dim) {
             return split_with_sizes(self, split_size, dim);
           })
        .samples([] { return Samples{{{sample({5, 2}), Dims{2, 3}}}}; });

const auto chunk_entry =
    define(chunk,
           "At most `chunks` parts of equal size along a dimension; the last may be smaller.",
           [](const Tensor& self, int64_t chunks, int64_t dim) {
             int64_t axis = checked_axis(self, dim, "chunk");
             if (chunks <= 0) fail("chunk: chunks must be greater than 0, got {}", chunks);
             Dim size = self.sizes()[axis];
             if (size == 0) {
               return split_with_sizes(self, Dims(static_cast<size_t>(chunks), 0), axis);
             }
             Dim length = (size - 1) / chunks + 1;
             if (length.is_constant()) return split(self, length.value(), axis);
             return split_with_sizes(self, equal_lengths(size, length, axis), axis);
           })
        .samples([] {
          return Samples{{{sample({5, 2}), Scalar(3)}},
                         {{sample({2, 4}), Scalar(2), Scalar(1)}, "columns"}};
        });

}  // namespace

Tensors Tensor::unbind(int64_t dim) const { return fg::unbind(*this, dim); }
Tensors Tensor::split(int64_t split_size, int64_t dim) const {
  return fg::split(*this, split_size, dim);
}
Tensors Tensor::split(const Dims& split_sizes, int64_t dim) const {
  return fg::split(*this, split_sizes, dim);
}
Tensors Tensor::chunk(int64_t chunks, int64_t dim) const { return fg::chunk(*this, chunks, dim); }

}  // namespace fg
