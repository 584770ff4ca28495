#include "ops/sort/sort_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "base/pool.h"

namespace fg::kernels {

namespace {

template <class T>
using KeyOf = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

// Same order as the values; sign and magnitude become one ascending scale.
template <class T>
KeyOf<T> ascending_key(T value) {
  using Key = KeyOf<T>;
  constexpr Key kTop = Key{1} << (sizeof(Key) * 8 - 1);
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? static_cast<Key>(value) ^ kTop : static_cast<Key>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    if (value != value) return ~Key{0};
    Key bits = std::bit_cast<Key>(value == 0 ? 0.0 : value);
    return bits & kTop ? ~bits : bits | kTop;
  } else {
    float number = value;
    if (number != number) return ~Key{0};
    Key bits = std::bit_cast<Key>(number == 0 ? 0.0f : number);
    return bits & kTop ? ~bits : bits | kTop;
  }
}

template <class Key>
struct Item {
  Key key;
  uint32_t index;  // lines of more than 2^32 elements are sorted with Item64
  friend bool operator<(const Item& a, const Item& b) { return a.key < b.key; }
};
template <class Key>
struct LongItem {
  Key key;
  uint64_t index;
  friend bool operator<(const LongItem& a, const LongItem& b) { return a.key < b.key; }
};

// Least significant byte first; bytes that are equal everywhere cost one look.
template <class I>
void radix_sort(I* items, I* scratch, int64_t count) {
  constexpr int kBytes = sizeof(items->key);
  auto histogram = std::make_unique<int64_t[]>(kBytes * 256);
  for (int64_t i = 0; i < count; i++) {
    for (int b = 0; b < kBytes; b++) histogram[b * 256 + (items[i].key >> (8 * b) & 255)]++;
  }
  I *from = items, *to = scratch;
  for (int b = 0; b < kBytes; b++) {
    int64_t* counts = &histogram[b * 256];
    if (counts[from[0].key >> (8 * b) & 255] == count) continue;
    int64_t start = 0;
    for (int digit = 0; digit < 256; digit++) start += std::exchange(counts[digit], start);
    for (int64_t i = 0; i < count; i++) to[counts[from[i].key >> (8 * b) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + count, items);
}

template <class I>
void sort_items(I* items, I* scratch, int64_t count) {
  constexpr int64_t kRadixFrom = 512;
  if (count >= kRadixFrom)
    radix_sort(items, scratch, count);
  else
    std::stable_sort(items, items + count);
}

// The k smallest in order; among equal keys the one that comes first.
template <class I>
void select_items(I* items, I* scratch, int64_t count, int64_t k) {
  if (4 * k >= count) return sort_items(items, scratch, count);
  auto before = [](const I& a, const I& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  };
  if (k <= 32) {
    std::partial_sort(items, items + k, items + count, before);
    return;
  }
  std::nth_element(items, items + k, items + count, before);
  std::sort(items, items + k, before);
}

// The first elements of a line in `self` and in the results.
struct Line {
  int64_t from, to;
};

class LinesAlong {
 public:
  LinesAlong(const Tensor& self, const Tensor& out, int64_t axis) {
    for (int64_t i = 0; i < self.dim(); i++) {
      if (i == axis) continue;
      sizes_.push_back(self.sizes()[i].value());
      from_.push_back(self.strides()[i].value());
      to_.push_back(out.strides()[i].value());
    }
  }
  Line at(int64_t number) const {
    Line line{0, 0};
    for (size_t d = sizes_.size(); d-- > 0;) {
      line.from += number % sizes_[d] * from_[d];
      line.to += number % sizes_[d] * to_[d];
      number /= sizes_[d];
    }
    return line;
  }

 private:
  std::vector<int64_t> sizes_, from_, to_;
};

template <class I, class T>
void order_lines(const Tensor& self, int64_t axis, bool descending, const Tensor& values,
                 const Tensor& indices) {
  bool number = self.dim() == 0;
  int64_t length = number ? 1 : self.sizes()[axis].value(),
          keep = number ? 1 : values.sizes()[axis].value();
  int64_t step = number ? 1 : self.strides()[axis].value(),
          out_step = number ? 1 : values.strides()[axis].value();
  if (values.numel() == 0) return;
  LinesAlong lines(self, values, axis);
  const T* data = static_cast<const T*>(self.data_ptr());
  T* out = static_cast<T*>(values.data_ptr());
  auto* out_index = indices.data_ptr<int64_t>();
  int64_t grain = std::max<int64_t>(2048 / length, 1);
  pool::parallel_for(values.numel() / keep, grain, [&](int64_t begin, int64_t end) {
    auto items = std::make_unique_for_overwrite<I[]>(static_cast<size_t>(2 * length));
    for (int64_t i = begin; i < end; i++) {
      Line line = lines.at(i);
      for (int64_t j = 0; j < length; j++) {
        auto key = ascending_key(data[line.from + j * step]);
        items[j].key = descending ? static_cast<decltype(key)>(~key) : key;
        items[j].index = static_cast<decltype(items[j].index)>(j);
      }
      select_items(items.get(), items.get() + length, length, keep);
      for (int64_t j = 0; j < keep; j++) {
        auto at = static_cast<int64_t>(items[j].index);
        out[line.to + j * out_step] = data[line.from + at * step];
        out_index[line.to + j * out_step] = at;
      }
    }
  });
}

void order_any(const Tensor& self, int64_t axis, bool descending, const Tensor& values,
               const Tensor& indices) {
  bool is_long = self.dim() > 0 && self.sizes()[axis].value() > int64_t{UINT32_MAX};
  visit(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (is_long)
      order_lines<LongItem<KeyOf<T>>, T>(self, axis, descending, values, indices);
    else
      order_lines<Item<KeyOf<T>>, T>(self, axis, descending, values, indices);
  });
}

}  // namespace

void sort_lines(const Tensor& self, int64_t axis, bool descending, const Tensor& values,
                const Tensor& indices) {
  order_any(self, axis, descending, values, indices);
}

void top_of_lines(const Tensor& self, int64_t axis, bool largest, const Tensor& values,
                  const Tensor& indices) {
  order_any(self, axis, largest, values, indices);
}

}  // namespace fg::kernels
