// Reading and writing strided tensors in logical order as contiguous blocks. Kernels see only
// contiguous memory; strided operands pass through a block that stays in the first cache.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

inline constexpr int64_t kBlock = 1024;  // elements

// One operand seen through the sizes of the result: broadcast dimensions have stride 0.
class StridedOperand {
 public:
  StridedOperand(const TensorImpl& tensor, const Dims& sizes);

  bool is_contiguous() const { return contiguous_; }
  bool is_single() const { return single_; }  // one element for all
  char* data() const { return data_; }
  int64_t item() const { return item_; }
  // Copies the elements with logical index [begin, begin + count) to or from a block.
  void gather(int64_t begin, int64_t count, char* block) const;
  void scatter(int64_t begin, int64_t count, const char* block) const;

 private:
  template <class Copy>
  void each_run(int64_t begin, int64_t count, Copy copy) const;

  char* data_;
  int64_t item_;
  bool contiguous_, single_;
  // Merged dimensions, outermost first; strides in bytes.
  static constexpr int kMaxRank = 64;
  int rank_ = 0;
  int64_t sizes_[kMaxRank], strides_[kMaxRank];
};

// to = from, elementwise, broadcasting and converting; no versions, no history.
void copy_elements(const Tensor& to, const Tensor& from);
// The elements in logical order as `dtype`; the tensor itself when it is that already.
Tensor as_contiguous(const Tensor& tensor, DType dtype);
inline Tensor as_contiguous(const Tensor& tensor) { return as_contiguous(tensor, tensor.dtype()); }

}  // namespace fg::kernels
