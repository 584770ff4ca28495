// The table of optimisers: what each keeps, which numbers a step has, how they update a parameter.
// Entries are made by describe() (optim/describe.h). Checks, steps and bindings read them here.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "optim/optimizers.h"
#include "tensor/tensor.h"

namespace fg::optim {

// The numbers of a step in order, and the state that the settings ask for in order.
using Numbers = std::vector<OptScalar>;
using Update =
    std::function<void(const Tensor& parameter, const Tensors&, Tensor gradient, const Numbers&)>;
using SettingValue = std::variant<double, bool, Betas>;

// Steps that have numbers of their own. `first`: the first one, if there is state.
enum class OwnNumbers { none, first, all };

struct Description {
  struct Row {
    const char* name;
    Range range;
    const char* documentation;
    SettingValue value;  // the default
  };
  std::string name, documentation;
  std::string python;                        // PyTorch's parameters after `params`, by name
  std::string python_base;                   // the class of which Python's is derived, or nothing
  std::map<std::string, bool> python_fixed;  // entries of Python's groups that are not settings
  std::vector<Row> settings;
  std::vector<std::string> state;  // names of all that it may keep
  std::string begins_at;           // the setting that is the first value of state, instead of 0
  bool keeps_step = true;          // whether "step" is part of the state
  OwnNumbers own_numbers = OwnNumbers::all;

  std::function<std::vector<SettingValue>(const OptimizerSettings&)> values;
  std::function<OptimizerSettings(const std::vector<SettingValue>&)> make;
  std::function<void(const OptimizerSettings&)> check;  // of several settings together
  std::function<Numbers(const OptimizerSettings&, int64_t step)> numbers;
  std::function<std::vector<bool>(const Numbers&)> keeps;  // for each name in `state`
  Update update;
};

// Puts a description into the table.
struct Described {
  Described(size_t place, Description description);
};

const std::vector<Description>& descriptions();
const Description& description_of(const OptimizerSettings& settings);
const Description& description_of(const std::string& name);

void check(const OptimizerSettings& settings);  // refuses what PyTorch refuses
// State that an optimiser keeps per parameter, by PyTorch's names: tensors like the parameter.
std::vector<std::string> state_names(const OptimizerSettings& settings);
// State before the first step.
Tensor first_state(const OptimizerSettings& settings, const Tensor& parameter);
const std::string& name(const OptimizerSettings& settings);
double lr_of(const OptimizerSettings& settings);

// Numbers of the `step`-th update of a parameter, counted from 1.
Numbers numbers(const OptimizerSettings& settings, int64_t step);
// The update of the optimiser of that name. It writes the parameter and its state, without
// recording.
const Update& update_of(const std::string& name);
// The same bits for eager steps of large parameters: block after block, so that an operation finds
// the results of the one before it in a near cache.
void update_in_blocks(const Update& update, const Tensor& parameter, const Tensors& state,
                      const Tensor& gradient, const Numbers& numbers);

}  // namespace fg::optim
