// The description of an optimiser: one value in optim/<name>.cpp says what it keeps, which numbers
// a step has, and how they update a parameter.
//
//   struct State { Tensor momentum_buffer; };            // PyTorch's names
//   struct Numbers { Number momentum, size; };           // absent: that part is left out
//   const Described sgd = describe<fg::SGD, State, Numbers>({.name = "SGD", ...});
//
// Numbers are computed in double before a step: a captured update takes them as inputs, and another
// learning rate captures nothing anew. A formula writes nothing: it puts the next tensors in the
// place of those that it got. Operations of elements are best, they fuse into one loop over a
// parameter, compiled and eager (optim/rows.h), with equal bits.
#pragma once

#include "ir/fields.h"
#include "optim/description.h"

namespace fg::optim {

struct NoMemory {};

// A description with types, as its author writes it. `Numbers` has fields Number, `State` has
// fields Tensor, `Memory` has fields Remembered.
template <class Settings, class State, class Numbers, class Memory = NoMemory>
struct Written {
  const char *name, *documentation, *python;
  const char* python_base = "";
  std::map<std::string, bool> python_fixed{};
  bool keeps_step = true, begins_early = false, by_elements = true, linear_in_rate = true;
  OwnNumbers own_numbers = OwnNumbers::all;
  // State that is kept only if a number is there, and state that does not begin with zeros.
  std::vector<std::pair<Tensor State::*, Number Numbers::*>> kept_with{};
  std::vector<std::pair<Tensor State::*, double Settings::*>> begins_at{};
  // The sizes of a state for a parameter of these sizes; nothing: it is not kept.
  std::optional<Dims> (*sizes)(std::string_view state, const Dims& sizes) = nullptr;
  void (*check)(const Settings&) = [](const Settings&) {};
  void (*check_parameter)(const Tensor&) = [](const Tensor&) {};
  Memory (*remember)(const Settings&) = [](const Settings&) { return Memory{}; };
  Numbers (*numbers)(const Settings&, int64_t step, Memory&);  // of a step, counted from 1
  // One of the two formulas; the second one has a loop of so many turns, which is part of it.
  Tensor (*update)(Tensor parameter, State&, Tensor gradient, const Numbers&) = nullptr;
  Tensor (*repeated)(Tensor parameter, State&, Tensor gradient, const Numbers&,
                     int64_t turns) = nullptr;
  int64_t (*turns)(const Settings&) = [](const Settings&) { return int64_t{0}; };
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

// The sizes of all state for a parameter, of the description's words about it.
template <class W>
auto keeps_of(const W& written, const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, size_t>> with;  // of state and number
  for (auto [state, number] : written.kept_with) {
    with.emplace_back(place_of(state), place_of(number));
  }
  return [with, names, sizes_of = written.sizes](const optim::Numbers& numbers, const Dims& sizes) {
    std::vector<std::optional<Dims>> result(names.size(), sizes);
    for (size_t i = 0; sizes_of && i < names.size(); i++) result[i] = sizes_of(names[i], sizes);
    for (auto [state, number] : with) {
      if (!numbers[number]) result[state] = std::nullopt;
    }
    return result;
  };
}

template <class Settings, class W>
auto begins_of(const W& written) {
  std::vector<std::pair<size_t, double Settings::*>> places;
  for (auto [state, setting] : written.begins_at) places.emplace_back(place_of(state), setting);
  return [places](const OptimizerSettings& settings, size_t state) {
    for (auto [place, setting] : places) {
      if (place == state) return std::get<Settings>(settings).*setting;
    }
    return 0.0;
  };
}

// The numbers and what they remember in order, of the function for both by name.
template <class Settings, class Numbers, class Memory, class W>
void describe_numbers(Description& made, const W& written) {
  auto in_order = [](auto& named) {
    return std::apply([](auto&... each) { return std::vector<Remembered>{each...}; },
                      ir::fields(named));
  };
  made.remember = [remember = written.remember, in_order](const OptimizerSettings& settings) {
    Memory named = remember(std::get<Settings>(settings));
    return in_order(named);
  };
  made.numbers = [numbers = written.numbers, in_order](const OptimizerSettings& settings,
                                                       int64_t step, optim::Memory& memory) {
    Memory remembered;
    size_t next = 0;
    std::apply([&](auto&... each) { ((each = memory.at(next++)), ...); }, ir::fields(remembered));
    Numbers named = numbers(std::get<Settings>(settings), step, remembered);
    memory = in_order(remembered);
    return std::apply([](auto&... each) { return optim::Numbers{each.number()...}; },
                      ir::fields(named));
  };
}

// The update for numbers and state in order, of the one for both by name.
template <class State, class Numbers, class W, class Keeps>
Update update_by_name(const W& written, const Keeps& keeps) {
  return [keeps, update = written.update, repeated = written.repeated](
             Tensor& parameter, Tensors& given, const Tensor& gradient,
             const std::vector<Number>& numbers, int64_t turns) {
    State state;
    Numbers named;
    size_t place = 0;
    std::apply([&](auto&... each) { ((each = numbers.at(place++)), ...); }, ir::fields(named));
    optim::Numbers there;
    for (const Number& number : numbers) there.push_back(number.number());
    auto kept = keeps(there, parameter.sizes());
    auto each_kept = [&](auto f) {
      size_t at = 0, next = 0;
      auto one = [&](Tensor& tensor) {
        if (kept[at++]) f(tensor, given.at(next++));
      };
      std::apply([&](auto&... each) { (one(each), ...); }, ir::fields(state));
    };
    each_kept([](Tensor& named, Tensor& in_order) { named = in_order; });
    parameter = repeated ? repeated(parameter, state, gradient, named, turns)
                         : update(parameter, state, gradient, named);
    each_kept([](Tensor& named, Tensor& in_order) { in_order = named; });
  };
}

}  // namespace detail

template <class Settings, class State, class Numbers, class Memory = NoMemory>
Described describe(const Written<Settings, State, Numbers, Memory>& written) {
  Description made;
  made.name = written.name;
  made.documentation = written.documentation;
  made.python = written.python;
  made.python_base = written.python_base;
  made.python_fixed = written.python_fixed;
  made.keeps_step = written.keeps_step;
  made.begins_early = written.begins_early;
  made.by_elements = written.by_elements;
  made.linear_in_rate = written.linear_in_rate;
  made.own_numbers = written.own_numbers;
  detail::describe_settings<Settings>(made);
  for (std::string_view name : ir::field_names<State>()) made.state.emplace_back(name);
  for (std::string_view name : ir::field_names<Memory>()) made.memory.emplace_back(name);
  made.check = [check = written.check](const OptimizerSettings& settings) {
    check(std::get<Settings>(settings));
  };
  made.check_parameter = written.check_parameter;
  detail::describe_numbers<Settings, Numbers, Memory>(made, written);
  made.turns = [turns = written.turns](const OptimizerSettings& settings) {
    return turns(std::get<Settings>(settings));
  };
  auto keeps = detail::keeps_of(written, made.state);
  made.keeps = keeps;
  made.begins_at = detail::begins_of<Settings>(written);
  made.update = detail::update_by_name<State, Numbers>(written, keeps);
  return {OptimizerSettings(Settings{}).index(), std::move(made)};
}

// A number that is there only if it is wanted.
inline Number given(bool wanted, double number) { return wanted ? Number(number) : Number(); }
inline Number given_if_not_0(double number) { return given(number != 0, number); }

}  // namespace fg::optim
