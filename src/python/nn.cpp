// Bindings of safetensors, for foregrad.safetensors.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "nn/safetensors.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

namespace {

OrderedDict<Tensor> named_tensors(const nb::dict& given) {
  OrderedDict<Tensor> result;
  for (auto [name, value] : given) {
    if (!nb::isinstance<nb::str>(name) || !is_tensor(value.ptr())) {
      throw nb::type_error("safetensors: expected a dictionary of names and tensors");
    }
    result.insert(bytes_of(name), nb::cast<Tensor>(value));
  }
  return result;
}

nb::dict as_dict(const OrderedDict<Tensor>& tensors) {
  nb::dict result;
  for (const auto& item : tensors) {
    result[nb::str(item.key().data(), item.key().size())] = nb::steal(wrap(item.value()));
  }
  return result;
}

Metadata metadata_of(const nb::dict& given) {
  Metadata result;
  for (auto [key, value] : given) result[bytes_of(key)] = bytes_of(value);
  return result;
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

nb::bytes save_bytes(const nb::dict& tensors, const nb::dict& metadata) {
  std::string text = save_safetensors_bytes(named_tensors(tensors), metadata_of(metadata));
  return nb::bytes(text.data(), text.size());
}

nb::tuple load_bytes(const nb::bytes& data) {
  SafeTensors loaded = load_safetensors_bytes({data.c_str(), data.size()});
  return nb::make_tuple(as_dict(loaded.tensors), loaded.metadata);
}

nb::tuple entry_of(const SafeTensorsFile& self, nb::handle name) {
  const auto& entry = self.entries()[bytes_of(name)];
  return nb::make_tuple(nb::borrow(dtype_object(entry.dtype)), size_object(entry.sizes));
}

}  // namespace

void add_nn(nb::module_& module) {
  module.def("safetensors_save",
             [](const nb::dict& tensors, const nb::bytes& path, const nb::dict& metadata) {
               save_safetensors(named_tensors(tensors), path_of(path), metadata_of(metadata));
             });
  module.def("safetensors_save_bytes", save_bytes);
  module.def("safetensors_load_bytes", load_bytes);
  nb::class_<SafeTensorsFile>(module, "SafeTensorsFile")
      .def("__init__", [](SafeTensorsFile* self,
                          const nb::bytes& path) { new (self) SafeTensorsFile(path_of(path)); })
      .def("keys", [](const SafeTensorsFile& self) { return self.entries().keys(); })
      .def("metadata", &SafeTensorsFile::metadata)
      .def("entry", entry_of)
      .def("read_all", [](const SafeTensorsFile& self) { return as_dict(self.read_all()); })
      .def("read", [](const SafeTensorsFile& self, nb::handle name) {
        return nb::steal(wrap(self.read(bytes_of(name))));
      });
}

}  // namespace fg::python
