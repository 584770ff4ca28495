#include "ops/kernels/strided.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/kernels/convert.h"

namespace fg::kernels {

StridedOperand::StridedOperand(const TensorImpl& tensor, const Dims& sizes)
    : data_(tensor.data), item_(static_cast<int64_t>(item_size(tensor.dtype))) {
  contiguous_ = tensor.contiguous && tensor.sizes == sizes;
  single_ = tensor.numel == 1 && !contiguous_;
  if (contiguous_ || single_) return;
  if (sizes.size() > kMaxRank) fail("tensors may have at most {} dimensions", kMaxRank);
  size_t shift = sizes.size() - tensor.sizes.size();
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t size = sizes[i].value();
    if (size == 1) continue;
    bool broadcast = i < shift || tensor.sizes[i - shift] == 1;
    int64_t stride = broadcast ? 0 : tensor.strides[i - shift].value() * item_;
    bool merges = rank_ > 0 && strides_[rank_ - 1] == stride * size;
    if (merges) {
      sizes_[rank_ - 1] *= size;
      strides_[rank_ - 1] = stride;
    } else {
      sizes_[rank_] = size;
      strides_[rank_++] = stride;
    }
  }
  contiguous_ = rank_ == 0 || (rank_ == 1 && strides_[0] == item_);
}

// Calls copy(address, position in the block, length) for every run along the last dimension.
template <class Copy>
void StridedOperand::each_run(int64_t begin, int64_t count, Copy copy) const {
  int64_t index[kMaxRank];
  int64_t rest = begin;
  char* address = data_;
  for (int d = rank_ - 1; d >= 0; d--) {
    index[d] = rest % sizes_[d];
    rest /= sizes_[d];
    address += index[d] * strides_[d];
  }
  int last = rank_ - 1;
  for (int64_t done = 0; done < count;) {
    int64_t length = std::min(sizes_[last] - index[last], count - done);
    copy(address, done, length);
    done += length;
    address += length * strides_[last];
    index[last] += length;
    for (int d = last; d > 0 && index[d] == sizes_[d]; d--) {
      address += strides_[d - 1] - sizes_[d] * strides_[d];
      index[d] = 0;
      index[d - 1]++;
    }
  }
}

// One value many times, a cache line at once: the operand of a channel, or of a number.
template <class T>
static void fill_run(T* to, T value, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  T line[kLine];
  for (T& each : line) each = value;
  int64_t i = 0;
  for (; i + kLine <= count; i += kLine) std::memcpy(to + i, line, sizeof(line));
  for (; i < count; i++) to[i] = value;
}

// Elements backwards, sixteen bytes at once: a flipped row. `from` is the last element in memory.
template <class T>
static void reverse_run(const T* from, T* to, int64_t count) {
  typedef T Part __attribute__((vector_size(16)));
  constexpr int64_t kStep = sizeof(T) == 1 ? 8 : 16 / static_cast<int64_t>(sizeof(T));
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const T* low = from - i - (kStep - 1);
    if constexpr (sizeof(T) == 1) {
      uint64_t bytes;
      std::memcpy(&bytes, low, sizeof(bytes));
      bytes = __builtin_bswap64(bytes);
      std::memcpy(to + i, &bytes, sizeof(bytes));
    } else {
      Part part;
      std::memcpy(&part, low, sizeof(part));
      if constexpr (sizeof(T) == 2)
        part = __builtin_shufflevector(part, part, 7, 6, 5, 4, 3, 2, 1, 0);
      else if constexpr (sizeof(T) == 4)
        part = __builtin_shufflevector(part, part, 3, 2, 1, 0);
      else
        part = __builtin_shufflevector(part, part, 1, 0);
      std::memcpy(to + i, &part, sizeof(part));
    }
  }
  for (; i < count; i++) to[i] = from[-i];
}

template <class T>
static void gather_run(const char* from, int64_t stride, char* block, int64_t count) {
  T* to = reinterpret_cast<T*>(block);
  if (stride == 0) return fill_run(to, *reinterpret_cast<const T*>(from), count);
  if (stride == -static_cast<int64_t>(sizeof(T)))
    return reverse_run(reinterpret_cast<const T*>(from), to, count);
  for (int64_t i = 0; i < count; i++) to[i] = *reinterpret_cast<const T*>(from + i * stride);
}

template <class T>
static void scatter_run(char* to, int64_t stride, const char* block, int64_t count) {
  const T* from = reinterpret_cast<const T*>(block);
  for (int64_t i = 0; i < count; i++) *reinterpret_cast<T*>(to + i * stride) = from[i];
}

template <class F>
static void with_item(int64_t item, F f) {
  switch (item) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

void StridedOperand::gather(int64_t begin, int64_t count, char* block) const {
  if (single_)
    return with_item(item_, [&](auto t) { gather_run<decltype(t)>(data_, 0, block, count); });
  if (contiguous_) {
    std::memcpy(block, data_ + begin * item_, static_cast<size_t>(count * item_));
    return;
  }
  int64_t stride = strides_[rank_ - 1];
  each_run(begin, count, [&](const char* address, int64_t position, int64_t length) {
    char* to = block + position * item_;
    if (stride == item_) {
      std::memcpy(to, address, static_cast<size_t>(length * item_));
    } else {
      with_item(item_, [&](auto t) { gather_run<decltype(t)>(address, stride, to, length); });
    }
  });
}

void StridedOperand::scatter(int64_t begin, int64_t count, const char* block) const {
  if (contiguous_) {
    std::memcpy(data_ + begin * item_, block, static_cast<size_t>(count * item_));
    return;
  }
  if (single_) {
    std::memcpy(data_, block, static_cast<size_t>(item_));
    return;
  }
  int64_t stride = strides_[rank_ - 1];
  each_run(begin, count, [&](char* address, int64_t position, int64_t length) {
    const char* from = block + position * item_;
    if (stride == item_) {
      std::memcpy(address, from, static_cast<size_t>(length * item_));
    } else {
      with_item(item_, [&](auto t) { scatter_run<decltype(t)>(address, stride, from, length); });
    }
  });
}

void copy_elements(const Tensor& to, const Tensor& from) {
  int64_t count = to.numel();
  StridedOperand source(*from.impl(), to.sizes()), target(*to.impl(), to.sizes());
  RowKernel convert = convert_kernel(from.dtype(), to.dtype());
  bool same = from.dtype() == to.dtype();
  pool::parallel_for(count, 16 * kBlock, [&](int64_t begin, int64_t end) {
    if (source.is_contiguous() && target.is_contiguous() && !same) {
      const void* in = source.data() + begin * source.item();
      convert(end - begin, target.data() + begin * target.item(), &in, nullptr);
      return;
    }
    alignas(64) char first[kBlock * 8], second[kBlock * 8];
    for (int64_t i = begin; i < end; i += kBlock) {
      int64_t n = std::min(kBlock, end - i);
      if (same && target.is_contiguous()) {
        source.gather(i, n, target.data() + i * target.item());
        continue;
      }
      source.gather(i, n, first);
      const void* in = first;
      if (!same) convert(n, second, &in, nullptr);
      target.scatter(i, n, same ? first : second);
    }
  });
}

Tensor as_contiguous(const Tensor& tensor, DType dtype) {
  if (tensor.is_contiguous() && tensor.dtype() == dtype) return tensor;
  Tensor copy = empty_tensor(tensor.sizes(), dtype);
  copy_elements(copy, tensor);
  return copy;
}

}  // namespace fg::kernels
