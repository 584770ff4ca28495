#include "ops/index/indexing.h"

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/index/index.h"
#include "ops/view/views.h"

namespace fg {

namespace {

using Kind = TensorIndex::Kind;

bool is_mask(const Tensor& tensor) { return tensor.dtype() == kBool || tensor.dtype() == kUInt8; }

// Dimensions of the tensor that the indices use up; "..." stands for the others.
int64_t dims_used(const std::vector<TensorIndex>& indices) {
  int64_t used = 0;
  for (const TensorIndex& index : indices) {
    if (index.kind == Kind::integer || index.kind == Kind::slice) used++;
    if (index.kind == Kind::tensor) index.tensor.check_defined("index");
    if (index.kind == Kind::tensor) used += is_mask(index.tensor) ? index.tensor.dim() : 1;
  }
  return used;
}

// A view by the simple parts of an index; `tensors` are the index tensors for its dimensions.
struct Sliced {
  Tensor part;
  Tensors tensors;
};

class Slicer {
 public:
  explicit Slicer(const Tensor& self) : result_{self, {}} {}

  void apply(const TensorIndex& index, int64_t skipped) {
    Tensor& part = result_.part;
    switch (index.kind) {
      case Kind::integer:
        select(index.integer);
        break;
      case Kind::slice:
        if (!is_whole(index.slice)) {
          part = part.slice(dim_, index.slice.start, index.slice.stop, index.slice.step);
        }
        dim_++;
        source_dim_++;
        break;
      case Kind::none:
        part = unsqueeze(part, dim_++);
        break;
      case Kind::ellipsis:
        dim_ += skipped;
        source_dim_ += skipped;
        break;
      case Kind::tensor:
        apply_tensor(index.tensor);
        break;
    }
  }
  Sliced take() { return std::move(result_); }

 private:
  // A dimension that stays as it is takes no view.
  bool is_whole(const Slice& slice) const {
    if (dim_ >= result_.part.dim() || slice.step != 1) return false;
    bool to_end = !slice.stop || result_.part.sizes()[dim_] <= Dim::bound(*slice.stop);
    return slice.start.value_or(0) == 0 && to_end;
  }
  void select(int64_t index) {
    Dim size = result_.part.sizes()[dim_];
    if (Dim::bound(index) < -size || Dim::bound(index) >= size) {
      fail(ErrorKind::index, "index: index {} is out of bounds for dimension {} with size {}",
           index, source_dim_, size.text());
    }
    result_.part = fg::select(result_.part, dim_, index);
    source_dim_++;
  }
  void apply_tensor(const Tensor& index) {
    if (index.dim() > 0 || is_floating(index.dtype())) return keep(index);
    if (!is_mask(index)) return select(index.item<int64_t>());
    // A single bool keeps everything, or nothing, of a new dimension.
    result_.part = unsqueeze(result_.part, dim_);
    source_dim_--;  // the new one is none of the tensor's
    keep(empty_or_zero(index.item<bool>()));
  }
  static Tensor empty_or_zero(bool keep_all) {
    return tensor(std::vector<int64_t>(keep_all ? 1 : 0, 0));
  }
  // Undefined entries of the list stand for one dimension each, a mask for as many as it has.
  void keep(const Tensor& index) {
    int64_t width = is_mask(index) ? index.dim() : 1;
    result_.tensors.resize(static_cast<size_t>(dim_ - shift_));
    result_.tensors.push_back(index);
    dim_ += width;
    source_dim_ += width;
    shift_ += width - 1;
  }

  Sliced result_;
  int64_t dim_ = 0, shift_ = 0;  // shift: dimensions that masks took beyond one each
  int64_t source_dim_ = 0;       // of the tensor that was indexed, for messages
};

Sliced apply_slices(const Tensor& self, const std::vector<TensorIndex>& indices) {
  self.check_defined("index");
  int64_t skipped = self.dim() - dims_used(indices);
  if (skipped < 0) {
    fail(ErrorKind::index, "index: too many indices for a tensor of {} dimensions", self.dim());
  }
  Slicer slicer(self);
  for (const TensorIndex& index : indices) slicer.apply(index, skipped);
  return slicer.take();
}

// Without the leading dimensions of size one that `part` has no place for.
Tensor without_leading_ones(const Tensor& value, int64_t rank) {
  Tensor result = value;
  while (result.dim() > rank && result.sizes()[0] == 1) result = squeeze(result, 0);
  return result;
}

}  // namespace

Tensor get_item(const Tensor& self, const std::vector<TensorIndex>& indices) {
  if (indices.size() == 1 && indices[0].kind == Kind::slice) {  // as PyTorch: a view in any case
    const Slice& slice = indices[0].slice;
    return self.slice(0, slice.start, slice.stop, slice.step);
  }
  Sliced sliced = apply_slices(self, indices);
  if (!sliced.tensors.empty()) return index(sliced.part, sliced.tensors);
  return sliced.part.is_same(self) ? alias_of(self) : sliced.part;
}

void set_item(const Tensor& self, const std::vector<TensorIndex>& indices, const Tensor& value) {
  Sliced sliced = apply_slices(self, indices);
  if (sliced.tensors.empty()) {
    copy_(sliced.part, without_leading_ones(value, sliced.part.dim()));
  } else {
    index_put_(sliced.part, sliced.tensors, without_leading_ones(value, 0));
  }
}

Tensor Tensor::index(const std::vector<TensorIndex>& indices) const {
  return get_item(*this, indices);
}
Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, const Tensor& value) const {
  return set_item(*this, indices, value), itself();
}
Tensor Tensor::operator[](int64_t index) const {
  check_defined("index");
  if (dim() == 0) {
    fail(ErrorKind::index,
         "index: a zero-dim tensor has no dimension to index; use item() for its number");
  }
  return fg::select(*this, 0, index);
}

}  // namespace fg
