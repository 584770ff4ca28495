#include "ops/index/gather.h"

#include <algorithm>
#include <cstring>

#include "base/pool.h"
#include "ops/kernels/strided.h"

namespace fg::kernels {

static constexpr int64_t kGrain = 16 * 1024;  // elements per piece of work

Offsets::Offsets(const Dims& sizes, const Dims& strides) {
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t size = sizes[i].value(), stride = strides[i].value();
    count_ *= size;
    if (size == 1) continue;
    if (!sizes_.empty() && strides_.back() == stride * size) {
      sizes_.back() *= size;
      strides_.back() = stride;
    } else {
      sizes_.push_back(size);
      strides_.push_back(stride);
    }
  }
  dense_ = sizes_.empty() || (sizes_.size() == 1 && strides_[0] == 1);
}

int64_t Offsets::at(int64_t i) const {
  int64_t offset = 0;
  for (size_t d = sizes_.size(); d-- > 0;) {
    offset += i % sizes_[d] * strides_[d];
    i /= sizes_[d];
  }
  return offset;
}

std::vector<int64_t> Offsets::all() const {
  std::vector<int64_t> out(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; i++) out[static_cast<size_t>(i)] = at(i);
  return out;
}

// Copies do not look at the values: one kernel per item size.
template <class F>
static void with_item(DType dtype, F f) {
  switch (item_size(dtype)) {
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

template <class T>
static void gather_row_range(const Rows& rows, const int64_t* inner, const T* from, T* out,
                             int64_t begin, int64_t end) {
  auto count = static_cast<int64_t>(rows.index.size());
  int64_t width = rows.after.count();
  for (int64_t row = begin; row < end;) {
    int64_t outer = row / count, n = row % count, stop = std::min(count, n + end - row);
    const T* base = from + rows.before.at(outer);
    T* to = out + row * width;
    row += stop - n;
    if (width == 1) {
      for (; n < stop; n++) *to++ = base[rows.index[n]];
    } else if (!inner) {
      for (; n < stop; n++, to += width) {
        std::memcpy(to, base + rows.index[n], static_cast<size_t>(width) * sizeof(T));
      }
    } else {
      for (; n < stop; n++, to += width) {
        const T* at = base + rows.index[n];
        for (int64_t m = 0; m < width; m++) to[m] = at[inner[m]];
      }
    }
  }
}

void gather_rows(const Rows& rows, const Tensor& from, const Tensor& out) {
  int64_t width = rows.after.count();
  int64_t count = rows.before.count() * static_cast<int64_t>(rows.index.size());
  if (count * width == 0) return;
  std::vector<int64_t> inner;
  if (!rows.after.is_dense()) inner = rows.after.all();
  with_item(from.dtype(), [&](auto item) {
    using T = decltype(item);
    pool::parallel_for(count, std::max<int64_t>(kGrain / width, 1), [&](int64_t b, int64_t e) {
      gather_row_range(rows, inner.empty() ? nullptr : inner.data(),
                       static_cast<const T*>(from.data_ptr()), static_cast<T*>(out.data_ptr()), b,
                       e);
    });
  });
}

Lines lines_along(const Tensor& other, const Tensor& index, int64_t axis) {
  if (index.dim() == 0) return {Offsets({}, {}), Offsets({}, {}), 1, 1, index};
  auto part = [&](const Dims& dims, size_t begin, size_t end) {
    return Dims(std::span<const Dim>(dims.begin() + begin, dims.begin() + end));
  };
  auto at = static_cast<size_t>(axis);
  size_t rank = index.sizes().size();
  const Dims strides = other.dim() == 0 ? Dims{1} : other.strides();
  return {Offsets(part(index.sizes(), 0, at), part(strides, 0, at)),
          Offsets(part(index.sizes(), at + 1, rank), part(strides, at + 1, rank)),
          index.sizes()[at].value(), strides[at].value(), index};
}

// Rows are the elements of the index tensor before the dimensions after the axis.
template <class T>
static void gather_line_range(const Lines& lines, const int64_t* inner, const T* from, T* out,
                              int64_t begin, int64_t end) {
  int64_t width = lines.after.count();
  const int64_t* at = lines.index.data_ptr<int64_t>() + begin * width;
  T* to = out + begin * width;
  for (int64_t row = begin; row < end;) {
    int64_t stop = std::min(end, row - row % lines.length + lines.length);
    const T* base = from + lines.before.at(row / lines.length);
    if (width == 1) {
      for (; row < stop; row++) *to++ = base[*at++ * lines.stride];
    } else {
      for (; row < stop; row++) {
        for (int64_t k = 0; k < width; k++) *to++ = base[*at++ * lines.stride + inner[k]];
      }
    }
  }
}

void gather_lines(const Lines& lines, const Tensor& from, const Tensor& out) {
  int64_t width = lines.after.count(), rows = lines.before.count() * lines.length;
  if (rows * width == 0) return;
  std::vector<int64_t> inner = lines.after.all();
  with_item(from.dtype(), [&](auto item) {
    using T = decltype(item);
    pool::parallel_for(rows, std::max<int64_t>(kGrain / width, 1), [&](int64_t b, int64_t e) {
      gather_line_range(lines, inner.data(), static_cast<const T*>(from.data_ptr()),
                        static_cast<T*>(out.data_ptr()), b, e);
    });
  });
}

void zero_elements(const Tensor& out) {
  auto bytes = out.numel() * static_cast<int64_t>(item_size(out.dtype()));
  pool::parallel_for(bytes, 256 * 1024, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(out.data_ptr()) + begin, 0, static_cast<size_t>(end - begin));
  });
}

}  // namespace fg::kernels
