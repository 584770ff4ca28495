#include "nn/optimizer.h"

#include <charconv>
#include <cmath>
#include <numbers>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/views.h"

namespace fg::optim {

Optimizer::Optimizer(std::vector<ParameterGroup> groups, std::string name)
    : state_(std::move(groups), std::move(name)) {}

Tensors Optimizer::parameters() const {
  Tensors all;
  for (const ParameterGroup& group : state_.groups()) {
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  }
  return all;
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (!parameter.grad().defined()) continue;
    if (set_to_none)
      parameter.set_grad({});
    else
      parameter.set_grad(parameter.grad().detach().zero_());
  }
}

void Optimizer::step() {
  compiler::Rules rules = state_.next_rules();
  Tensors gradients;
  for (const auto& [name, numbers, parameters, states] : rules) {
    for (const Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  }
  state_.advance(compiler::apply_rules(rules, std::move(gradients), {}).updated);
}

Tensor Optimizer::step(const Callback<Tensor()>& closure) {
  AutoGradMode with_gradients(true);
  Tensor loss = closure();
  step();
  return loss;
}

double Optimizer::lr() const { return lr_of(state_.groups()[0].optimizer); }

OrderedDict<Tensor> Optimizer::state_dict() const {
  OrderedDict<Tensor> result;
  for (size_t i = 0; i < state_.count(); i++) {
    for (const auto& [name, tensor] : state_.state(i)) {
      result.insert(fmt::format("{}.{}", i, name), tensor);
    }
  }
  return result;
}

void Optimizer::load_state_dict(const OrderedDict<Tensor>& state) {
  std::vector<compiler::StepState::Named> each(state_.count());
  for (const auto& item : state) {
    const std::string& key = item.key();
    size_t place = each.size(), dot = key.find('.');
    const char* end = key.data() + (dot == std::string::npos ? 0 : dot);
    auto read = std::from_chars(key.data(), end, place);
    if (read.ec != std::errc() || read.ptr != end || place >= each.size()) {
      fail(ErrorKind::value,
           "load_state_dict: '{}' is no state of one of the {} parameters; expected a number and a "
           "name, as '0.exp_avg'",
           key, each.size());
    }
    each[place][key.substr(dot + 1)] = item.value();
  }
  for (size_t i = 0; i < each.size(); i++) state_.load(i, each[i]);
}

double CosineSchedule::operator()(int64_t step) const {
  auto at = static_cast<double>(step), first = static_cast<double>(warmup);
  if (step < warmup) return high * (at + 1) / first;
  if (step >= total) return low;
  double part = (at - first) / static_cast<double>(total - warmup);
  return low + (high - low) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

}  // namespace fg::optim

namespace fg::nn::utils {

static Tensors gradients_of(const Tensors& parameters) {
  Tensors gradients;
  for (const Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

Tensor get_total_norm(const Tensors& tensors, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  return optim::norm_of(tensors, norm_type, error_if_nonfinite);
}

void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm) {
  NoGradGuard no_grad;
  Tensor scale = optim::scale_for(total_norm, max_norm);
  for (const Tensor& gradient : gradients_of(parameters)) gradient.mul_(scale);
}

double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  Tensor norm = get_total_norm(gradients_of(parameters), norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, norm);
  return norm.item<double>();
}

void clip_grad_value_(const Tensors& parameters, double clip_value) {
  NoGradGuard no_grad;
  for (const Tensor& gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}

Tensor parameters_to_vector(const Tensors& parameters) {
  Tensors flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.view({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const Tensors& parameters) {
  NoGradGuard no_grad;
  int64_t start = 0;
  for (const Tensor& parameter : parameters) {
    Tensor part = vector.narrow(0, start, parameter.numel());
    parameter.copy_(part.view(parameter.sizes()));
    start += parameter.numel();
  }
}

}  // namespace fg::nn::utils
