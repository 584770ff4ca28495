// The description of an optimiser: one value in optim/<name>.cpp says what it keeps, which numbers
// a step has, and how they update a parameter.
//
//   struct State { Tensor momentum_buffer; };                 // PyTorch's names
//   struct Numbers { OptScalar momentum, size; };             // absent: that part is left out
//   const Described sgd = describe<fg::SGD, State, Numbers>({.name = "SGD", ...});
//
// Numbers are computed in double before a step: a captured update takes them as inputs, and another
// learning rate captures nothing anew. A formula uses operations that fuse into one loop over a
// parameter. Eager and compiled steps run the same formula: equal bits.
#pragma once

#include "ir/fields.h"
#include "optim/description.h"

namespace fg::optim {

// A description with types, as its author writes it. `Numbers` has fields OptScalar, `State` has
// fields Tensor.
template <class Settings, class State, class Numbers>
struct Written {
  const char *name, *documentation, *python;
  const char* python_base = "";
  std::map<std::string, bool> python_fixed{};
  const char* begins_at = "";
  bool keeps_step = true;
  OwnNumbers own_numbers = OwnNumbers::all;
  // State that is kept only if a number is there.
  std::vector<std::pair<Tensor State::*, OptScalar Numbers::*>> kept_with{};
  void (*check)(const Settings&) = [](const Settings&) {};
  Numbers (*numbers)(const Settings&, int64_t step);  // of a step, counted from 1
  void (*update)(const Tensor& parameter, const State&, Tensor gradient, const Numbers&);
};

namespace detail {

template <class Settings>
void describe_settings(Description& made) {
  constexpr auto& rows = SettingsOf<Settings>::all;
  auto value_of = [](const Settings& all, const Setting<Settings>& row) {
    return std::visit([&](auto field) { return SettingValue(all.*field); }, row.field);
  };
  for (const auto& row : rows) {
    made.settings.push_back({row.name, row.range, row.documentation, value_of(Settings{}, row)});
  }
  made.values = [value_of](const OptimizerSettings& settings) {
    std::vector<SettingValue> result;
    for (const auto& row : rows) result.push_back(value_of(std::get<Settings>(settings), row));
    return result;
  };
  made.make = [](const std::vector<SettingValue>& values) {
    Settings result;
    for (size_t i = 0; i < std::size(rows); i++) {
      auto set = [&](auto field) {
        result.*field = std::get<std::decay_t<decltype(result.*field)>>(values[i]);
      };
      std::visit(set, rows[i].field);
    }
    return OptimizerSettings(result);
  };
}

// The place of a field of a struct whose fields all have its type.
template <class S, class T>
size_t place_of(T S::* field) {
  S object;
  auto find = [&](auto&... each) {
    size_t place = 0, found = 0;
    ((found = &(object.*field) == &each ? place : found, place++), ...);
    return found;
  };
  return std::apply(find, ir::fields(object));
}

template <class State, class Numbers>
auto keeps_of(const std::vector<std::pair<Tensor State::*, OptScalar Numbers::*>>& kept_with) {
  std::vector<std::pair<size_t, size_t>> places;  // of state and number
  for (auto [state, number] : kept_with) places.emplace_back(place_of(state), place_of(number));
  return [places](const optim::Numbers& numbers) {
    std::vector<bool> result(ir::field_count<State>, true);
    for (auto [state, number] : places) result[state] = numbers[number].has_value();
    return result;
  };
}

// The update for numbers and state in order, of the one for both by name.
template <class State, class Numbers, class Keeps, class F>
Update update_by_name(const Keeps& keeps, F update) {
  return [=](const Tensor& parameter, const Tensors& given, Tensor gradient,
             const optim::Numbers& numbers) {
    State state;
    Numbers named;
    size_t place = 0, next = 0;
    auto name_number = [&](OptScalar& number) { number = numbers.at(place++); };
    std::apply([&](auto&... each) { (name_number(each), ...); }, ir::fields(named));
    std::vector<bool> kept = keeps(numbers);
    place = 0;
    auto name_state = [&](Tensor& tensor) {
      if (kept[place++]) tensor = given.at(next++);
    };
    std::apply([&](auto&... each) { (name_state(each), ...); }, ir::fields(state));
    NoGradGuard no_grad;
    update(parameter, state, std::move(gradient), named);
  };
}

}  // namespace detail

template <class Settings, class State, class Numbers>
Described describe(const Written<Settings, State, Numbers>& written) {
  Description made;
  made.name = written.name;
  made.documentation = written.documentation;
  made.python = written.python;
  made.python_base = written.python_base;
  made.python_fixed = written.python_fixed;
  made.begins_at = written.begins_at;
  made.keeps_step = written.keeps_step;
  made.own_numbers = written.own_numbers;
  detail::describe_settings<Settings>(made);
  for (std::string_view name : ir::field_names<State>()) made.state.emplace_back(name);
  made.check = [check = written.check](const OptimizerSettings& settings) {
    check(std::get<Settings>(settings));
  };
  made.numbers = [numbers = written.numbers](const OptimizerSettings& settings, int64_t step) {
    Numbers named = numbers(std::get<Settings>(settings), step);
    return std::apply([](auto&... each) { return optim::Numbers{each...}; }, ir::fields(named));
  };
  auto keeps = detail::keeps_of(written.kept_with);
  made.keeps = keeps;
  made.update = detail::update_by_name<State, Numbers>(keeps, written.update);
  return {OptimizerSettings(Settings{}).index(), std::move(made)};
}

// A number that is there only if it is wanted.
inline OptScalar given(bool wanted, double number) {
  return wanted ? OptScalar(number) : std::nullopt;
}
inline OptScalar given_if_not_0(double number) { return given(number != 0, number); }

}  // namespace fg::optim
