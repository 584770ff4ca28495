#include "tensor/dims.h"

#include <algorithm>
#include <ostream>

#include "base/fail.h"

namespace fg {

void Dims::grow(size_t count) {
  constexpr size_t kMost = size_t{1} << 24;
  if (count > kMost) fail("a list of {} sizes is too long; expected at most {}", count, kMost);
  size_t capacity = std::max<size_t>(count, 2 * capacity_);
  Dim* grown = new Dim[capacity];
  std::copy(begin(), end(), grown);
  if (heap()) delete[] long_;
  long_ = grown;
  capacity_ = static_cast<uint32_t>(capacity);
}

void Dims::assign_long(const Dims& other) {
  size_ = 0;
  assign(other.data(), other.size_);
}

std::string text(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); i++) out += (i ? ", " : "") + dims[i].text();
  return out + "]";
}

std::vector<int64_t> values(const Dims& dims) {
  std::vector<int64_t> out(dims.size());
  for (size_t i = 0; i < dims.size(); i++) out[i] = dims[i].value();
  return out;
}

std::vector<int64_t> Dims::vec() const { return values(*this); }

std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << text(dims); }
std::ostream& operator<<(std::ostream& out, Dim dim) { return out << dim.text(); }

Known known_equal(const Dims& a, const Dims& b) {
  if (a.size() != b.size()) return Known::no;
  Known all = Known::yes;
  for (size_t i = 0; i < a.size(); i++) {
    Known one = known_equal(a[i], b[i]);
    if (one == Known::no) return one;
    if (one == Known::unknown) all = one;
  }
  return all;
}

static Dim careful_product(const Dims& dims) {
  Dim total = 1;
  for (Dim dim : dims) {
    if (dim.is_constant() && dim.value() < 0) {
      fail("sizes {} hold a negative size; sizes must be 0 or more", text(dims));
    }
    if (total.is_constant() && dim.is_constant()) {
      int64_t result;
      if (__builtin_mul_overflow(total.value(), dim.value(), &result)) {
        fail("sizes {} have more elements than 2^63; use smaller sizes", text(dims));
      }
      total = result;
    } else {
      total *= dim;
    }
  }
  return total;
}

Dim product(const Dims& dims) {
  int64_t total = 1;
  for (Dim dim : dims) {
    bool plain = dim.is_constant() && dim.hint() >= 0;
    if (!plain || __builtin_mul_overflow(total, dim.hint(), &total)) return careful_product(dims);
  }
  return total;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides;
  set_contiguous_strides(sizes, strides);
  return strides;
}

[[noreturn, gnu::cold]] static void refuse_strides(const Dims& sizes) {
  fail("sizes {} have a stride of more than 2^63; use smaller sizes", text(sizes));
}

void set_contiguous_strides(const Dims& sizes, Dims& strides) {
  strides.resize(sizes.size());
  const Dim* size = sizes.data();
  Dim* out = strides.data();
  int64_t plain = 1;
  bool wraps = false;  // the last product is the stride of no dimension
  size_t rest = sizes.size();
  for (; rest > 0 && size[rest - 1].is_constant(); rest--) {  // nearly always all
    if (wraps) [[unlikely]]
      refuse_strides(sizes);
    out[rest - 1] = plain;
    wraps = __builtin_mul_overflow(plain, std::max<int64_t>(size[rest - 1].hint(), 1), &plain);
  }
  if (rest == 0) return;
  if (wraps) refuse_strides(sizes);
  Dim stride = plain;
  for (size_t i = rest; i-- > 0;) {
    strides[i] = stride;
    // As PyTorch: an empty dimension counts as one, so that strides stay distinct.
    stride *= max(sizes[i], 1);
  }
}

Dims broadcast(const Dims& a, const Dims& b, const char* who) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); i++) {
    Dim x = longer[i + shift], y = shorter[i];
    if (x == y || y == 1) continue;
    if (x != 1) {
      fail(
          "{}: sizes {} and {} do not broadcast: {} meets {} at dimension {}; they must be equal "
          "or one of them 1",
          who, text(a), text(b), x.text(), y.text(), i + shift);
    }
    out[i + shift] = y;
  }
  return out;
}

bool can_broadcast(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) return false;
  size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); i++) {
    if (!(from[i] == to[i + shift]) && !(from[i] == 1)) return false;
  }
  return true;
}

int64_t wrap_axis(int64_t axis, size_t rank, const char* who) {
  int64_t n = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (axis < -n || axis >= n) {
    fail(ErrorKind::index,
         "{}: dimension {} is out of range; a tensor of {} dimensions has {} to {}", who, axis,
         rank, -n, n - 1);
  }
  return axis < 0 ? axis + n : axis;
}

std::vector<bool> axis_set(const OptDims& axes, size_t rank, const char* who) {
  std::vector<bool> set(rank, !axes || axes->empty());
  if (!axes) return set;
  for (Dim axis : *axes) {
    int64_t i = wrap_axis(axis.value(), rank, who);
    if (rank == 0) continue;
    if (set[i]) fail("{}: dimension {} appears twice in {}; name each once", who, i, text(*axes));
    set[i] = true;
  }
  return set;
}

}  // namespace fg
