// Module: what has parameters, buffers and other modules. As in libtorch a user writes a struct
// NetImpl and names its handle:
//
//   struct NetImpl : fg::nn::Module {
//     NetImpl() : layer(register_module("layer", fg::nn::Linear(2, 3))) {}
//     fg::Tensor forward(const fg::Tensor& x) { return layer(x).relu(); }
//     fg::nn::Linear layer;
//   };
//   FG_MODULE(Net);
//
// A handle is a shared pointer that is made with its module: Net net; net->parameters(); net(x).
#pragma once

#include <memory>

#include "base/callback.h"
#include "nn/ordered_dict.h"
#include "tensor/tensor.h"

namespace fg::nn {

template <class Contained>
class ModuleHolder;
class Module;

using StateDict = OrderedDict<Tensor>;
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  Module() = default;
  // As in libtorch: a copy has the same parameters, buffers and children, not copies of them.
  Module(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;
  virtual ~Module() = default;

  // Each once, those of children after the module's own; names are paths, "layer.weight".
  Tensors parameters(bool recurse = true) const;
  OrderedDict<Tensor> named_parameters(bool recurse = true) const;
  Tensors buffers(bool recurse = true) const;
  OrderedDict<Tensor> named_buffers(bool recurse = true) const;
  // The module itself too, under the name "".
  OrderedDict<std::shared_ptr<Module>> named_modules();
  std::vector<std::shared_ptr<Module>> modules() { return named_modules().values(); }
  const OrderedDict<std::shared_ptr<Module>>& named_children() const { return children_; }
  std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }

  // Parameters and persistent buffers in PyTorch's order; the tensors themselves, not copies.
  StateDict state_dict() const;
  // Copies values. Strict: keys on one side only are an error.
  IncompatibleKeys load_state_dict(const StateDict& state, bool strict = true);

  virtual void train(bool on = true);
  void eval() { train(false); }
  // The mode is a condition of a function that is captured: another one captures it again.
  bool is_training() const {
    if (modes.capturing) [[unlikely]]
      note_reader();
    return training_;
  }
  void requires_grad_(bool on = true);
  void zero_grad(bool set_to_none = true);
  void to(DType dtype);  // floating parameters and buffers
  void apply(const Callback<void(Module&)>& function);

  // What is captured for one mode does not fit the other.
  std::string capture_key() const;

  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, const ModuleHolder<M>& holder) {
    return register_module(std::move(name), holder.ptr());
  }
  // An undefined tensor is a parameter that is not there.
  Tensor register_parameter(std::string name, const Tensor& tensor, bool requires_grad = true);
  Tensor register_buffer(std::string name, const Tensor& tensor, bool persistent = true);

 private:
  void note_reader() const;
  void add_child(std::string name, std::shared_ptr<Module> module);
  void check_name(const char* what, const std::string& name) const;
  // Calls f(path, module) for the module itself and all below it, each once.
  template <class F>
  void walk(const F& f) const;

  struct Buffer {
    std::string name;
    Tensor tensor;
    bool persistent;
  };
  std::vector<std::pair<std::string, Tensor>> parameters_;
  std::vector<Buffer> buffers_;
  OrderedDict<std::shared_ptr<Module>> children_;
  bool training_ = true;
};

[[noreturn]] void fail_empty_holder();

template <class Contained>
class ModuleHolder {
 public:
  using ContainedType = Contained;
  ModuleHolder()
    requires std::is_default_constructible_v<Contained>
      : impl_(std::make_shared<Contained>()) {}
  ModuleHolder(std::nullptr_t) {}                                                // NOLINT
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}  // NOLINT
  template <class First, class... Rest>
    requires((sizeof...(Rest) > 0 ||  // one handle alone is copied
              (!std::is_base_of_v<ModuleHolder, std::decay_t<First>> &&
               !std::is_convertible_v<First, std::shared_ptr<Contained>>)) &&
             std::is_constructible_v<Contained, First, Rest...>)
  explicit ModuleHolder(First&& first, Rest&&... rest)
      : impl_(
            std::make_shared<Contained>(std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  // The module; a handle made of nullptr has none, which is an error.
  Contained* get() const { return check(), impl_.get(); }
  Contained* operator->() const { return get(); }
  Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const { return check(), impl_; }
  bool is_empty() const { return !impl_; }
  explicit operator bool() const { return static_cast<bool>(impl_); }

  template <class... Args>
  auto operator()(Args&&... args) const {
    return get()->forward(std::forward<Args>(args)...);
  }

  decltype(auto) operator[](size_t place) const { return (*get())[place]; }

  // What fg::compile and fg::compile_step ask a callable or an argument for.
  Tensors parameters() const { return get()->parameters(); }
  std::string capture_key() const { return get()->capture_key(); }

 private:
  void check() const {
    if (!impl_) [[unlikely]]
      fail_empty_holder();
  }

  std::shared_ptr<Contained> impl_;
};

// The handle `Name` of the struct `NameImpl`.
#define FG_MODULE(Name)                                   \
  class Name : public fg::nn::ModuleHolder<Name##Impl> {  \
   public:                                                \
    using fg::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
    using Impl [[maybe_unused]] = Name##Impl;             \
  }

// One setting of a module, with its default: FG_OPTION(bool, bias, true);
// options.bias(false) sets it, options.bias() reads it.
#define FG_OPTION(Type, name, ...)             \
 public:                                       \
  auto& name(const Type& value) {              \
    name##_ = value;                           \
    return *this;                              \
  }                                            \
  const Type& name() const { return name##_; } \
                                               \
 private:                                      \
  Type name##_ { __VA_ARGS__ }

}  // namespace fg::nn
