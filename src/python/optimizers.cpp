// Bindings of the table of optimisers: rows from which Python makes its classes, settings, and
// the update of a group for foregrad.optim.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "optim/eager.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"

namespace fg::python {

namespace {

using optim::Description;
using optim::SettingValue;

// Settings as Python has them: numbers, bools, texts, None, and tuples of them.
nb::object object_of(double value) { return nb::float_(value); }
nb::object object_of(bool value) { return nb::bool_(value); }
nb::object object_of(int64_t value) { return nb::int_(value); }
nb::object object_of(const std::string& value) { return nb::str(value.c_str()); }
template <class T>
nb::object object_of(const std::optional<T>& value) {
  return value ? object_of(*value) : nb::none();
}
nb::object object_of(const optim::OptText& value) { return value ? object_of(*value) : nb::none(); }
template <class T, size_t count>
nb::object object_of(const std::array<T, count>& values) {
  nb::list result;
  for (const T& value : values) result.append(object_of(value));
  return nb::tuple(result);
}
nb::object object_of(const SettingValue& value) {
  return std::visit([](const auto& known) { return object_of(known); }, value);
}

// A row of the table. Settings are tuples of name, default and documentation.
nb::dict row_of(const Description& of) {
  nb::dict row, fixed;
  nb::list settings, numbers;
  if (of.keeps_step) numbers.append("step");
  for (const std::string& name : of.memory) numbers.append(name);
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
  row["numbers"] = numbers;
  row["begins_early"] = of.begins_early;
  return row;
}

nb::list optimizers() {
  nb::list rows;
  for (const Description& each : optim::descriptions()) rows.append(row_of(each));
  return rows;
}

SettingValue value_of(nb::handle given, const SettingValue& like) {
  auto as_like = [&](const auto& known) {
    using T = std::decay_t<decltype(known)>;
    std::conditional_t<std::is_same_v<T, optim::OptText>, std::optional<std::string>, T> value;
    if (!nb::try_cast(given, value)) throw nb::type_error("a setting of a wrong type");
    if constexpr (std::is_same_v<T, optim::OptText>)
      return SettingValue(value ? optim::OptText(*value) : optim::OptText());
    else
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

// Numbers in the state of a parameter: tensors without dimensions, or plain numbers, as old files
// have them.
class StateNumbers {
 public:
  explicit StateNumbers(const Description& of) : of_(of) {
    if (of.keeps_step) keys_.emplace_back("step");
    for (const std::string& name : of.memory) keys_.emplace_back(name.c_str());
  }
  // The numbers of a state; those that are not there yet begin with `first`, after step 0.
  std::vector<double> read(const nb::dict& state, const optim::Memory& first) const {
    std::vector<double> found;
    for (const nb::str& key : keys_) {
      size_t i = found.size();
      double begin = 0;
      if (i >= of_.keeps_step) begin = first[i - of_.keeps_step];
      found.push_back(state.contains(key) ? number_of(state[key]) : begin);
    }
    return found;
  }
  void write(nb::dict& state, const std::vector<double>& numbers) const {
    for (size_t i = 0; i < keys_.size(); i++) {
      PyObject* kept = PyDict_GetItem(state.ptr(), keys_[i].ptr());
      if (kept && is_tensor(kept))
        set_number(tensor_of(kept), numbers[i]);
      else
        state[keys_[i]] = nb::steal(wrap(full({}, numbers[i], optim::number_dtype())));
    }
  }

 private:
  static double number_of(nb::handle object) {
    if (is_tensor(object.ptr())) return tensor_of(object.ptr()).item().to_double();
    double number = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred()) nb::raise_python_error();
    return number;
  }
  static void set_number(const Tensor& tensor, double number) {
    NoGradGuard no_grad;
    bool is_plain = !modes.interpreter && tensor.impl()->data && tensor.numel() == 1;
    if (!is_plain) return void(tensor.fill_(number));
    if (tensor.dtype() == kFloat32)
      *reinterpret_cast<float*>(tensor.impl()->data) = static_cast<float>(number);
    else if (tensor.dtype() == kFloat64)
      *reinterpret_cast<double*>(tensor.impl()->data) = number;
    else
      return void(tensor.fill_(number));
    tensor.impl()->bump_version();
  }

  const Description& of_;
  std::vector<nb::str> keys_;
};

// A tensor of an optimiser's state; made when it is not there.
Tensor state_tensor(nb::dict& state, nb::handle key, const optim::FirstState& first,
                    const Tensor& parameter, const std::string& who) {
  PyObject* kept = PyDict_GetItem(state.ptr(), key.ptr());
  if (kept && kept != Py_None) {
    if (is_tensor(kept)) return tensor_of(kept);
    fail(ErrorKind::type, "{}: the state '{}' is a {}; expected a Tensor", who, first.name,
         Py_TYPE(kept)->tp_name);
  }
  Tensor made = first.made(parameter);
  state[key] = nb::steal(wrap(made));
  return made;
}

nb::dict state_of(nb::handle states, PyObject* parameter) {
  PyObject* found = PyObject_GetItem(states.ptr(), parameter);
  if (!found) nb::raise_python_error();
  return nb::cast<nb::dict>(nb::steal(found));
}

// Parameters of a group on their way through a step; those with equal numbers are updated at once.
class GroupStep {
 public:
  GroupStep(const OptimizerSettings& settings, nb::handle states)
      : settings_(settings),
        states_(states),
        of_(optim::description_of(settings)),
        numbers_(of_),
        begin_(of_.remember(settings)) {
    for (const std::string& name : of_.state) keys_[name] = nb::str(name.c_str());
  }

  void add(PyObject* face) {
    Tensor parameter = tensor_of(face);
    asked(parameter, "grad");
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) return;
    if (!known_ || !(known_sizes_ == parameter.sizes())) {
      known_sizes_ = parameter.sizes();
      first_ = optim::first_state(settings_, known_sizes_);
      known_ = true;
    }
    bool is_empty = !of_.keeps_step && first_.empty();
    nb::dict state = is_empty ? nb::dict() : state_of(states_, face);
    std::vector<double> before = numbers_.read(state, begin_);
    if (state.size() == 0) numbers_.write(state, before);  // they come first, as PyTorch's
    if (!of_.keeps_step && !first_.empty()) {
      PyObject* kept = PyDict_GetItem(state.ptr(), keys_.at(first_[0].name).ptr());
      before.insert(before.begin(), kept && kept != Py_None ? 1 : 0);
    }
    optim::Subject subject{std::move(parameter), std::move(gradient), {}};
    for (const optim::FirstState& each : first_) {
      subject.state.push_back(
          state_tensor(state, keys_.at(each.name), each, subject.parameter, of_.name));
    }
    Together& together = together_[before];
    together.subjects.push_back(std::move(subject));
    together.states.push_back(std::move(state));
  }

  // `rate`: a tensor in the place of lr; undefined for the number. Recorded or not.
  void run(bool recorded, const Tensor& rate) {
    for (auto& [before, together] : together_) {
      size_t counted = before.size() > of_.memory.size();
      int64_t step = counted ? static_cast<int64_t>(before[0]) + 1 : 1;
      optim::Memory memory(before.begin() + static_cast<ptrdiff_t>(counted), before.end());
      std::vector<optim::Number> given;
      if (recorded && rate.defined()) given = optim::numbers_of_rate(settings_, step, memory, rate);
      optim::Numbers numbers = optim::numbers(settings_, step, memory);
      optim::Formula formula = optim::formula_of(optim::formula_name(settings_), numbers);
      if (!given.empty()) formula.numbers = std::move(given);
      count(together, step, memory);
      if (recorded)
        run_recorded(together, formula);
      else
        optim::update_all(formula, together.subjects);
    }
  }

 private:
  struct Together {
    std::vector<optim::Subject> subjects;
    std::vector<nb::dict> states;
  };
  void count(Together& together, int64_t step, const optim::Memory& memory) {
    std::vector<double> after;
    if (of_.keeps_step) after.push_back(static_cast<double>(step));
    after.insert(after.end(), memory.begin(), memory.end());
    for (nb::dict& state : together.states) numbers_.write(state, after);
  }
  void run_recorded(Together& together, const optim::Formula& formula) {
    for (size_t i = 0; i < together.subjects.size(); i++) {
      optim::Subject& subject = together.subjects[i];
      optim::update_recorded(formula, subject);
      auto first = optim::first_state(settings_, subject.parameter.sizes());
      for (size_t k = 0; k < first.size(); k++) {
        together.states[i][keys_.at(first[k].name)] = nb::steal(wrap(subject.state[k]));
      }
    }
  }

  const OptimizerSettings& settings_;
  nb::handle states_;
  const Description& of_;
  StateNumbers numbers_;
  optim::Memory begin_;
  std::map<std::string, nb::str> keys_;
  Dims known_sizes_;  // of `first_`
  bool known_ = false;
  std::vector<optim::FirstState> first_;
  std::map<std::vector<double>, Together> together_;
};

// One step of the parameters of a group that have gradients. `states`: a mapping from parameters.
void optimizer_update(const OptimizerSettings& settings, nb::handle parameters, nb::handle states,
                      bool recorded, nb::handle rate) {
  GroupStep step(settings, states);
  PyObject* items = PySequence_Fast(parameters.ptr(), "params is no list of parameters");
  if (!items) nb::raise_python_error();
  nb::object keep = nb::steal(items);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); i++) {
    PyObject* face = PySequence_Fast_GET_ITEM(items, i);
    if (!is_tensor(face)) {
      fail(ErrorKind::type, "{}: a parameter is a {}; expected a Tensor", optim::name(settings),
           Py_TYPE(face)->tp_name);
    }
    step.add(face);
  }
  step.run(recorded, rate.is_none() ? Tensor() : tensor_of(rate.ptr()));
}

// State as it is before the first step.
void optimizer_begin(const OptimizerSettings& settings, const Tensor& parameter, nb::dict state) {
  const Description& of = optim::description_of(settings);
  StateNumbers numbers(of);
  numbers.write(state, numbers.read(state, of.remember(settings)));
  for (const optim::FirstState& each : optim::first_state(settings, parameter.sizes())) {
    state_tensor(state, nb::str(each.name.c_str()), each, parameter, of.name);
  }
}

// Takes the gradients from all tensors of a list.
void forget_gradients(nb::handle parameters) {
  for (nb::handle each : parameters) {
    Tensor parameter = tensor_of(each.ptr());
    asked(parameter, "grad");
    if (parameter.grad().defined()) parameter.set_grad({});
  }
}

}  // namespace

void add_optimizers(nb::module_& module) {
  nb::class_<OptimizerSettings>(module, "OptimizerSettings");
  module.def("optimizers", optimizers);
  module.def("optimizer_settings", optimizer_settings);
  module.def("optimizer_check", [](const OptimizerSettings& settings, const Tensor& parameter) {
    optim::description_of(settings).check_parameter(parameter);
  });
  module.def("optimizer_begin", optimizer_begin);
  module.def("forget_gradients", forget_gradients);
  module.def("optimizer_update", optimizer_update, nb::arg("settings"), nb::arg("parameters"),
             nb::arg("states"), nb::arg("recorded") = false, nb::arg("rate") = nb::none());
}

}  // namespace fg::python
