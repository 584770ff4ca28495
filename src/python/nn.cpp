// Bindings of optimisers and safetensors, for foregrad.optim and foregrad.safetensors.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "base/fail.h"
#include "compile/optimizer.h"
#include "nn/safetensors.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

namespace {

// A tensor of an optimiser's state; made as zeros when it is not there.
Tensor state_tensor(nb::dict& state, const std::string& name, const Tensor& parameter,
                    const char* who) {
  nb::str key(name.c_str());
  if (state.contains(key) && !state[key].is_none()) {
    nb::object kept = state[key];
    if (is_tensor(kept.ptr())) return nb::cast<Tensor>(kept);
    fail(ErrorKind::type, "{}: the state '{}' is a {}; expected a Tensor", who, name,
         Py_TYPE(kept.ptr())->tp_name);
  }
  Tensor made = zeros_like(parameter).detach();
  state[key] = nb::steal(wrap(made));
  return made;
}

// The number of the next step, counted from 1; kept in the state where PyTorch keeps it.
int64_t next_step(const Optimizer& settings, nb::dict& state, const std::string& first_name) {
  if (!optim::counts_steps(settings)) {
    if (first_name.empty()) return 1;
    nb::str key(first_name.c_str());
    return state.contains(key) && !state[key].is_none() ? 2 : 1;
  }
  if (!state.contains("step")) state["step"] = nb::steal(wrap(zeros({}, kFloat32)));
  nb::object kept = state["step"];
  if (!is_tensor(kept.ptr())) {  // a number, as old files have it
    double count = PyFloat_AsDouble(kept.ptr());
    if (PyErr_Occurred()) nb::raise_python_error();
    int64_t steps = static_cast<int64_t>(count) + 1;
    state["step"] = nb::steal(wrap(full({}, static_cast<double>(steps), kFloat32)));
    return steps;
  }
  Tensor count = nb::cast<Tensor>(kept);
  int64_t steps = static_cast<int64_t>(count.item().to_double()) + 1;
  NoGradGuard no_grad;
  count.fill_(static_cast<double>(steps));
  return steps;
}

// One step of all parameters, each with its dictionary of state; all have gradients.
void optimizer_update(const Optimizer& settings, nb::handle parameters, const nb::list& states) {
  Tensors all = tensors_of(parameters.ptr(), optim::name(settings));
  std::vector<std::string> names = optim::state_names(settings);
  optim::Update update = optim::update_of(optim::name(settings));
  optim::Numbers numbers;
  int64_t known = 0;
  for (size_t i = 0; i < all.size(); i++) {
    nb::dict state = nb::cast<nb::dict>(states[i]);
    int64_t step = next_step(settings, state, names.empty() ? "" : names[0]);
    if (step != known) numbers = optim::numbers(settings, known = step);
    Tensors kept;
    for (const std::string& name : names) {
      kept.push_back(state_tensor(state, name, all[i], optim::name(settings)));
    }
    optim::update_in_blocks(update, all[i], kept, all[i].grad(), numbers);
  }
}

// ---- safetensors

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
  module.def("optimizer_update", optimizer_update);
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
