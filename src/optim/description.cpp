#include "optim/description.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/create/create.h"
#include "ops/view/views.h"

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

// PyTorch's name of a setting in messages.
static std::string spoken(const std::string& name) {
  if (name == "lr") return "learning rate";
  return (name == "eps" ? "epsilon" : name) + " value";
}

static void check_value(const std::string& who, const Description::Row& row,
                        const SettingValue& value) {
  auto* number = std::get_if<double>(&value);
  if (number && row.range == Range::at_least_0 && !(*number >= 0)) {
    fail(ErrorKind::value, "{}: Invalid {}: {}; expected a number that is at least 0", who,
         spoken(row.name), *number);
  }
  auto* betas = std::get_if<Betas>(&value);
  bool is_limited = betas && row.range == Range::at_least_0_below_1;
  for (size_t i = 0; is_limited && i < betas->size(); i++) {
    double beta = (*betas)[i];
    if (beta >= 0 && beta < 1) continue;
    fail(ErrorKind::value,
         "{}: Invalid beta parameter at index {}: {}; expected a number that is at least 0 and "
         "less than 1",
         who, i, beta);
  }
}

void check(const OptimizerSettings& settings) {
  const Description& of = description_of(settings);
  std::vector<SettingValue> values = of.values(settings);
  for (size_t i = 0; i < values.size(); i++) check_value(of.name, of.settings[i], values[i]);
  of.check(settings);
}

std::vector<std::string> state_names(const OptimizerSettings& settings) {
  const Description& of = description_of(settings);
  std::vector<bool> keeps = of.keeps(of.numbers(settings, 1));
  std::vector<std::string> names;
  for (size_t i = 0; i < keeps.size(); i++) {
    if (keeps[i]) names.push_back(of.state[i]);
  }
  return names;
}

Tensor first_state(const OptimizerSettings& settings, const Tensor& parameter) {
  const Description& of = description_of(settings);
  double first = 0;
  for (size_t i = 0; !of.begins_at.empty() && i < of.settings.size(); i++) {
    if (of.settings[i].name == of.begins_at) first = std::get<double>(of.values(settings)[i]);
  }
  return (first == 0 ? zeros_like(parameter) : full_like(parameter, first)).detach();
}

const std::string& name(const OptimizerSettings& settings) { return description_of(settings).name; }

double lr_of(const OptimizerSettings& settings) {
  return std::visit([](const auto& known) { return known.lr; }, settings);
}

Numbers numbers(const OptimizerSettings& settings, int64_t step) {
  return description_of(settings).numbers(settings, step);
}

const Update& update_of(const std::string& name) { return description_of(name).update; }

void update_in_blocks(const Update& update, const Tensor& parameter, const Tensors& state,
                      const Tensor& gradient, const Numbers& numbers) {
  constexpr int64_t kBlock = 16384;
  int64_t count = parameter.numel();
  Tensors all = state;
  all.insert(all.end(), {parameter, gradient});
  auto fits = [&](const Tensor& x) { return x.is_contiguous() && x.sizes() == parameter.sizes(); };
  if (count <= kBlock || modes.interpreter || !std::all_of(all.begin(), all.end(), fits)) {
    update(parameter, state, gradient, numbers);
    return;
  }
  for (Tensor& each : all) each = each.detach().view({-1});
  int64_t blocks = (count + kBlock - 1) / kBlock;
  pool::parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      Tensors part;
      for (const Tensor& each : all) {
        part.push_back(each.narrow(0, i * kBlock, std::min(kBlock, count - i * kBlock)));
      }
      Tensor some_gradient = part.back(), some = part[part.size() - 2];
      part.resize(state.size());
      update(some, part, some_gradient, numbers);
    }
  });
}

}  // namespace fg::optim
