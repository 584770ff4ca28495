// One captured version of a Python function: which calls may run it, and their results in the
// structure that the function returned them in.
#pragma once

#include "compile/version.h"
#include "python/reads.h"
#include "python/structure.h"

namespace fg::python {

class Entry {
 public:
  // Before the capture. `key` is (structure, places of tensors, constant floats); `fixed` says
  // which of the floats those are. `given` are the different tensors of the call, `found` those
  // that the function reads by itself.
  Entry(nb::tuple key, std::vector<uint32_t> fixed, nb::object reads, const Tensors& given,
        const Tensors& found);
  // After it: a result has `result_tensor` where a tensor was. `after`, unless None, is called with
  // what was made of it and returns what the caller gets. `state`, unless None, tells what code of
  // the user that runs in the backward reads: a BackwardState.
  void finish(nb::object version, nb::object result, nb::object after, nb::object state);

  // Whether the arguments are of its kind, whatever is in them.
  bool fits(const Flat& flat) const;
  // Whether a call may run this; then with which inputs, else why not.
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
  std::vector<size_t> same_;  // for each tensor that is read: where the very same one is, first
  std::vector<compiler::TensorGuard> guards_;  // a shape may be read without the tensor being used
  nb::object version_object_;
  compiler::Version* version_ = nullptr;
  std::vector<size_t> lifted_;  // which of the tensors that are read are inputs
  nb::object result_, after_ = nb::none(), state_ = nb::none();
  nb::list kept_;
  bool single_ = false, long_ = false;
};

// Null if it is none.
Entry* entry_of(PyObject* object);

void add_entry(nb::module_& module);

}  // namespace fg::python
