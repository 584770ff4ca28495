#include "nn/module.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/fail.h"
#include "compile/compile.h"
#include "ops/copy/copy.h"

namespace fg::nn {

void fail_missing_key(std::string_view key) {
  fail(ErrorKind::index, "OrderedDict: there is no key '{}'", key);
}
void fail_known_key(std::string_view key) {
  fail(ErrorKind::value, "OrderedDict: the key '{}' is there already", key);
}

void fail_empty_holder() {
  fail(
      "ModuleHolder: the handle is empty, it was made of nullptr; assign a module before it is "
      "used");
}

namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

using Seen = std::set<const void*>;

// Calls f(module) for each module below this one, once, without making its path.
template <class F>
void visit_modules(const Module& module, Seen& seen, const F& f) {
  if (!seen.insert(&module).second) return;
  f(module);
  for (const auto& child : module.named_children()) {
    if (child.value()) visit_modules(*child.value(), seen, f);
  }
}

template <class F>
void walk_from(const std::string& path, const Module& module, Seen& seen, const F& f) {
  if (!seen.insert(&module).second) return;
  f(path, module);
  for (const auto& child : module.named_children()) {
    if (child.value()) walk_from(joined(path, child.key()), *child.value(), seen, f);
  }
}

void check_converts(const Tensor& value, const Tensor& target, const std::string& key,
                    std::vector<std::string>& errors) {
  if (value.defined() && value.sizes() == target.sizes()) return;
  errors.push_back(fmt::format(
      "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current "
      "model is {}.",
      key, value.defined() ? text(value.sizes()) : "(undefined)", text(target.sizes())));
}

std::string quoted(const std::vector<std::string>& keys) {
  return fmt::format("\"{}\"", fmt::join(keys, "\", \""));
}

// The memory changes, the tensor stays: optimisers hold it.
void convert(const Tensor& tensor, DType dtype) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.dtype() == dtype) return;
  NoGradGuard no_grad;
  bool requires_grad = tensor.requires_grad();
  Tensor grad = tensor.grad();
  tensor.set_grad({});
  tensor.requires_grad_(false);
  tensor.set_data(tensor.detach().to(dtype));
  tensor.requires_grad_(requires_grad);
  if (grad.defined()) tensor.set_grad(grad.to(dtype));
}

}  // namespace

template <class F>
void Module::walk(const F& f) const {
  Seen seen;
  walk_from("", *this, seen, f);
}

void Module::check_name(const char* what, const std::string& name) const {
  if (name.empty() || name.find('.') != std::string::npos) {
    fail(ErrorKind::value, "register_{}: the name '{}' is empty or has a dot in it", what, name);
  }
  auto is_it = [&](const auto& each) { return each.first == name; };
  auto is_buffer = [&](const Buffer& each) { return each.name == name; };
  if (std::any_of(parameters_.begin(), parameters_.end(), is_it) ||
      std::any_of(buffers_.begin(), buffers_.end(), is_buffer) || children_.contains(name)) {
    fail(ErrorKind::value, "register_{}: '{}' is registered already", what, name);
  }
}

Tensor Module::register_parameter(std::string name, const Tensor& tensor, bool requires_grad) {
  check_name("parameter", name);
  if (tensor.defined()) {
    if (!tensor.is_leaf()) {
      fail(ErrorKind::value,
           "register_parameter: '{}' was computed by a function with a gradient; a parameter is a "
           "leaf, compute the value in forward()",
           name);
    }
    tensor.requires_grad_(requires_grad);
  }
  parameters_.emplace_back(std::move(name), tensor);
  return tensor;
}

Tensor Module::register_buffer(std::string name, const Tensor& tensor, bool persistent) {
  check_name("buffer", name);
  buffers_.push_back({std::move(name), tensor, persistent});
  return tensor;
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_name("module", name);
  children_.insert(std::move(name), std::move(module));
}

OrderedDict<Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<Tensor> result;
  Seen seen;
  walk([&](const std::string& path, const Module& module) {
    if (!recurse && &module != this) return;
    for (const auto& [name, tensor] : module.parameters_) {
      if (tensor.defined() && seen.insert(tensor.impl()).second) {
        result.insert(joined(path, name), tensor);
      }
    }
  });
  return result;
}

OrderedDict<Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<Tensor> result;
  Seen seen;
  walk([&](const std::string& path, const Module& module) {
    if (!recurse && &module != this) return;
    for (const Buffer& buffer : module.buffers_) {
      if (buffer.tensor.defined() && seen.insert(buffer.tensor.impl()).second) {
        result.insert(joined(path, buffer.name), buffer.tensor);
      }
    }
  });
  return result;
}

// Read at every call of compiled code.
Tensors Module::parameters(bool recurse) const {
  Tensors result;
  Seen modules, tensors;
  visit_modules(*this, modules, [&](const Module& module) {
    if (!recurse && &module != this) return;
    for (const auto& [name, tensor] : module.parameters_) {
      if (tensor.defined() && tensors.insert(tensor.impl()).second) result.push_back(tensor);
    }
  });
  return result;
}

Tensors Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::shared_ptr<Module>> Module::named_modules() {
  OrderedDict<std::shared_ptr<Module>> result;
  walk([&](const std::string& path, const Module& module) {
    result.insert(path, const_cast<Module&>(module).shared_from_this());
  });
  return result;
}

// As PyTorch does: a module that is in two places is saved in both.
static void add_state(const std::string& path, const Module& module, StateDict& result,
                      const std::function<void(const std::string&, const Module&)>& own) {
  own(path, module);
  for (const auto& child : module.named_children()) {
    if (child.value()) add_state(joined(path, child.key()), *child.value(), result, own);
  }
}

StateDict Module::state_dict() const {
  StateDict result;
  add_state("", *this, result, [&](const std::string& path, const Module& module) {
    for (const auto& [name, tensor] : module.parameters_) {
      if (tensor.defined()) result.insert(joined(path, name), tensor);
    }
    for (const Buffer& buffer : module.buffers_) {
      if (buffer.persistent && buffer.tensor.defined()) {
        result.insert(joined(path, buffer.name), buffer.tensor);
      }
    }
  });
  return result;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict) {
  IncompatibleKeys found;
  std::vector<std::string> errors;
  StateDict own = state_dict();
  for (const auto& item : own) {
    const Tensor* value = state.find(item.key());
    if (!value)
      found.missing_keys.push_back(item.key());
    else
      check_converts(*value, item.value(), item.key(), errors);
  }
  for (const auto& item : state) {
    if (!own.contains(item.key())) found.unexpected_keys.push_back(item.key());
  }
  if (strict && !found.unexpected_keys.empty()) {
    errors.insert(errors.begin(), fmt::format("Unexpected key(s) in state_dict: {}. ",
                                              quoted(found.unexpected_keys)));
  }
  if (strict && !found.missing_keys.empty()) {
    errors.insert(errors.begin(),
                  fmt::format("Missing key(s) in state_dict: {}. ", quoted(found.missing_keys)));
  }
  if (!errors.empty()) {
    fail("Error(s) in loading state_dict:\n\t{}", fmt::join(errors, "\n\t"));
  }
  NoGradGuard no_grad;
  for (const auto& item : own) {
    if (const Tensor* value = state.find(item.key())) item.value().copy_(*value);
  }
  return found;
}

void Module::note_reader() const {
  auto module = weak_from_this();
  if (module.expired()) return;  // on the stack: its life is not known
  compiler::depends_on([module, on = training_] {
    auto alive = module.lock();  // one that the function made itself is gone
    return !alive || alive->training_ == on;
  });
}

void Module::train(bool on) {
  if (training_ != on) {
    training_ = on;
    compiler::something_changed();
  }
  for (const auto& child : children_) {
    if (child.value()) child.value()->train(on);
  }
}

void Module::requires_grad_(bool on) {
  for (const Tensor& parameter : parameters()) parameter.requires_grad_(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (!parameter.grad().defined()) continue;
    if (set_to_none)
      parameter.set_grad({});
    else
      parameter.set_grad(parameter.grad().detach().zero_());
  }
}

void Module::to(DType dtype) {
  if (!is_floating(dtype)) {
    fail(ErrorKind::type, "Module::to: a module has floating parameters, got {}", name(dtype));
  }
  for (const Tensor& parameter : parameters()) convert(parameter, dtype);
  for (const Tensor& buffer : buffers()) convert(buffer, dtype);
}

void Module::apply(const Callback<void(Module&)>& function) {
  for (const auto& child : children_) {
    if (child.value()) child.value()->apply(function);
  }
  function(*this);
}

std::string Module::capture_key() const {
  std::string key = "modes ";
  Seen seen;
  visit_modules(*this, seen, [&](const Module& module) { key += module.training_ ? 't' : 'e'; });
  return key;
}

}  // namespace fg::nn
