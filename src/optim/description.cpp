#include "optim/description.h"

#include "base/fail.h"
#include "ops/create/create.h"

namespace fg::optim {

static std::vector<Description>& table() {
  static std::vector<Description> all(std::variant_size_v<OptimizerSettings>);
  return all;
}

Described::Described(size_t place, Description description) {
  table().at(place) = std::move(description);
}

const std::vector<Description>& descriptions() { return table(); }

const Description& description_of(const OptimizerSettings& settings) {
  return table()[settings.index()];
}

const Description& description_of(const std::string& name) {
  for (const Description& each : table()) {
    if (each.name == name) return each;
  }
  fail(ErrorKind::value, "{}: there is no optimiser of that name", name);
}

std::string formula_name(const OptimizerSettings& settings) {
  const Description& of = description_of(settings);
  int64_t turns = of.turns(settings);
  return turns == 0 ? of.name : fmt::format("{}:{}", of.name, turns);
}

Formula formula_of(const std::string& formula_name, const Numbers& numbers) {
  size_t colon = formula_name.find(':');
  int64_t turns = colon == std::string::npos ? 0 : std::stoll(formula_name.substr(colon + 1));
  return {description_of(formula_name.substr(0, colon)),
          std::vector<Number>(numbers.begin(), numbers.end()), turns};
}

// PyTorch's name of a setting in messages.
static std::string spoken(const std::string& name) {
  if (name == "lr") return "learning rate";
  return (name == "eps" ? "epsilon" : name) + " value";
}

static bool is_allowed(Range range, double number) {
  switch (range) {
    case Range::any:
      return true;
    case Range::at_least_0:
      return number >= 0;
    case Range::at_least_0_below_1:
      return number >= 0 && number < 1;
    case Range::from_0_to_1:
      return number >= 0 && number <= 1;
    case Range::at_most_0:
      return number <= 0;
    case Range::at_least_1:
      return number >= 1;
  }
  return true;
}

static const char* expected(Range range) {
  switch (range) {
    case Range::at_least_0_below_1:
      return "a number that is at least 0 and less than 1";
    case Range::from_0_to_1:
      return "a number from 0 to 1";
    case Range::at_most_0:
      return "a number that is at most 0";
    case Range::at_least_1:
      return "a number that is at least 1";
    default:
      return "a number that is at least 0";
  }
}

static void check_value(const std::string& who, const Description::Row& row,
                        const SettingValue& value) {
  if (auto* number = std::get_if<double>(&value); number && !is_allowed(row.range, *number)) {
    fail(ErrorKind::value, "{}: Invalid {}: {}; expected {}", who, spoken(row.name), *number,
         expected(row.range));
  }
  auto check_place = [&](const char* what, size_t i, double number) {
    if (is_allowed(row.range, number)) return;
    fail(ErrorKind::value, "{}: Invalid {} at index {}: {}; expected {}", who, what, i, number,
         expected(row.range));
  };
  if (auto* betas = std::get_if<Betas>(&value)) {
    for (size_t i = 0; i < betas->size(); i++) check_place("beta parameter", i, (*betas)[i]);
  }
  if (auto* epsilons = std::get_if<Epsilons>(&value)) {
    for (size_t i = 0; i < epsilons->size(); i++) {
      if ((*epsilons)[i]) check_place("epsilon", i, *(*epsilons)[i]);
    }
  }
}

void check(const OptimizerSettings& settings) {
  const Description& of = description_of(settings);
  std::vector<SettingValue> values = of.values(settings);
  for (size_t i = 0; i < values.size(); i++) check_value(of.name, of.settings[i], values[i]);
  of.check(settings);
}

std::vector<FirstState> first_state(const OptimizerSettings& settings, const Dims& sizes) {
  const Description& of = description_of(settings);
  Memory memory = of.remember(settings);
  auto kept = of.keeps(of.numbers(settings, 1, memory), sizes);
  std::vector<FirstState> result;
  for (size_t i = 0; i < kept.size(); i++) {
    if (kept[i]) result.push_back({of.state[i], *kept[i], of.begins_at(settings, i)});
  }
  return result;
}

std::vector<std::string> state_names(const OptimizerSettings& settings, const Dims& sizes) {
  std::vector<std::string> names;
  for (const FirstState& each : first_state(settings, sizes)) names.push_back(each.name);
  return names;
}

Tensor FirstState::made(const Tensor& parameter) const {
  if (!(sizes == parameter.sizes())) return full(sizes, value, parameter.dtype());
  return (value == 0 ? zeros_like(parameter) : full_like(parameter, value)).detach();
}

const std::string& name(const OptimizerSettings& settings) { return description_of(settings).name; }

double lr_of(const OptimizerSettings& settings) {
  return std::visit([](const auto& known) { return known.lr; }, settings);
}

Numbers numbers(const OptimizerSettings& settings, int64_t step, Memory& memory) {
  return description_of(settings).numbers(settings, step, memory);
}

DType number_dtype() { return default_dtype() == kFloat64 ? kFloat64 : kFloat32; }

Remembered::Remembered(double value)
    : value_(number_dtype() == kFloat64 ? value : static_cast<double>(static_cast<float>(value))) {}

Remembered Remembered::times(double factor) const {
  return static_cast<double>(*this) * static_cast<double>(Remembered(factor));
}

}  // namespace fg::optim
