#include "python/guarded_version.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "base/trace.h"
#include "compile/counters.h"
#include "python/face.h"

namespace fg::python {

namespace {

PyTypeObject* entry_type = nullptr;

// Stands for a tensor in the structure of a result.
PyObject* result_tensor() {
  static PyObject* object =
      own(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))).release().ptr();
  return object;
}

std::vector<size_t> first_places(const Tensors& given, const Tensors& found) {
  FirstPlaces places;
  std::vector<size_t> result;
  for (const Tensor& tensor : given) places.of(tensor.impl());
  for (const Tensor& tensor : found) result.push_back(places.of(tensor.impl()));
  return result;
}

// A Python function of nothing that gives a number.
struct StateOfCall {
  Held function;
  size_t operator()() const {
    WithLock lock;
    return nb::cast<size_t>(function.object()());
  }
};

}  // namespace

GuardedVersion::GuardedVersion(nb::tuple key, std::vector<uint32_t> fixed, nb::object reads,
                               const Tensors& given, const Tensors& found)
    : key_(std::move(key)),
      structure_(nb::cast<const Structure*>(key_[0])),
      places_(nb::cast<std::vector<uint32_t>>(key_[1])),
      fixed_(std::move(fixed)),
      constants_(fixed_.size()),
      reads_object_(std::move(reads)),
      reads_(nb::cast<const Reads*>(reads_object_)),
      same_(first_places(given, found)) {
  auto bytes = nb::cast<nb::bytes>(key_[2]);
  std::memcpy(constants_.data(), bytes.c_str(), bytes.size());
  for (const Tensor& tensor : found) guards_.emplace_back(tensor);
}

void GuardedVersion::finish(nb::object version, nb::object result, nb::object after,
                            nb::object state) {
  version_ = nb::cast<compiler::Version*>(version);
  version_object_ = std::move(version);
  for (const ir::Role& role : version_->lifted_roles()) {
    lifted_.push_back(static_cast<size_t>(role.index));
  }
  single_ = result.is(result_tensor());
  long_ = version_->is_long();
  result_ = std::move(result);
  after_ = std::move(after);
  state_ = std::move(state);
}

bool GuardedVersion::fits(const Flat& flat) const {
  if (!version_ ||
      !std::equal(places_.begin(), places_.end(), flat.places.begin(), flat.places.end())) {
    return false;
  }
  if (!structure_->is(flat.parts)) return false;
  for (size_t i = 0; i < fixed_.size(); i++) {  // by bits: NaN and both zeros
    if (std::memcmp(&constants_[i], &flat.floats[fixed_[i]], sizeof(double)) != 0) return false;
  }
  return true;
}

bool GuardedVersion::holds(const Flat& flat, const Tensors& found, Why* why) const {
  if (found.empty()) return true;
  if (same_ != first_places(flat.tensors, found)) {
    if (why) why->text = "other arguments are the very tensors that the function reads";
    return false;
  }
  for (size_t i = 0; i < found.size(); i++) {
    if (guards_[i].holds(found[i])) continue;
    if (why) why->text = guards_[i].difference(found[i]);
    return false;
  }
  return true;
}

bool GuardedVersion::matches(const Flat& flat, Tensors& inputs, Why* why) const {
  timing::Span span("call", "find version");
  Found found;
  if (!reads_->again(found, why) || !holds(flat, found.tensors, why)) return false;
  inputs.reserve(flat.tensors.size() + flat.floats.size() + found.floats.size() + lifted_.size());
  inputs = flat.tensors;
  for (size_t i = 0, next = 0; i < flat.floats.size(); i++) {
    bool constant = next < fixed_.size() && fixed_[next] == i;
    if (constant)
      next++;
    else
      inputs.emplace_back(flat.floats[i]);
  }
  for (double value : found.floats) inputs.emplace_back(value);
  for (size_t i : lifted_) inputs.push_back(found.tensors[i]);
  if (version_->matches(inputs)) return true;
  if (why) why->text = version_->difference(inputs);
  return false;
}

PyObject* GuardedVersion::call(const Tensors& inputs) const {
  compiler::count_call();
  Tensors results;
  Callback<size_t()> state;
  if (!state_.is_none()) state = StateOfCall{Held(state_.attr("of_call")())};
  {
    MayRelease released(long_);
    results = version_->call(inputs, state);
  }
  if (single_) return wrap(results[0]);
  size_t next = 0;
  auto fill = [&](PyObject* leaf) {
    return leaf == result_tensor() ? wrap(results[next++]) : Py_NewRef(leaf);
  };
  nb::object made = map_leaves(result_.ptr(), fill);
  return after_.is_none() ? made.release().ptr() : PyObject_CallOneArg(after_.ptr(), made.ptr());
}

int GuardedVersion::traverse(visitproc visit, void* arg) const {
  for (const nb::object* held : std::initializer_list<const nb::object*>{
           &key_, &reads_object_, &version_object_, &result_, &after_, &state_, &kept_}) {
    Py_VISIT(held->ptr());
  }
  return 0;
}

void GuardedVersion::clear() {
  version_ = nullptr;  // it fits no call any more
  for (nb::object* held : {&reads_object_, &version_object_, &result_, &after_, &state_})
    held->reset();
}

GuardedVersion* entry_of(PyObject* object) {
  return Py_TYPE(object) == entry_type ? nb::inst_ptr<GuardedVersion>(object) : nullptr;
}

// ---- for Python

namespace {

int entry_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<GuardedVersion>(self)->traverse(visit, arg) : 0;
}
int entry_clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<GuardedVersion>(self)->clear();
  return 0;
}
PyType_Slot entry_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(entry_traverse)},
                             {Py_tp_clear, reinterpret_cast<void*>(entry_clear)},
                             {0, nullptr}};

// (inputs, None, None), or (None, why not, where another float is); None if it is of another kind.
nb::object look(const GuardedVersion& self, const Flat& flat) {
  if (!self.fits(flat)) return nb::none();
  Tensors inputs;
  Why why{"", nb::none()};
  if (self.matches(flat, inputs, &why)) {
    return nb::make_tuple(list_of(inputs), nb::none(), nb::none());
  }
  return nb::make_tuple(nb::none(), why.text, why.place);
}

}  // namespace

void add_guarded_version(nb::module_& module) {
  auto type =
      nb::class_<GuardedVersion>(module, "GuardedVersion", nb::type_slots(entry_slots))
          .def("__init__",
               [](GuardedVersion* self, nb::tuple key, std::vector<uint32_t> fixed,
                  nb::object reads, nb::object given, nb::object found) {
                 new (self) GuardedVersion(std::move(key), std::move(fixed), std::move(reads),
                                           tensors_of(given.ptr(), "a captured function"),
                                           tensors_of(found.ptr(), "a captured function"));
               })
          .def("finish", &GuardedVersion::finish, nb::arg(), nb::arg().none(), nb::arg().none(),
               nb::arg().none())
          .def("look", look)
          .def("__call__",
               [](const GuardedVersion& self, nb::object inputs) {
                 return nb::steal(self.call(tensors_of(inputs.ptr(), "a captured function")));
               })
          .def("keep", &GuardedVersion::keep)
          .def_prop_ro("key", &GuardedVersion::key)
          .def_prop_ro("version", &GuardedVersion::version);
  entry_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("RESULT_TENSOR") = nb::borrow(result_tensor());
}

}  // namespace fg::python
