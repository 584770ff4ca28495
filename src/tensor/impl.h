// TensorImpl: the object behind a Tensor. Sizes and strides inline up to five dimensions, autograd
// data only when needed, the version counter in the storage unless the tensor has its own.
#pragma once

#include "tensor/dims.h"
#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace fg {

// The base of the data that autograd keeps with a tensor; defined in the autograd layer.
struct AutogradData {
  virtual ~AutogradData() = default;
};

struct TensorImpl : Faced {
  Ref<Storage> storage;       // none, or one without memory, for abstract tensors
  char* data = nullptr;       // first element
  Dims sizes, strides;        // strides in elements
  Dim offset = 0, numel = 0;  // offset in elements
  DType dtype = DType::f32;
  bool contiguous = true;
  bool wrapped_number = false;  // was a plain number: weak in promotion, seen by no saved hook
  bool inference = false;       // made in inference mode
  Ref<VersionCounter> own_version;
  AutogradData* autograd = nullptr;

  ~TensorImpl() {
    if (face) [[unlikely]]
      release_face(face);
    delete autograd;
  }
  static void destroy(TensorImpl* impl) { delete impl; }
  static void* operator new(size_t bytes);
  static void operator delete(void* pointer);

  bool is_abstract() const { return !data && (!storage || storage->is_abstract()); }
  uint32_t version() const {
    if (own_version) return own_version->value.load(std::memory_order_relaxed);
    uint32_t count = storage ? storage->version.load(std::memory_order_relaxed) : 0;
    if (count != Storage::kSharedVersion) [[likely]]
      return count;
    return storage->share_version()->value.load(std::memory_order_relaxed);
  }
  void bump_version() {
    if (own_version)
      own_version->value.fetch_add(1, std::memory_order_relaxed);
    else if (storage && storage->version.load(std::memory_order_relaxed) != Storage::kSharedVersion)
      storage->version.fetch_add(1, std::memory_order_relaxed);
    else if (storage)
      storage->share_version()->value.fetch_add(1, std::memory_order_relaxed);
  }
  // Takes the memory and layout of another tensor. The version stays the same and is still that of
  // the views that keep the memory from before.
  void take_memory(const TensorImpl& from);
  // Sets sizes and strides and the fields that follow from them.
  void set_layout(const Dims& new_sizes, const Dims& new_strides);
};

bool is_contiguous(const Dims& sizes, const Dims& strides);

}  // namespace fg
