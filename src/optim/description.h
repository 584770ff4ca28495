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

// A number as a formula sees it: none, a number, or a tensor that gradients flow through.
class Number {
 public:
  Number() = default;
  Number(double number) : there_(true), scalar_(number) {}  // NOLINT: numbers are Numbers
  Number(const OptScalar& number)                           // NOLINT
      : there_(number.has_value()), scalar_(number ? *number : Scalar()) {}
  Number(Tensor tensor) : there_(true), tensor_(std::move(tensor)) {}  // NOLINT
  explicit operator bool() const { return there_; }
  Tensor operator*() const { return tensor_.defined() ? tensor_ : Tensor(scalar_); }
  OptScalar number() const { return there_ ? OptScalar(scalar_) : std::nullopt; }

 private:
  bool there_ = false;
  Scalar scalar_;
  Tensor tensor_;
};

// A number that a parameter's state keeps from step to step, in the precision of the tensor
// without dimensions that it is there.
class Remembered {
 public:
  Remembered(double value = 0);               // NOLINT: a number
  operator double() const { return value_; }  // NOLINT
  Remembered times(double factor) const;      // the factor is rounded before, as PyTorch's
  bool operator<(const Remembered& other) const { return value_ < other.value_; }

 private:
  double value_;
};
using Memory = std::vector<Remembered>;
// The dtype of such tensors, and of counts of steps.
DType number_dtype();

// Replaces the parameter and its state by the next ones; `turns`: of a loop, if it has one.
using Update = std::function<void(Tensor& parameter, Tensors& states, const Tensor& gradient,
                                  const std::vector<Number>& numbers, int64_t turns)>;

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
  std::vector<std::string> state;   // names of all tensors that it may keep
  std::vector<std::string> memory;  // names of the numbers that it remembers
  bool keeps_step = true;           // whether "step" is part of the state
  bool begins_early = false;        // state is there before the first step
  bool by_elements = true;          // an element of the next values depends on its own place alone
  bool linear_in_rate = true;       // numbers are linear functions of lr
  OwnNumbers own_numbers = OwnNumbers::all;

  std::function<std::vector<SettingValue>(const OptimizerSettings&)> values;
  std::function<OptimizerSettings(const std::vector<SettingValue>&)> make;
  std::function<void(const OptimizerSettings&)> check;  // of several settings together
  std::function<void(const Tensor& parameter)> check_parameter;
  std::function<Memory(const OptimizerSettings&)> remember;  // before the first step
  std::function<Numbers(const OptimizerSettings&, int64_t step, Memory&)> numbers;
  // For each name in `state`: its sizes, or nothing if it is not kept.
  std::function<std::vector<std::optional<Dims>>(const Numbers&, const Dims& sizes)> keeps;
  std::function<double(const OptimizerSettings&, size_t state)> begins_at;
  std::function<int64_t(const OptimizerSettings&)> turns;
  Update update;
};

// Puts a description into the table.
struct Described {
  Described(size_t place, Description description);
};

const std::vector<Description>& descriptions();
const Description& description_of(const OptimizerSettings& settings);
const Description& description_of(const std::string& name);

// The formula of an optimiser with the numbers of a step.
struct Formula {
  const Description& of;
  std::vector<Number> numbers;
  int64_t turns = 0;
  void update(Tensor& parameter, Tensors& states, const Tensor& gradient) const {
    of.update(parameter, states, gradient, numbers, turns);
  }
};
// The name of a formula without its numbers, as "SGD" or "Muon:5", and back.
std::string formula_name(const OptimizerSettings& settings);
Formula formula_of(const std::string& formula_name, const Numbers& numbers);

void check(const OptimizerSettings& settings);  // refuses what PyTorch refuses
// State that an optimiser keeps for a parameter before the first step, by PyTorch's names.
struct FirstState {
  std::string name;
  Dims sizes;
  double value;
  Tensor made(const Tensor& parameter) const;
};
std::vector<FirstState> first_state(const OptimizerSettings& settings, const Dims& sizes);
std::vector<std::string> state_names(const OptimizerSettings& settings, const Dims& sizes = {1});
const std::string& name(const OptimizerSettings& settings);
double lr_of(const OptimizerSettings& settings);

// Numbers of the `step`-th update of a parameter, counted from 1.
Numbers numbers(const OptimizerSettings& settings, int64_t step, Memory& memory);

}  // namespace fg::optim
