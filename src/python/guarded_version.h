// GuardedVersion: one captured version of a Python function, with the guards of the calls that may
// run it and the structure in which the function returned its results: an entry of the list that a
// compiled function has.
#pragma once

#include "compile/version.h"
#include "python/reads.h"
#include "python/structure.h"

namespace fg::python {

class GuardedVersion {
 public:
  // Made before the capture. `key` is (structure, places of tensors, constant floats); `fixed` are
  // the places of those floats. `given` are the different tensors of the call, `found` those that
  // the function reads by itself.
  GuardedVersion(nb::tuple key, std::vector<uint32_t> fixed, nb::object reads, const Tensors& given,
                 const Tensors& found);
  // Called after the capture. `result` has `result_tensor` in the place of each tensor. `after`,
  // unless None, is called with the rebuilt result and returns that of the caller. `state`, unless
  // None, is the BackwardState: the values that code of the user reads in the backward.
  void finish(nb::object version, nb::object result, nb::object after, nb::object state);

  // Whether the arguments have the entry's structure, whatever their contents are.
  bool fits(const Flat& flat) const;
  // Whether a call may run this entry; fills the inputs if so, else `why`.
  bool matches(const Flat& flat, Tensors& inputs, Why* why) const;
  PyObject* call(const Tensors& inputs) const;  // a new reference

  const nb::tuple& key() const { return key_; }
  const nb::object& version() const { return version_object_; }
  void keep(nb::object object) { kept_.append(std::move(object)); }
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  bool holds(const Flat& flat, const Tensors& found, Why* why) const;

  nb::tuple key_;
  const Structure* structure_;
  std::vector<uint32_t> places_, fixed_;
  std::vector<double> constants_;
  nb::object reads_object_;
  const Reads* reads_;
  std::vector<size_t> same_;  // for each tensor that is read: the first place of the very same one
  std::vector<compiler::TensorGuard> guards_;  // a shape may be read without the tensor being used
  nb::object version_object_;
  compiler::Version* version_ = nullptr;
  std::vector<size_t> lifted_;  // the inputs among the tensors that are read
  nb::object result_, after_ = nb::none(), state_ = nb::none();
  nb::list kept_;
  bool single_ = false, long_ = false;
};

// The GuardedVersion in a Python object; null for any other object.
GuardedVersion* entry_of(PyObject* object);

void add_guarded_version(nb::module_& module);
void add_version_policy(nb::module_& module);

}  // namespace fg::python
