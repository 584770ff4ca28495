// The type of primitives: a name, a kind, a shape rule, a kernel, a gradient. None is named here.
#pragma once

#include <array>

#include "ir/call.h"
#include "ir/gradient.h"
#include "ir/params.h"

namespace fg::ir {

enum class Kind : uint8_t {
  elementwise,
  reduce,
  scan,
  view,
  contract,
  convolve,
  gather,
  scatter,
  random,
  create,
  sort,
  collective,
  higher_order,
  extern_call
};
const char* name(Kind kind);

// The shape of an output. Without strides it is contiguous; a view has strides and an offset.
struct Meta {
  Dims sizes;
  DType dtype = DType::f32;
  Dims strides{};
  Dim offset = 0;
  const TensorImpl* like = nullptr;  // a contiguous tensor of these sizes, where one is at hand
};

class Expr;

// The operation by which a reduction combines two elements.
enum class Combine : uint8_t { none, sum, prod, max, min };

// Room for the outputs of any primitive; checked when one is registered.
inline constexpr int kMostOutputs = 4;

struct PrimitiveInfo {
  std::string name;
  Kind kind = Kind::extern_call;
  int outputs = 1;
  const char* operands = "";  // a letter for each: t a tensor, o a tensor or none, l a list of them
  const ParamsType* params = nullptr;
  // The shape rule: works on abstract tensors with symbolic sizes too.
  void (*infer)(Operands inputs, const void* params, Meta* outputs) = nullptr;
  // The demands that callers meet, beyond the shape rule; checked for graphs that come as text.
  void (*require)(Operands inputs, const void* params) = nullptr;
  // The eager kernel; outputs are allocated as inferred. Views have none.
  void (*evaluate)(Operands inputs, const void* params, Tensor* outputs) = nullptr;
  // Elementwise only: the formula as an expression of its inputs, and the dtype to which input i is
  // converted before. Without a formula: a copy in the dtype of the output.
  Expr (*formula)(std::span<const Expr> inputs, const void* params) = nullptr;
  DType (*input_dtype)(Operands inputs, int i) = nullptr;
  // Reduce only: the dimensions of its input that are combined, and the result from those of blocks
  // in the canonical order: `blocks` has a row per kept index, `count` elements went into it.
  Combine combine = Combine::none;
  std::vector<bool> (*reduced)(const void* params, size_t rank) = nullptr;
  void (*finish)(const Tensor& blocks, int64_t count, const Tensor& output) = nullptr;
  // The number of leading dimensions whose indices are computed independently: a call on some of
  // the indices gives their results. All operands of the rank of the first one, and all outputs,
  // have these dimensions; other operands belong to every index. For reductions `reduced` says it.
  size_t (*independent)(const void* params, size_t rank) = nullptr;
  // Random only: the count of numbers that a call draws, where that is not one per element.
  Dim (*draws)(Operands inputs, const void* params) = nullptr;
  bool shares_input = false;  // the output is the memory of its input, though no view to autograd
  bool unspecified = false;   // its elements are any: `empty`
  bool copies = false;      // the output is its input in memory of its own, as another dtype maybe
  bool involutory = false;  // applied twice it gives the input, where that has the same dtype
  // Groups of inputs, as bits by place in `operands`. The floating outputs together are a linear
  // function, up to rounding, of the inputs of a group, with every other input as it is: add has
  // the group {0, 1}, mul the groups {0} and {1}. Tensors of other strides in their place give the
  // same elements or are refused. Forward mode sends tangents through the primitive itself, with a
  // call for each group.
  std::array<uint32_t, 2> linear{};
  bool (*linear_if)(const void* params) = nullptr;  // the parameters with which it is; null: all
  bool from_storage = false;  // a view whose offset counts from the storage, not from its input
  bool raises = false;  // whether it fails depends on elements: it runs if its result is unused
  bool has_gradient = false;
  Gradient gradient;
  const char* no_gradient = nullptr;  // the reason why it has none

  // The output aliases the first input.
  bool aliases_input() const { return kind == Kind::view || shares_input; }
  // The groups of `linear` for a call with these parameters; 0: none.
  std::array<uint32_t, 2> linear_groups(const void* parameters) const {
    return linear_if && !linear_if(parameters) ? std::array<uint32_t, 2>{} : linear;
  }
};

// Inputs as bits, written as a list of places.
struct InputSet {
  uint32_t bits = 0;
  InputSet(std::initializer_list<int> places) {
    for (int place : places) bits |= 1u << place;
  }
};

// Every primitive, in order of name.
const std::vector<const PrimitiveInfo*>& primitives();
void register_primitive(const PrimitiveInfo* primitive);
const PrimitiveInfo* find_primitive(std::string_view name);  // null: there is none

template <class P = NoParams>
struct Primitive : PrimitiveInfo {
  using Params = P;
  Primitive() { params = &ParamsOf<P>::type; }

  // Attaches gradient rules; the lambdas take (const Vjp&) or (const Vjp&, const P&).
  template <class... F>
  Primitive&& vjp(const char* node_name, RuleText<F>... rules) &&;
  Primitive&& of_storage() && {
    from_storage = true;
    linear = {};
    return std::move(*this);
  }
  Primitive&& sharing_input() && {
    shares_input = true;
    return std::move(*this);
  }
  Primitive&& of_any_elements() && {
    unspecified = true;
    return std::move(*this);
  }
  Primitive&& copying() && {
    copies = true;
    return std::move(*this).linear_in({0});
  }
  Primitive&& linear_in(InputSet group, InputSet other = {}) && {
    linear = {group.bits, other.bits};
    return std::move(*this);
  }
  // A rule that takes (const P&).
  template <auto rule>
  Primitive&& linear_where() && {
    linear_if = [](const void* params) { return rule(*static_cast<const P*>(params)); };
    return std::move(*this);
  }
  Primitive&& undoing_itself() && {
    involutory = true;
    return std::move(*this);
  }
  Primitive&& without_gradient(const char* reason) && {
    no_gradient = reason;
    return std::move(*this);
  }
  Primitive&& raising() && {
    raises = true;
    return std::move(*this);
  }
  // A rule that takes (Operands, const P&) and fails.
  template <auto rule>
  Primitive&& requiring() && {
    require = [](Operands inputs, const void* params) {
      rule(inputs, *static_cast<const P*>(params));
    };
    return std::move(*this);
  }
  Primitive&& apart(size_t (*leading)(const void* params, size_t rank)) && {
    independent = leading;
    return std::move(*this);
  }
  Primitive&& drawing(Dim (*numbers)(Operands inputs, const void* params)) && {
    draws = numbers;
    return std::move(*this);
  }

  template <class... T>
  Tensor operator()(const T&... inputs) const {
    Operand operands[] = {Operand(inputs)...};
    P params{};
    Tensor output;
    ir::bind(*this, operands, &params, &output);
    return output;
  }
  template <class... T>
  Tensor with(const P& params, const T&... inputs) const {
    std::array<Operand, sizeof...(T)> operands{Operand(inputs)...};
    Tensor output;
    ir::bind(*this, operands, &params, &output);
    return output;
  }
  // For primitives with several outputs.
  template <size_t N, class... T>
  std::array<Tensor, N> all(const P& params, const T&... inputs) const {
    std::array<Operand, sizeof...(T)> operands{Operand(inputs)...};
    std::array<Tensor, N> outputs;
    ir::bind(*this, operands, &params, outputs.data());
    return outputs;
  }
};

// A primitive in its final place: `const Registered add_p = elementwise<...>(...).vjp(...);`
template <class P>
struct Registered : Primitive<P> {
  Registered(Primitive<P>&& primitive) : Primitive<P>(std::move(primitive)) {  // NOLINT
    register_primitive(this);
  }
};

// Runs shape rules only: outputs have sizes but no data.
class ShapeInterpreter : public Interpreter {
 public:
  void call(Call& call) override;
  bool write(const Tensor& self, const Tensor&) override { return self.is_abstract(); }
};

// Keeps a rule's lambda callable from its type alone, with the arguments it asks for.
template <class F, class Args>
struct RunRule {
  static void run(const Vjp& v, const void* arguments, Tensors& grads) {
    auto store = [&](auto&& result) {
      if constexpr (std::is_same_v<std::decay_t<decltype(result)>, Tensors>) {
        grads = std::move(result);
      } else {
        grads.push_back(std::move(result));
      }
    };
    if constexpr (std::is_invocable_v<F, const Vjp&>) {
      store(F{}(v));
    } else if constexpr (std::is_invocable_v<F, const Vjp&, const Args&>) {
      store(F{}(v, *static_cast<const Args*>(arguments)));
    } else {
      store(std::apply([&](const auto&... args) { return F{}(v, args...); },
                       *static_cast<const Args*>(arguments)));
    }
  }
};

// Whether any of the lambdas takes more than the Vjp.
template <class... F>
constexpr bool read_arguments = !(std::is_invocable_v<F, const Vjp&> && ...);

template <class Args, class... F>
std::vector<Rule> bind_rules(RuleText<F>... rules) {
  return {Rule{rules.wrt, rules.saves, RunRule<F, Args>::run}...};
}

template <class P>
template <class... F>
Primitive<P>&& Primitive<P>::vjp(const char* node_name, RuleText<F>... rules) && {
  has_gradient = true;
  no_gradient = nullptr;
  gradient = {node_name, bind_rules<P>(rules...), read_arguments<F...>};
  return std::move(*this);
}

}  // namespace fg::ir
