// The VersionPolicy of a Python function, and its decisions.
#include "compile/version_policy.h"

#include <nanobind/stl/set.h>
#include <nanobind/stl/vector.h>

#include "python/guarded_version.h"

namespace fg::python {

namespace {

using compiler::CaptureInputs;
using compiler::Decision;
using compiler::VersionPolicy;
using Kind = Decision::Kind;
using Places = std::vector<size_t>;

nb::object refusal_of(const VersionPolicy& self) {
  return self.refusal().empty() ? nb::none() : text_of_bytes(self.refusal());
}

Decision after_miss(VersionPolicy& self, size_t alike, size_t kinds, nb::handle difference,
                    Places changed, size_t most) {
  return self.after_miss({alike, kinds, bytes_of(difference), std::move(changed)}, most);
}

Decision after_failure(VersionPolicy& self, const CaptureInputs& inputs, const Places& asked,
                       nb::object why) {
  return self.after_failure(inputs, asked, [&] { return bytes_of(why()); });
}

}  // namespace

void add_version_policy(nb::module_& module) {
  nb::class_<Decision>(module, "Decision")
      .def_prop_ro("captures", [](const Decision& self) { return self.kind == Kind::capture; })
      .def_prop_ro("again", [](const Decision& self) { return self.kind == Kind::again; })
      .def_prop_ro("raises", [](const Decision& self) { return self.kind == Kind::raise; })
      .def_ro("is_new", &Decision::is_new)
      .def_prop_ro("why", [](const Decision& self) { return text_of_bytes(self.why); });
  nb::class_<CaptureInputs>(module, "CaptureInputs")
      .def("__init__",
           [](CaptureInputs* self, size_t structure, size_t tensors, size_t floats, Places moving) {
             new (self) CaptureInputs{structure, tensors, floats, std::move(moving)};
           });
  nb::class_<VersionPolicy>(module, "VersionPolicy")
      .def("__init__", [](VersionPolicy* self, nb::handle name,
                          bool fullgraph) { new (self) VersionPolicy(bytes_of(name), fullgraph); })
      .def("runs_eagerly", &VersionPolicy::runs_eagerly)
      .def_prop_ro("refusal", refusal_of)
      .def("after_miss", after_miss)
      .def("after_failure", after_failure)
      .def("learn", &VersionPolicy::learn)
      .def("allows_refill", &VersionPolicy::allows_refill)
      .def("constants", &VersionPolicy::constants)
      .def_prop_ro("moving", &VersionPolicy::moving)
      .def("forget", &VersionPolicy::forget);
  module.attr("MOST_VERSIONS") = VersionPolicy::kMostVersions;
}

}  // namespace fg::python
