#include "tensor/impl.h"

#include "tensor/allocator.h"
#include "tensor/geometry.h"
#include "tensor/modes.h"

namespace fg {

constinit thread_local Modes modes;
constinit thread_local GraphCounters graph_counters;

void* TensorImpl::operator new(size_t bytes) { return small_allocate(bytes); }
void TensorImpl::operator delete(void* pointer) { small_deallocate(pointer); }

// Any layout of no elements is contiguous.
static bool has_no_elements(const Dims& sizes) {
  for (Dim size : sizes) {
    if (size.is_constant() && size.hint() == 0) return true;
  }
  return false;
}

bool is_contiguous(const Dims& sizes, const Dims& strides) {
  const Dim *size = sizes.data(), *stride = strides.data();
  int64_t plain = 1;
  size_t rest = sizes.size();
  for (; rest > 0 && size[rest - 1].is_constant() && stride[rest - 1].is_constant(); rest--) {
    int64_t length = size[rest - 1].hint();
    if (length == 0) return true;
    if (length == 1) continue;
    if (stride[rest - 1].hint() != plain) return has_no_elements(sizes);
    // A zero before it may make this product one of no dimension; it wraps unseen then.
    (void)__builtin_mul_overflow(plain, length, &plain);
  }
  Dim expected = plain;
  for (size_t i = rest; i-- > 0;) {
    // The strides of set_contiguous_strides need no guard.
    if (known_equal(strides[i], expected) != Known::yes) {
      if (sizes[i] == 0) return true;
      if (sizes[i] == 1) continue;
      if (!(strides[i] == expected)) return has_no_elements(sizes);
    }
    expected *= max(sizes[i], 1);
  }
  return true;
}

void TensorImpl::set_layout(const Dims& new_sizes, const Dims& new_strides) {
  check_rank(new_sizes);
  sizes = new_sizes;
  strides = new_strides;
  numel = product(sizes);
  contiguous = is_contiguous(sizes, strides);
}

}  // namespace fg
