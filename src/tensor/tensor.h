// Tensor: a reference to a strided array. Copying a Tensor copies the reference. The methods are
// declared here and defined by the layers that own them: arithmetic in ops, gradients in autograd.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tensor/generator.h"
#include "tensor/impl.h"
#include "tensor/modes.h"
#include "tensor/options.h"
#include "tensor/scalar.h"

namespace fg {

namespace autograd {
class Node;
class HookHandle;
}  // namespace autograd

class Tensor;
using Tensors = std::vector<Tensor>;
using OptInt = std::optional<int64_t>;
using OptFloat = std::optional<double>;
using OptBool = std::optional<bool>;
struct Slice {  // start:stop:step; the defaults are "from the beginning", "to the end", 1
  OptInt start, stop;
  int64_t step = 1;
};
struct TensorIndex;

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
  // A number may stand where a tensor may: weak in promotion, as in `x + 1`.
  template <class T>
    requires std::is_arithmetic_v<T> || is_size<T>
  Tensor(T number) : Tensor(Scalar(number)) {}  // NOLINT: implicit on purpose
  Tensor(const Scalar& number);                 // NOLINT
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;

  // Assignment to a name makes it refer to another tensor. Assignment to the result of a call
  // writes into its elements, as in libtorch: `x[0] = y` and `x.slice(1, 0, 2) = 0`.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  Tensor& operator=(const Tensor& values) &&;
  Tensor& operator=(Tensor&& values) &&;
  Tensor& operator=(const Scalar& value) &&;
  template <class T>
    requires std::is_arithmetic_v<T> || is_size<T>
  Tensor& operator=(T value) && {
    return std::move(*this) = Scalar(value);
  }

  // ---- identity and shape
  bool defined() const { return static_cast<bool>(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  void reset() { impl_ = nullptr; }

  // An undefined tensor answers as libtorch's: one dimension of size 0, no gradient. It has no
  // dtype, no strides, no memory and no history: asking for those is an error.
  void check_defined(const char* who) const {
    if (!impl_) [[unlikely]]
      refuse_undefined(who);
  }

  DType dtype() const { return check_defined("dtype"), impl_->dtype; }
  const Dims& sizes() const { return seen().sizes; }
  const Dims& strides() const { return check_defined("strides"), impl_->strides; }
  int64_t dim() const { return static_cast<int64_t>(seen().sizes.size()); }
  int64_t numel() const { return seen().numel.value(); }
  int64_t size(int64_t axis) const { return dim_size(axis).value(); }
  int64_t stride(int64_t axis) const;
  Dim dim_size(int64_t axis) const;  // as size, but may be a symbol
  int64_t storage_offset() const { return seen().offset.value(); }
  bool is_contiguous() const { return seen().contiguous; }
  TensorOptions options() const { return TensorOptions(dtype()); }
  bool is_floating_point() const { return impl_ && is_floating(impl_->dtype); }
  bool is_abstract() const { return seen().is_abstract(); }
  // Whether its elements may be read now: while a function is captured, only those of tensors that
  // it made and did not write to since; others may be different ones when it runs.
  bool is_known() const;
  void check_known() const;  // refuses others
  std::string text() const;  // as PyTorch prints it

  // ---- memory
  void* data_ptr() const {
    check_defined("data_ptr");
    if (!impl_->data) [[unlikely]]
      check_known();
    return impl_->data;
  }
  template <class T>
  T* data_ptr() const {
    check_element_type(DTypeOf<T>::value);
    return static_cast<T*>(data_ptr());
  }
  Scalar item() const;  // the only element
  template <class T>
  T item() const {
    return item().to<T>();
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  std::vector<T> to_vector() const {  // elements in logical order, converted
    return elements<T>();
  }
  uint32_t _version() const;
  size_t use_count() const { return impl_ ? impl_->use_count() : 0; }

  // ---- gradients
  bool requires_grad() const { return seen().autograd && autograd_requires_grad(); }
  const Tensor& requires_grad_(bool requires_grad = true) const;
  const Tensor& set_requires_grad(bool on) const { return requires_grad_(on); }
  const Tensor& grad() const;
  void set_grad(const Tensor& grad) const;
  Ref<autograd::Node> grad_fn() const;
  bool is_leaf() const;
  int64_t output_nr() const;
  void backward(const Tensor& gradient = {}, OptBool retain_graph = {},
                bool create_graph = false) const;
  // Only the gradients of `inputs`, which may not be empty; std::nullopt: those of all leaves.
  void backward(const Tensor& gradient, OptBool retain_graph, bool create_graph,
                const Tensors& inputs) const;
  void backward(const Tensor& gradient, OptBool retain_graph, bool create_graph,
                std::nullopt_t) const {
    backward(gradient, retain_graph, create_graph);
  }
  // A hook returns another gradient, an undefined tensor to keep it, or has no result at all.
  autograd::HookHandle register_hook(Hook<Tensor(const Tensor&)> hook) const;
  autograd::HookHandle register_post_accumulate_grad_hook(Callback<void(const Tensor&)> hook) const;
  void retain_grad() const;
  bool retains_grad() const;
  Tensor detach() const;
  Tensor& detach_() const;
  Tensor data() const;  // same memory, no history, a version counter of its own
  void set_data(const Tensor& data) const;
  bool is_view() const;
  Tensor _base() const;
  bool is_inference() const { return seen().inference; }

#include "tensor/tensor_methods.inc"

 private:
  const TensorImpl& seen() const {
    if (!impl_) [[unlikely]]
      return undefined_impl();
    return *impl_;
  }
  static const TensorImpl& undefined_impl();
  [[noreturn]] static void refuse_undefined(const char* who);
  // The result of in-place methods: the tensor itself, to be named as in `Tensor& y =
  // x.add_(1)`.
  Tensor& itself() const { return const_cast<Tensor&>(*this); }
  void check_element_type(DType dtype) const;
  bool autograd_requires_grad() const;
  // Without a constraint, which compilers write into the names of functions in different ways.
  template <class T>
  std::vector<T> elements() const;

  Ref<TensorImpl> impl_;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// One part of an index: an integer, a slice, None, Ellipsis, a bool, or a tensor of positions.
struct TensorIndex {
  enum class Kind : uint8_t { integer, slice, none, ellipsis, tensor };
  Kind kind;
  int64_t integer = 0;
  Slice slice{};
  Tensor tensor{};

  TensorIndex(int64_t i) : kind(Kind::integer), integer(i) {}  // NOLINT
  TensorIndex(int i) : TensorIndex(int64_t{i}) {}              // NOLINT
  template <is_size T>
  TensorIndex(T i) : TensorIndex(i.value()) {}                         // NOLINT
  TensorIndex(Slice s) : kind(Kind::slice), slice(s) {}                // NOLINT
  TensorIndex(std::nullopt_t) : kind(Kind::none) {}                    // NOLINT
  TensorIndex(const char* dots);                                       // NOLINT: "..."
  TensorIndex(bool value);                                             // NOLINT: a zero-dim mask
  TensorIndex(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}  // NOLINT
};

// libtorch's names for the parts of an index.
namespace indexing {
using fg::Slice;
using fg::TensorIndex;
inline constexpr std::nullopt_t None = std::nullopt;
inline constexpr const char* Ellipsis = "...";
}  // namespace indexing

// ---- making tensors without going through an op
Tensor empty_strided_tensor(const Dims& sizes, const Dims& strides, DType dtype);
Tensor empty_tensor(const Dims& sizes, DType dtype);
// An empty tensor of the sizes of a contiguous one: derived fields are copied, not computed.
Tensor empty_tensor_like(const TensorImpl& contiguous, DType dtype);
// A tensor over the storage of `base` with another geometry: no history, no view relation.
Tensor alias(const Tensor& base, const Dims& sizes, const Dims& strides, Dim offset);
Tensor alias(const Tensor& base);
// Sizes and dtype without data, for shape rules; sizes may be symbols.
Tensor abstract_tensor(const Dims& sizes, DType dtype);
// The same with a storage of its own, which views of it share.
Tensor abstract_tensor(const Dims& sizes, const Dims& strides, Dim offset, DType dtype);
Tensor scalar_tensor(const Scalar& value, DType dtype);
// The tensor that stands for a number of unknown value in the graph that is being captured.
Tensor symbol_tensor(const Scalar& symbol);
// The number that a tensor without dimensions holds: a symbol where it has no value yet.
Scalar number_in(const Tensor& tensor);
// Shares the user's memory; `deleter` runs when the last tensor over it is gone.
Tensor from_blob(void* data, const Dims& sizes, DType dtype, Callback<void(void*)> deleter = {},
                 const OptDims& strides = {});
inline Tensor from_blob(void* data, const Dims& sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, options.dtype()).requires_grad_(options.requires_grad());
}

// Nested braces of numbers of one type, as libtorch reads them: integers of int and int64_t make an
// int64 tensor, floats one of the default float dtype, other types one of their own.
struct TensorData {
  TensorData() : is_list(true) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  TensorData(T number) : number(number), dtype(dtype_of_number<T>()) {}              // NOLINT
  TensorData(std::initializer_list<TensorData> list) : is_list(true), list(list) {}  // NOLINT

  template <class T>
  static constexpr DType dtype_of_number() {
    if constexpr (requires { DTypeOf<T>::value; })
      return DTypeOf<T>::value;
    else
      return std::is_floating_point_v<T> ? DType::f64 : DType::i64;
  }

  Scalar number;
  DType dtype = DType::f64;
  bool is_list = false;
  std::vector<TensorData> list;
};
Tensor tensor(const TensorData& data, OptDType dtype = {});
template <class T>
Tensor tensor_of(const std::vector<T>& values, OptDType dtype);
template <class T>
  requires requires { DTypeOf<T>::value; }
Tensor tensor(const std::vector<T>& values, OptDType dtype = {}) {
  return tensor_of(values, dtype);
}

template <std::same_as<TensorOptions> Options>
Tensor tensor(const TensorData& data, Options options) {
  return tensor(data, options.dtype_opt()).requires_grad_(options.requires_grad());
}
template <class T, std::same_as<TensorOptions> Options>
Tensor tensor(const std::vector<T>& values, Options options) {
  return tensor(values, options.dtype_opt()).requires_grad_(options.requires_grad());
}

// The dtype an arithmetic op computes in: dimensions outrank zero-dim tensors, which outrank
// numbers, unless the category (bool < integer < float) is higher.
DType result_type(std::span<const Tensor* const> tensors);

}  // namespace fg
