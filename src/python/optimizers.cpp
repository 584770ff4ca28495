// Bindings of the table of optimisers: rows from which Python makes its classes, settings, and
// the update of a group for foregrad.optim.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "optim/description.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"

namespace fg::python {

namespace {

using optim::Description;
using optim::SettingValue;

nb::object object_of(const SettingValue& value) {
  if (auto* betas = std::get_if<optim::Betas>(&value)) {
    return nb::make_tuple((*betas)[0], (*betas)[1]);
  }
  auto* number = std::get_if<double>(&value);
  return number ? nb::object(nb::float_(*number)) : nb::object(nb::bool_(std::get<bool>(value)));
}

// A row of the table. Settings are tuples of name, default and documentation.
nb::dict row_of(const Description& of) {
  nb::dict row, fixed;
  nb::list settings;
  for (const Description::Row& each : of.settings) {
    settings.append(nb::make_tuple(each.name, object_of(each.value), each.documentation));
  }
  for (const auto& [name, value] : of.python_fixed) fixed[name.c_str()] = value;
  row["name"] = of.name;
  row["documentation"] = of.documentation;
  row["parameters"] = of.python;
  row["base"] = of.python_base;
  row["fixed"] = fixed;
  row["settings"] = settings;
  row["begins_at"] = of.begins_at;
  return row;
}

nb::list optimizers() {
  nb::list rows;
  for (const Description& each : optim::descriptions()) rows.append(row_of(each));
  return rows;
}

SettingValue value_of(nb::handle given, const SettingValue& like) {
  auto as_like = [&](const auto& known) {
    std::decay_t<decltype(known)> value;
    if (!nb::try_cast(given, value)) throw nb::type_error("a setting of a wrong type");
    return SettingValue(value);
  };
  return std::visit(as_like, like);
}

// The settings of the optimiser of that name, checked.
OptimizerSettings optimizer_settings(const std::string& name, const nb::dict& given) {
  const Description& of = optim::description_of(name);
  std::vector<SettingValue> values;
  for (const Description::Row& row : of.settings) {
    values.push_back(value_of(given[row.name], row.value));
  }
  OptimizerSettings settings = of.make(values);
  optim::check(settings);
  return settings;
}

// A tensor of an optimiser's state; made when it is not there.
Tensor state_tensor(nb::dict& state, const std::string& name, const Tensor& parameter,
                    const OptimizerSettings& settings) {
  nb::str key(name.c_str());
  if (state.contains(key) && !state[key].is_none()) {
    nb::object kept = state[key];
    if (is_tensor(kept.ptr())) return nb::cast<Tensor>(kept);
    fail(ErrorKind::type, "{}: the state '{}' is a {}; expected a Tensor", optim::name(settings),
         name, Py_TYPE(kept.ptr())->tp_name);
  }
  Tensor made = optim::first_state(settings, parameter);
  state[key] = nb::steal(wrap(made));
  return made;
}

// The number of the next step, counted from 1; kept in the state where PyTorch keeps it.
int64_t next_step(const OptimizerSettings& settings, nb::dict& state,
                  const std::string& first_name) {
  if (!optim::description_of(settings).keeps_step) {
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
void optimizer_update(const OptimizerSettings& settings, nb::handle parameters,
                      const nb::list& states) {
  const Description& of = optim::description_of(settings);
  Tensors all = tensors_of(parameters.ptr(), of.name.c_str());
  std::vector<std::string> names = optim::state_names(settings);
  optim::Numbers numbers;
  int64_t known = 0;
  for (size_t i = 0; i < all.size(); i++) {
    nb::dict state = nb::cast<nb::dict>(states[i]);
    int64_t step = next_step(settings, state, names.empty() ? "" : names[0]);
    if (step != known) numbers = of.numbers(settings, known = step);
    Tensors kept;
    for (const std::string& name : names) {
      kept.push_back(state_tensor(state, name, all[i], settings));
    }
    optim::update_in_blocks(of.update, all[i], kept, all[i].grad(), numbers);
  }
}

// State as it is before the first step.
void optimizer_begin(const OptimizerSettings& settings, const Tensor& parameter, nb::dict state) {
  if (optim::description_of(settings).keeps_step) {
    state["step"] = nb::steal(wrap(zeros({}, kFloat32)));
  }
  for (const std::string& name : optim::state_names(settings)) {
    state_tensor(state, name, parameter, settings);
  }
}

}  // namespace

void add_optimizers(nb::module_& module) {
  nb::class_<OptimizerSettings>(module, "OptimizerSettings");
  module.def("optimizers", optimizers);
  module.def("optimizer_settings", optimizer_settings);
  module.def("optimizer_keeps_state", [](const OptimizerSettings& settings) {
    return optim::description_of(settings).keeps_step || !optim::state_names(settings).empty();
  });
  module.def("optimizer_begin", optimizer_begin);
  module.def("optimizer_update", optimizer_update);
}

}  // namespace fg::python
