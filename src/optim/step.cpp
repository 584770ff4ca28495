#include "optim/step.h"

#include <algorithm>
#include <set>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "optim/eager.h"

namespace fg::compiler {

Tensors gradients_of(const Tensor& loss, const Rules& rules) {
  if (!loss.defined()) {
    fail(ErrorKind::type,
         "compile_step: the loss function returned no tensor; return the loss, or a tuple that "
         "begins with it");
  }
  autograd::GraphPoints parameters;
  for (const auto& [name, numbers, some, state] : rules) {
    parameters.insert(parameters.end(), some.begin(), some.end());
  }
  return autograd::grad({loss}, parameters, {}, {.allow_unused = true});
}

Clip clip_of(const StepOptions& options) {
  if (options.clip_norm && options.clip_value) {
    fail(ErrorKind::value,
         "compile_step: got both clip_norm and clip_value; gradients are clipped by one of them");
  }
  return {options.clip_norm, options.clip_value, options.error_if_nonfinite};
}

Applied apply_rules(const Rules& rules, Tensors gradients, const Clip& clip) {
  const auto& [max_norm, limit, error_if_nonfinite] = clip;
  Applied result;
  if (max_norm) result.norm = optim::clip_norm(gradients, *max_norm, error_if_nonfinite);
  if (limit) optim::clip_value(gradients, *limit);
  for (const auto& [name, numbers, parameters, states] : rules) {
    std::vector<optim::Subject> subjects;
    for (size_t i = 0; i < parameters.size(); i++) {
      const Tensor& gradient = gradients[result.updated.size()];
      result.updated.push_back(gradient.defined());
      if (gradient.defined()) subjects.push_back({parameters[i], gradient, states[i]});
    }
    optim::update_all(optim::formula_of(name, numbers), subjects);
  }
  return result;
}

StepState::StepState(std::vector<ParameterGroup> groups, std::string who) : who_(std::move(who)) {
  for (ParameterGroup& group : groups) add_group(std::move(group));
  if (slots_.empty()) {
    fail(ErrorKind::value,
         "{}: optimizer got an empty parameter list; pass the tensors that are to be trained",
         who_);
  }
}

void StepState::add_group(ParameterGroup group) {
  optim::check(group.optimizer);
  std::set<const TensorImpl*> known;
  for (const Slot& slot : slots_) known.insert(slot.parameter.impl());
  for (const Tensor& parameter : group.parameters) {
    optim::description_of(group.optimizer).check_parameter(parameter);
    if (!parameter.is_leaf()) {
      fail(ErrorKind::value,
           "{}: can't optimize a non-leaf Tensor; parameters are tensors that no function with a "
           "gradient computed",
           who_);
    }
    if (!known.insert(parameter.impl()).second) {
      fail(ErrorKind::value,
           "{}: a parameter of sizes {} is given twice: some parameters appear in more than one "
           "parameter group, or twice in one",
           who_, text(parameter.sizes()));
    }
  }
  for (const Tensor& parameter : group.parameters) slots_.push_back({parameter, groups_.size()});
  groups_.push_back(std::move(group));
}

void StepState::set_lr(double lr) {
  std::vector<ParameterGroup> changed = groups_;
  for (ParameterGroup& group : changed) {
    std::visit([&](auto& known) { known.lr = lr; }, group.optimizer);
    optim::check(group.optimizer);
  }
  groups_ = std::move(changed);
}

void StepState::prepare(Slot& slot) const {
  const OptimizerSettings& optimizer = groups_[slot.group].optimizer;
  std::vector<optim::FirstState> first = optim::first_state(optimizer, slot.parameter.sizes());
  auto is_new = [&](const optim::FirstState& each) { return !slot.state.contains(each.name); };
  bool begins = std::all_of(first.begin(), first.end(), is_new);
  if (begins && !first.empty()) slot.steps = 0;
  if (begins) slot.memory = optim::description_of(optimizer).remember(optimizer);
  for (const optim::FirstState& each : first) {
    if (is_new(each)) slot.state[each.name] = each.made(slot.parameter);
  }
}

// Steps that have equal numbers count as one.
static int64_t counted_steps(const OptimizerSettings& optimizer, int64_t steps, bool has_state) {
  switch (optim::description_of(optimizer).own_numbers) {
    case optim::OwnNumbers::none:
      return 0;
    case optim::OwnNumbers::first:
      return has_state ? std::min<int64_t>(steps, 1) : 0;
    case optim::OwnNumbers::all:
      break;
  }
  return steps;
}

void StepState::prepare_call() {
  if (is_capturing()) {
    fail("{}: a step is a program of its own; call it outside of compiled functions", who_);
  }
  for (const ParameterGroup& group : groups_) optim::check(group.optimizer);
  for (Slot& slot : slots_) {
    if (slot.parameter.requires_grad()) prepare(slot);
  }
}

void StepState::check_trained() const {
  for (const Slot& slot : slots_) {
    if (slot.parameter.requires_grad()) return;
  }
  fail(ErrorKind::value,
       "{}: none of the parameters requires a gradient; call requires_grad_() on what is to be "
       "trained",
       who_);
}

Rules StepState::next_rules() {
  prepare_call();
  Rules rules;
  std::vector<std::vector<size_t>> members;
  // By group, how far it is, and what it remembers.
  std::map<std::tuple<size_t, int64_t, optim::Memory>, size_t> known;
  for (size_t i = 0; i < slots_.size(); i++) {
    Slot& slot = slots_[i];
    if (!slot.parameter.requires_grad()) continue;
    const OptimizerSettings& optimizer = groups_[slot.group].optimizer;
    auto names = optim::state_names(optimizer, slot.parameter.sizes());
    int64_t steps = counted_steps(optimizer, slot.steps, !names.empty());
    auto [place, fresh] = known.try_emplace({slot.group, steps, slot.memory}, rules.size());
    slot.next_memory = slot.memory;
    auto numbers = optim::numbers(optimizer, steps + 1, slot.next_memory);
    if (fresh) {
      rules.push_back({optim::formula_name(optimizer), std::move(numbers), {}, {}});
      members.emplace_back();
    }
    auto& [formula, of_rule, parameters, states] = rules[place->second];
    parameters.push_back(slot.parameter);
    Tensors& state = states.emplace_back();
    for (const std::string& name : names) state.push_back(slot.state.at(name));
    members[place->second].push_back(i);
  }
  order_.clear();
  for (const auto& some : members) order_.insert(order_.end(), some.begin(), some.end());
  return rules;
}

void StepState::advance(const std::vector<int>& updated) {
  for (size_t i = 0; i < order_.size(); i++) {
    if (!updated[i]) continue;
    Slot& slot = slots_[order_[i]];
    slot.steps++;
    slot.memory = slot.next_memory;
  }
}

StepState::Named StepState::state(size_t parameter) const {
  const Slot& slot = slots_.at(parameter);
  const OptimizerSettings& optimizer = groups_[slot.group].optimizer;
  Named result;
  const optim::Description& of = optim::description_of(optimizer);
  if (slot.steps == 0 && !of.begins_early) return result;
  for (const auto& first : optim::first_state(optimizer, slot.parameter.sizes())) {
    auto found = slot.state.find(first.name);
    if (found != slot.state.end())
      result.insert(*found);
    else if (of.begins_early)
      result[first.name] = first.made(slot.parameter);
  }
  auto number = [](double value) { return full({}, value, optim::number_dtype()); };
  for (size_t i = 0; i < slot.memory.size(); i++) result[of.memory[i]] = number(slot.memory[i]);
  if (of.keeps_step) result["step"] = number(static_cast<double>(slot.steps));
  return result;
}

void StepState::load(size_t parameter, const Named& state) {
  Slot& slot = slots_.at(parameter);
  const OptimizerSettings& optimizer = groups_[slot.group].optimizer;
  if (state.empty()) {
    slot.state.clear();
    slot.steps = 0;
    return;
  }
  auto find = [&](const std::string& name) {
    auto found = state.find(name);
    if (found != state.end() && found->second.defined()) return found->second;
    fail(ErrorKind::value,
         "load_state: '{}' is missing in the state of parameter {}; it was saved by another "
         "optimiser",
         name, parameter);
  };
  prepare(slot);
  for (const auto& [name, sizes, begin] : optim::first_state(optimizer, slot.parameter.sizes())) {
    Tensor value = find(name);
    if (!(value.sizes() == sizes)) {
      fail(ErrorKind::value, "load_state: '{}' of parameter {} has sizes {}; expected {}", name,
           parameter, text(value.sizes()), text(sizes));
    }
    slot.state.at(name).copy_(value.detach());
  }
  const optim::Description& of = optim::description_of(optimizer);
  slot.memory.clear();
  for (const std::string& name : of.memory) slot.memory.push_back(find(name).item().to_double());
  slot.steps = of.keeps_step ? static_cast<int64_t>(find("step").item().to_double()) : 1;
}

size_t StepState::place_of(const Tensor& parameter) const {
  for (size_t i = 0; i < slots_.size(); i++) {
    if (slots_[i].parameter.is_same(parameter)) return i;
  }
  fail(ErrorKind::value,
       "{}: a tensor of sizes {} is no parameter of this step; pass one of those that the step was "
       "made with",
       who_, text(parameter.sizes()));
}

}  // namespace fg::compiler
