// Modules without parameters of their own: Sequential, ModuleList, Dropout, activations.
#pragma once

#include "nn/module.h"

namespace fg::nn {

template <class M>
concept IsHandle = requires(const M& handle) { handle.ptr(); };

// Calls one module after the other. A module is a handle with forward(Tensor) -> Tensor.
class SequentialImpl : public Module {
 public:
  SequentialImpl() = default;
  template <class... Modules>
    requires(sizeof...(Modules) > 0 && (IsHandle<Modules> && ...))
  explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  template <class M>
  void push_back(const M& module) {
    push_back(std::to_string(size()), module);
  }
  template <class M>
  void push_back(std::string name, const M& module) {
    register_module(std::move(name), module.ptr());
    calls_.push_back([raw = module.ptr().get()](const Tensor& x) { return raw->forward(x); });
  }
  Tensor forward(Tensor input) const {
    if (calls_.empty()) fail_empty();
    for (const auto& call : calls_) input = call(input);
    return input;
  }
  size_t size() const { return calls_.size(); }
  std::shared_ptr<Module> operator[](size_t place) const { return named_children()[place].value(); }

 private:
  [[noreturn]] static void fail_empty();

  std::vector<Callback<Tensor(const Tensor&)>> calls_;  // the modules are kept as children
};
FG_MODULE(Sequential);

// A list of modules of one kind or of several.
class ModuleListImpl : public Module {
 public:
  template <class M>
  void push_back(const M& module) {
    register_module(std::to_string(size()), module.ptr());
  }
  size_t size() const { return named_children().size(); }
  std::shared_ptr<Module> operator[](size_t place) const { return named_children()[place].value(); }
  // The module at a place in its own type: list->at<LinearImpl>(0).forward(x).
  template <class M>
  M& at(size_t place) const {
    M* found = dynamic_cast<M*>(named_children()[place].value().get());
    if (!found) fail_kind(place);
    return *found;
  }

 private:
  [[noreturn]] static void fail_kind(size_t place);
};
FG_MODULE(ModuleList);

struct DropoutImpl : Module {
  explicit DropoutImpl(double p = 0.5);
  Tensor forward(const Tensor& input) const;
  double p;
};
FG_MODULE(Dropout);

// Any function of one tensor as a module: Functional([](const Tensor& x) { return x * 2; }).
struct FunctionalImpl : Module {
  explicit FunctionalImpl(Callback<Tensor(const Tensor&)> function)
      : function(std::move(function)) {}
  Tensor forward(const Tensor& input) const { return function(input); }
  Callback<Tensor(const Tensor&)> function;
};
FG_MODULE(Functional);

struct IdentityImpl : Module {
  Tensor forward(const Tensor& input) const { return input; }
};
FG_MODULE(Identity);
struct ReLUImpl : Module {
  Tensor forward(const Tensor& input) const;
};
FG_MODULE(ReLU);
struct GELUImpl : Module {
  explicit GELUImpl(std::string approximate = "none") : approximate(std::move(approximate)) {}
  Tensor forward(const Tensor& input) const;
  std::string approximate;
};
FG_MODULE(GELU);
struct SiLUImpl : Module {
  Tensor forward(const Tensor& input) const;
};
FG_MODULE(SiLU);
struct TanhImpl : Module {
  Tensor forward(const Tensor& input) const;
};
FG_MODULE(Tanh);
struct SigmoidImpl : Module {
  Tensor forward(const Tensor& input) const;
};
FG_MODULE(Sigmoid);
struct SoftmaxImpl : Module {
  explicit SoftmaxImpl(int64_t dim) : dim(dim) {}
  Tensor forward(const Tensor& input) const;
  int64_t dim;
};
FG_MODULE(Softmax);
struct FlattenImpl : Module {
  explicit FlattenImpl(int64_t start_dim = 1, int64_t end_dim = -1)
      : start_dim(start_dim), end_dim(end_dim) {}
  Tensor forward(const Tensor& input) const;
  int64_t start_dim, end_dim;
};
FG_MODULE(Flatten);
struct MaxPool2dImpl : Module {
  explicit MaxPool2dImpl(int64_t kernel, int64_t stride = 0, int64_t padding = 0)
      : kernel_size(kernel), stride(stride > 0 ? stride : kernel), padding(padding) {}
  Tensor forward(const Tensor& input) const;
  int64_t kernel_size, stride, padding;
};
FG_MODULE(MaxPool2d);

}  // namespace fg::nn
