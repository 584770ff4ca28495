// Bindings of the parts of fg::compile_step, from which Python's compile_step is made.
#include "optim/step.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"

namespace fg::python {

namespace {

using compiler::Clip;
using compiler::Rule;
using compiler::Rules;
using compiler::StepState;

nb::object number_or_none(const OptScalar& number) {
  return number ? nb::object(nb::float_(number->to_double())) : nb::none();
}
OptScalar number_of(nb::handle object) {
  return object.is_none() ? OptScalar() : OptScalar(scalar_of(object.ptr()));
}

nb::list list_of(const Tensors& tensors) {
  nb::list result;
  for (const Tensor& tensor : tensors) result.append(nb::steal(wrap(tensor)));
  return result;
}

// Rules as lists and tuples of texts, floats and tensors, which fg.compile can look into.
nb::list rules_for_python(const Rules& rules) {
  nb::list result;
  for (const auto& [name, numbers, parameters, states] : rules) {
    nb::list floats, of_each;
    for (const OptScalar& number : numbers) floats.append(number_or_none(number));
    for (const Tensors& state : states) of_each.append(list_of(state));
    result.append(nb::make_tuple(name, floats, list_of(parameters), of_each));
  }
  return result;
}

// Rules back from Python. In a captured function floats may be numbers of unknown value.
Rules rules_of(const nb::list& given) {
  Rules rules;
  for (nb::handle each : given) {
    Rule rule{nb::cast<std::string>(each[nb::int_(0)]), {}, {}, {}};
    for (nb::handle number : each[nb::int_(1)]) std::get<1>(rule).push_back(number_of(number));
    nb::object parameters = each[nb::int_(2)];
    std::get<2>(rule) = tensors_of(parameters.ptr(), "compile_step");
    for (nb::handle state : each[nb::int_(3)]) {
      std::get<3>(rule).push_back(tensors_of(state.ptr(), "compile_step"));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void make_state(StepState* self, const std::vector<nb::object>& groups,
                const std::vector<OptimizerSettings>& optimizers) {
  std::vector<ParameterGroup> all;
  for (size_t i = 0; i < groups.size(); i++) {
    all.push_back({tensors_of(groups[i].ptr(), "compile_step"), optimizers.at(i)});
  }
  new (self) StepState(std::move(all));
}

void set_optimizers(StepState& self, const std::vector<OptimizerSettings>& optimizers) {
  for (size_t i = 0; i < self.groups().size(); i++) {
    self.groups()[i].optimizer = optimizers.at(i);
  }
}

nb::tuple step_clip(std::optional<double> norm, std::optional<double> value,
                    bool error_if_nonfinite) {
  auto [max_norm, limit, error] = compiler::clip_of(
      {.clip_norm = norm, .clip_value = value, .error_if_nonfinite = error_if_nonfinite});
  return nb::make_tuple(number_or_none(max_norm), number_or_none(limit), error);
}

// Updates the tensors of the rules; returns (norm of the gradients or None, updated tensors).
nb::tuple take_step(const Tensor& loss, const nb::list& given, const nb::tuple& limits) {
  Rules rules = rules_of(given);
  Clip clip{number_of(limits[0]), number_of(limits[1]), nb::cast<bool>(limits[2])};
  compiler::Applied applied =
      compiler::apply_rules(rules, compiler::gradients_of(loss, rules), clip);
  nb::object norm = applied.norm.defined() ? nb::steal(wrap(applied.norm)) : nb::none();
  return nb::make_tuple(norm, nb::tuple(nb::cast(applied.updated)));
}

nb::dict state_of(const StepState& self, size_t parameter) {
  nb::dict result;
  for (const auto& [name, tensor] : self.state(parameter)) {
    result[name.c_str()] = nb::steal(wrap(tensor));
  }
  return result;
}

void load_state(StepState& self, size_t parameter, const nb::dict& state) {
  StepState::Named named;
  for (auto [name, value] : state) {
    if (value.is_none()) continue;
    named[bytes_of(name)] =
        is_tensor(value.ptr()) ? nb::cast<Tensor>(value) : Tensor(scalar_of(value.ptr()));
  }
  self.load(parameter, named);
}

}  // namespace

void add_step(nb::module_& module) {
  nb::class_<StepState>(module, "StepState")
      .def("__init__", make_state, nb::arg("groups"), nb::arg("optimizers"))
      .def("set_optimizers", set_optimizers)
      .def("check_trained", &StepState::check_trained)
      .def("next_rules", [](StepState& self) { return rules_for_python(self.next_rules()); })
      .def("advance", &StepState::advance)
      .def("state", state_of)
      .def("load", load_state);
  module.def("step_clip", step_clip, nb::arg("norm").none(), nb::arg("value").none(),
             nb::arg("error_if_nonfinite"));
  module.def("take_step", take_step);
}

}  // namespace fg::python
