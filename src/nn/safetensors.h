// Tensors in files of the format safetensors: a header in JSON, then the bytes of all tensors.
//
//   fg::save_safetensors(model->state_dict(), "model.safetensors", {{"step", "100"}});
//   model->load_state_dict(fg::load_safetensors("model.safetensors").tensors);
//
// A file is written in full or not at all. Nothing of a file is believed before it was checked: a
// file that is wrong gives one sentence that says why, and no tensor.
#pragma once

#include <map>

#include "nn/ordered_dict.h"
#include "tensor/tensor.h"

namespace fg {

using Metadata = std::map<std::string, std::string>;

struct SafeTensors {
  OrderedDict<Tensor> tensors;  // in the order of their bytes
  Metadata metadata;
};

void save_safetensors(const OrderedDict<Tensor>& tensors, const std::string& path,
                      const Metadata& metadata = {});
SafeTensors load_safetensors(const std::string& path);

// The same in memory.
std::string save_safetensors_bytes(const OrderedDict<Tensor>& tensors,
                                   const Metadata& metadata = {});
SafeTensors load_safetensors_bytes(std::string_view bytes);

// A file whose tensors are read one by one.
class SafeTensorsFile {
 public:
  explicit SafeTensorsFile(const std::string& path);
  SafeTensorsFile(const SafeTensorsFile&) = delete;
  SafeTensorsFile& operator=(const SafeTensorsFile&) = delete;
  ~SafeTensorsFile();

  struct StoredTensor {
    DType dtype;
    Dims sizes;
    size_t start, bytes;  // in the data that follows the header
  };
  const OrderedDict<StoredTensor>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  Tensor read(std::string_view name) const;
  OrderedDict<Tensor> read_all() const;  // by all threads

 private:
  void read_into(const StoredTensor& entry, const Tensor& tensor) const;

  std::string path_;
  int descriptor_ = -1;
  size_t data_ = 0;  // offset of the bytes of tensors
  OrderedDict<StoredTensor> entries_;
  Metadata metadata_;
};

}  // namespace fg
