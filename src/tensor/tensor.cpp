#include "tensor/tensor.h"

#include <cstring>
#include <ostream>

#include "base/fail.h"
#include "tensor/format.h"
#include "tensor/geometry.h"

namespace fg {

static size_t byte_count(Dim elements, DType dtype, const Dims& sizes) {
  int64_t bytes;
  if (__builtin_mul_overflow(elements.value(), static_cast<int64_t>(item_size(dtype)), &bytes)) {
    fail(ErrorKind::memory, "a tensor of sizes {} and dtype {} has more bytes than 2^63",
         text(sizes), name(dtype));
  }
  return static_cast<size_t>(bytes);
}

static Tensor with_storage(Ref<Storage> storage, const Dims& sizes, const Dims& strides,
                           DType dtype) {
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->data = storage->data();
  impl->storage = std::move(storage);
  impl->dtype = dtype;
  impl->inference = modes.inference;
  impl->set_layout(sizes, strides);
  return Tensor(std::move(impl));
}

Tensor empty_strided_tensor(const Dims& sizes, const Dims& strides, DType dtype) {
  Dim elements = product(sizes) == 0 ? Dim(0) : reach(sizes, strides);
  return with_storage(Storage::create(byte_count(elements, dtype, sizes)), sizes, strides, dtype);
}

Tensor empty_tensor(const Dims& sizes, DType dtype) {
  check_rank(sizes);
  Dim numel = product(sizes);
  Ref<Storage> storage = Storage::create(byte_count(numel, dtype, sizes));
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->data = storage->data();
  impl->storage = std::move(storage);
  impl->dtype = dtype;
  impl->inference = modes.inference;
  impl->sizes = sizes;
  set_contiguous_strides(sizes, impl->strides);
  impl->numel = numel;
  return Tensor(std::move(impl));
}

Tensor empty_tensor_like(const TensorImpl& like, DType dtype) {
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->storage = Storage::create(byte_count(like.numel, dtype, like.sizes));
  impl->data = impl->storage->data();
  impl->dtype = dtype;
  impl->inference = modes.inference;
  impl->sizes = like.sizes;
  impl->strides = like.strides;
  impl->numel = like.numel;
  return Tensor(std::move(impl));
}

Tensor alias(const Tensor& base, const Dims& sizes, const Dims& strides, Dim offset) {
  base.check_defined("alias");
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  const TensorImpl& from = *base.impl();
  impl->storage = from.storage;
  impl->own_version = from.own_version;
  impl->dtype = from.dtype;
  impl->inference = from.inference;
  impl->offset = offset;
  if (from.data) {
    int64_t start;
    // Only a view without elements may lie anywhere.
    if (__builtin_mul_overflow(offset.value(), static_cast<int64_t>(item_size(from.dtype)), &start))
      start = 0;
    impl->data = from.storage->data() + start;
  }
  impl->set_layout(sizes, strides);
  return Tensor(std::move(impl));
}

Tensor alias(const Tensor& base) {
  Tensor copy = alias(base, base.sizes(), base.strides(), base.impl()->offset);
  copy.impl()->wrapped_number = base.impl()->wrapped_number;
  return copy;
}

void TensorImpl::take_memory(const TensorImpl& from) {
  bool has_views = storage && storage->use_count() > 1 && !is_abstract();
  if (!own_version && has_views) own_version = storage->share_version();
  if (!own_version) {
    uint32_t now = version();
    own_version = Ref<VersionCounter>::adopt(new VersionCounter);
    own_version->value = now;
  }
  storage = from.storage;
  data = from.data;
  dtype = from.dtype;
  offset = from.offset;
  set_layout(from.sizes, from.strides);
}

Tensor abstract_tensor(const Dims& sizes, const Dims& strides, Dim offset, DType dtype) {
  bool empty = known_equal(product(sizes), 0) == Known::yes;
  Dim elements = offset + (empty ? Dim(0) : reach(sizes, strides));
  Tensor result = with_storage(Storage::create_abstract(byte_count(elements, dtype, sizes)), sizes,
                               strides, dtype);
  result.impl()->offset = offset;
  return result;
}

Tensor abstract_tensor(const Dims& sizes, DType dtype) {
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->dtype = dtype;
  impl->set_layout(sizes, contiguous_strides(sizes));
  return Tensor(std::move(impl));
}

Tensor scalar_tensor(const Scalar& value, DType dtype) {
  Tensor result = empty_tensor({}, dtype);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    *reinterpret_cast<T*>(result.data_ptr()) = value.to<T>();
  });
  return result;
}

// One per number in an expression of tensors: as short as it can be.
static Tensor known_number(const Scalar& number) {
  Tensor result = empty_tensor({}, number.dtype());
  if (number.is_floating())
    *static_cast<double*>(result.data_ptr()) = number.real();
  else if (number.dtype() == DType::boolean)
    *static_cast<bool*>(result.data_ptr()) = number.integer() != 0;
  else
    *static_cast<int64_t*>(result.data_ptr()) = number.integer();
  return result;
}

Tensor::Tensor(const Scalar& number)
    : Tensor(__builtin_expect(number.is_known(), 1) ? known_number(number)
                                                    : symbol_tensor(number)) {
  impl_->wrapped_number = true;
}

Tensor from_blob(void* data, const Dims& sizes, DType dtype, Callback<void(void*)> deleter,
                 const OptDims& strides) {
  Dim numel = product(sizes);
  if (!data && numel > 0) {
    fail(ErrorKind::value, "from_blob: the pointer is null but sizes {} hold elements",
         text(sizes));
  }
  if (strides && strides->size() != sizes.size()) {
    fail(ErrorKind::value, "from_blob: got {} strides for {} sizes; give one stride per size",
         strides->size(), sizes.size());
  }
  Dims layout = strides ? *strides : contiguous_strides(sizes);
  size_t bytes = byte_count(numel == 0 ? Dim(0) : reach(sizes, layout), dtype, sizes);
  return with_storage(Storage::borrow(data, bytes, std::move(deleter)), sizes, layout, dtype);
}

// An undefined tensor has the sizes of libtorch's.
const TensorImpl& Tensor::undefined_impl() {
  static const TensorImpl* impl = [] {
    auto* made = new TensorImpl;
    made->set_layout({0}, {1});
    return made;
  }();
  return *impl;
}

void Tensor::refuse_undefined(const char* who) {
  fail(ErrorKind::type,
       "{}: the tensor is undefined (a Tensor() that was never assigned); give it a value first",
       who);
}

int64_t Tensor::stride(int64_t axis) const {
  check_defined("stride");
  return impl_->strides[wrap_axis(axis, impl_->sizes.size(), "stride")].value();
}

Dim Tensor::dim_size(int64_t axis) const {
  const Dims& sizes = seen().sizes;
  if (sizes.empty()) {
    fail(ErrorKind::index, "size: dimension {} of a zero-dim tensor; it has no dimensions", axis);
  }
  return sizes[wrap_axis(axis, sizes.size(), "size")];
}

void Tensor::check_element_type(DType wanted) const {
  if (dtype() != wanted) {
    fail(ErrorKind::type, "data_ptr: expected elements of {} but the tensor holds {}", name(wanted),
         name(dtype()));
  }
}

uint32_t Tensor::_version() const {
  if (is_inference()) {
    fail(
        "_version: inference tensors do not track versions; make the tensor outside inference "
        "mode");
  }
  return seen().version();
}

bool Tensor::is_known() const {
  check_defined("is_known");
  if (is_abstract()) return false;
  if (!modes.capturing || impl_->wrapped_number) return true;
  return impl_->storage->made_in_capture() && impl_->version() == 0;
}

void Tensor::check_known() const {
  if (is_known()) return;
  fail(
      "the value of a tensor is asked for while its function is captured, where tensors have sizes "
      "but no values; use where() in the place of a decision, or read it outside");
}

Scalar Tensor::item() const {
  if (numel() != 1) {
    fail("item: a tensor of sizes {} has {} elements; only one element converts to a number",
         fg::text(sizes()), numel());
  }
  check_known();
  return visit(dtype(), [&](auto zero) -> Scalar {
    using T = decltype(zero);
    T value = *reinterpret_cast<const T*>(impl_->data);
    if constexpr (std::is_arithmetic_v<T>)
      return value;
    else
      return static_cast<float>(value);
  });
}

// Calls f(pointer to element) in logical order.
template <class F>
static void each_element(const TensorImpl& impl, F f) {
  int64_t count = impl.numel.value();
  size_t rank = impl.sizes.size();
  size_t item = item_size(impl.dtype);
  std::vector<int64_t> index(rank, 0);
  int64_t position = 0;
  for (int64_t n = 0; n < count; n++) {
    f(impl.data + position * static_cast<int64_t>(item));
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < impl.sizes[d].value()) {
        position += impl.strides[d].value();
        break;
      }
      position -= impl.strides[d].value() * (impl.sizes[d].value() - 1);
      index[d] = 0;
    }
  }
}

template <class T>
std::vector<T> Tensor::elements() const {
  check_defined("to_vector");
  check_known();
  std::vector<T> out;
  out.reserve(static_cast<size_t>(numel()));
  visit(dtype(), [&](auto zero) {
    using S = decltype(zero);
    each_element(*impl_, [&](const char* element) {
      S value = *reinterpret_cast<const S*>(element);
      if constexpr (std::is_arithmetic_v<S>)
        out.push_back(static_cast<T>(value));
      else
        out.push_back(static_cast<T>(static_cast<float>(value)));
    });
  });
  return out;
}
#define FG_ELEMENTS(T) template std::vector<T> Tensor::elements<T>() const;
FG_ELEMENTS(bool)
FG_ELEMENTS(char)
FG_ELEMENTS(signed char)
FG_ELEMENTS(unsigned char)
FG_ELEMENTS(short)
FG_ELEMENTS(unsigned short)
FG_ELEMENTS(int)
FG_ELEMENTS(unsigned)
FG_ELEMENTS(long)
FG_ELEMENTS(unsigned long)
FG_ELEMENTS(long long)
FG_ELEMENTS(unsigned long long)
FG_ELEMENTS(float)
FG_ELEMENTS(double)
FG_ELEMENTS(long double)
#undef FG_ELEMENTS

// The dtype of numbers that were written without one; as in Python, int32 and float64 are not kept.
static DType natural_dtype(DType written) {
  if (written == kInt32) return kInt64;
  return written == kFloat32 || written == kFloat64 ? default_dtype() : written;
}

template <class T>
Tensor tensor_of(const std::vector<T>& values, OptDType dtype) {
  Tensor result = empty_tensor({static_cast<int64_t>(values.size())},
                               dtype.value_or(natural_dtype(DTypeOf<T>::value)));
  visit(result.dtype(), [&](auto zero) {
    using S = decltype(zero);
    S* out = reinterpret_cast<S*>(result.data_ptr());
    for (size_t i = 0; i < values.size(); i++) {
      if constexpr (std::is_arithmetic_v<T>)
        out[i] = Scalar(T(values[i])).template to<S>();
      else
        out[i] = Scalar(static_cast<float>(values[i])).template to<S>();
    }
  });
  return result;
}
template Tensor tensor_of(const std::vector<bool>&, OptDType);
template Tensor tensor_of(const std::vector<uint8_t>&, OptDType);
template Tensor tensor_of(const std::vector<int8_t>&, OptDType);
template Tensor tensor_of(const std::vector<int16_t>&, OptDType);
template Tensor tensor_of(const std::vector<int32_t>&, OptDType);
template Tensor tensor_of(const std::vector<int64_t>&, OptDType);
template Tensor tensor_of(const std::vector<float>&, OptDType);
template Tensor tensor_of(const std::vector<double>&, OptDType);
template Tensor tensor_of(const std::vector<Half>&, OptDType);
template Tensor tensor_of(const std::vector<BFloat16>&, OptDType);

// Sizes and numbers of nested braces; every list of one depth must be equally long.
static void flatten(const TensorData& data, size_t depth, Dims& sizes,
                    std::vector<const TensorData*>& numbers) {
  if (!data.is_list) {
    if (depth != sizes.size())
      fail(ErrorKind::value, "tensor: numbers and lists are mixed at depth {}", depth);
    numbers.push_back(&data);
    return;
  }
  auto length = static_cast<int64_t>(data.list.size());
  if (depth == sizes.size() && numbers.empty()) sizes.push_back(length);
  if (depth >= sizes.size() || !(sizes[depth] == length)) {
    fail(ErrorKind::value, "tensor: expected lists of length {} at depth {} but got length {}",
         depth < sizes.size() ? sizes[depth].text() : "0", depth, length);
  }
  for (const TensorData& element : data.list) flatten(element, depth + 1, sizes, numbers);
}

// The dtype of all numbers together. As in libtorch they are of one kind: `{1, 2.5}` may be meant
// either way.
static DType common_dtype(const std::vector<const TensorData*>& numbers) {
  if (numbers.empty()) return default_dtype();
  DType first = natural_dtype(numbers[0]->dtype);
  for (const TensorData* number : numbers) {
    if (natural_dtype(number->dtype) == first) continue;
    fail(ErrorKind::type,
         "tensor: expected numbers of one type, got {} and {}; write all of them alike, or give a "
         "dtype",
         name(numbers[0]->dtype), name(number->dtype));
  }
  return first;
}

Tensor tensor(const TensorData& data, OptDType dtype) {
  Dims sizes;
  std::vector<const TensorData*> numbers;
  flatten(data, 0, sizes, numbers);
  Tensor result = empty_tensor(sizes, dtype ? *dtype : common_dtype(numbers));
  visit(result.dtype(), [&](auto zero) {
    using S = decltype(zero);
    S* out = reinterpret_cast<S*>(result.data_ptr());
    for (size_t i = 0; i < numbers.size(); i++) out[i] = numbers[i]->number.to<S>();
  });
  return result;
}

TensorIndex::TensorIndex(const char* dots) : kind(Kind::ellipsis) {
  if (std::strcmp(dots, "...") != 0) {
    fail(ErrorKind::index, "index: got the string \"{}\"; only \"...\" is an index", dots);
  }
}

TensorIndex::TensorIndex(bool value) : kind(Kind::tensor), tensor(scalar_tensor(value, kBool)) {}

// Joins the dtypes of one rank: tensors with dimensions, zero-dim tensors, numbers.
static OptDType join(OptDType a, OptDType b) { return a && b ? promote(*a, *b) : a ? a : b; }

DType result_type(std::span<const Tensor* const> tensors) {
  OptDType with_dims, zero_dim, number;
  for (const Tensor* t : tensors) {
    DType dtype = t->dtype();
    if (t->impl()->wrapped_number)
      number = join(number, dtype == kDouble ? default_dtype() : dtype);
    else if (t->dim() == 0)
      zero_dim = join(zero_dim, dtype);
    else
      with_dims = join(with_dims, dtype);
  }
  auto outrank = [](OptDType strong, OptDType weak) -> OptDType {
    if (!strong || !weak) return strong ? strong : weak;
    return number_kind(*weak) > number_kind(*strong) ? promote(*strong, *weak) : *strong;
  };
  return *outrank(with_dims, outrank(zero_dim, number));
}

std::string Scalar::text() const {
  if (!is_known()) ask();
  if (dtype() == DType::boolean) return integer_ ? "true" : "false";
  if (is_floating()) return fmt::format("{}", real_);
  return std::to_string(integer_);
}

}  // namespace fg
