// Functions as C++ objects: `FG_FUNCTION Function<"sum(Tensor self, ...) -> Tensor"> sum;` is
// callable with the signature that the schema spells, trailing defaults filled in. The body lives
// in a .cpp file (ir/define.h), so that users do not compile it.
#pragma once

#include "ir/signature.h"

// The library defines the objects. Users only declare them: their compiler makes the class of a
// function where the function is called, and none for the hundreds of others.
#ifdef FOREGRAD_LIBRARY
#define FG_FUNCTION [[gnu::used]] inline constexpr
#else
#define FG_FUNCTION extern const
#endif

namespace fg::ir {

struct FunctionInfo;

// The entry points of one schema, set by the library and shared by every binary in the process.
template <Text S>
struct __attribute__((visibility("default"))) Slot {
  using Sig = Signature<S>;
  using Entry = typename Sig::Entry;
  inline static Entry call = nullptr;
  inline static Entry call_inplace = nullptr;  // writes into the first argument and returns it
  inline static const FunctionInfo* info = nullptr;
};

// Calls with the arguments given; the others are filled in from the schema.
template <class Sig, class Entry, class... Args>
typename Sig::Result call_with_defaults(Entry entry, const Args&... args) {
  return [&]<size_t... Filled>(std::index_sequence<Filled...>) {
    return entry(args..., default_at<Sig, sizeof...(Args) + Filled>()...);
  }(std::make_index_sequence<Sig::count - sizeof...(Args)>());
}

// One call operator per number of arguments, so that braces work: fg::sum(x, {1}, true).
template <class S, class Given>
struct PlainCall;
template <class S, Type... Given>
struct PlainCall<S, TypeList<Given...>> {
  typename S::Sig::Result operator()(typename TypeOf<Given>::Passed... args) const {
    return call_with_defaults<typename S::Sig>(S::call, args...);
  }
};
// The in-place form returns the tensor that it wrote to: `Tensor& y = fg::relu_(x)`.
template <class S, class Given>
struct InplaceCall;
template <class S, Type... Given>
struct InplaceCall<S, TypeList<Type::tensor, Given...>> {
  Tensor& operator()(const Tensor& self, typename TypeOf<Given>::Passed... args) const {
    call_with_defaults<typename S::Sig>(S::call_inplace, self, args...);
    return const_cast<Tensor&>(self);
  }
};

// A dtype may stand in the place of the generator before it: randn({2, 3}, kFloat64).
template <class S, class Given>
struct DTypeCall;
template <class S, Type... Given>
struct DTypeCall<S, TypeList<Given...>> {
  typename S::Sig::Result operator()(typename TypeOf<Given>::Passed... args, DType dtype) const {
    return S::call(args..., std::nullopt, dtype);
  }
};

// Options may stand in the place of the dtype of a new tensor. (A template, so that braces are
// none.)
template <class S, class Given>
struct OptionsCall;
template <class S, Type... Given>
struct OptionsCall<S, TypeList<Given...>> {
  template <std::same_as<TensorOptions> Options>
  Tensor operator()(typename TypeOf<Given>::Passed... args, Options options) const {
    if constexpr (S::Sig::makes == Makes::tensor_at_random)
      return S::call(args..., std::nullopt, options.dtype_opt())
          .requires_grad_(options.requires_grad());
    else
      return S::call(args..., options.dtype_opt()).requires_grad_(options.requires_grad());
  }
};

template <class S, template <class, class> class Form, class Sequence>
struct CallsOf;
template <class S, template <class, class> class Form, size_t... Optional>
struct CallsOf<S, Form, std::index_sequence<Optional...>>
    : Form<S, FirstOf<typename S::Sig, S::Sig::required + Optional>>... {
  using Form<S, FirstOf<typename S::Sig, S::Sig::required + Optional>>::operator()...;
};
template <class S, template <class, class> class Form>
struct CallsOf<S, Form, std::index_sequence<0>> : Form<S, FirstOf<typename S::Sig, S::Sig::count>> {
};
template <class S, template <class, class> class Form>
using Calls = CallsOf<S, Form, std::make_index_sequence<S::Sig::count - S::Sig::required + 1>>;

// Functions that make a tensor have more calls; the others pay nothing for them.
template <class S>
struct OptionsCalls : Calls<S, PlainCall>,
                      OptionsCall<S, FirstOf<typename S::Sig, S::Sig::count - 1>> {
  using Calls<S, PlainCall>::operator();
  using OptionsCall<S, FirstOf<typename S::Sig, S::Sig::count - 1>>::operator();
};
template <class S, class Given = FirstOf<typename S::Sig, S::Sig::count - 2>>
struct GeneratorCalls : Calls<S, PlainCall>, OptionsCall<S, Given>, DTypeCall<S, Given> {
  using Calls<S, PlainCall>::operator();
  using OptionsCall<S, Given>::operator();
  using DTypeCall<S, Given>::operator();
};
template <Makes>
struct CallsFor {
  template <class S>
  using Of = Calls<S, PlainCall>;
};
template <>
struct CallsFor<Makes::tensor> {
  template <class S>
  using Of = OptionsCalls<S>;
};
template <>
struct CallsFor<Makes::tensor_at_random> {
  template <class S>
  using Of = GeneratorCalls<S>;
};
template <class S>
using AllCalls = typename CallsFor<S::Sig::makes>::template Of<S>;

template <Text S>
struct Single {};

// A name with one or more schemas, told apart by their argument types.
template <Text... S>
struct Function : AllCalls<Slot<S>>... {
  using AllCalls<Slot<S>>::operator()...;

  template <size_t N>
  static constexpr auto overload() {
    return std::get<N>(std::tuple<Single<S>...>{});
  }
};

// The in-place form of a function whose definition asks for one.
template <Text... S>
struct Inplace : Calls<Slot<S>, InplaceCall>... {
  using Calls<Slot<S>, InplaceCall>::operator()...;
};
// FG_FUNCTION InplaceOf<decltype(relu)> relu_;
template <class F>
struct InplaceFor;
template <Text... S>
struct InplaceFor<const Function<S...>> {
  using Type = Inplace<S...>;
};
template <class F>
using InplaceOf = typename InplaceFor<F>::Type;

// Writes results into existing tensors, resizing them where PyTorch's out= would.
void write_outs(const FunctionInfo& info, std::span<const Tensor> results,
                std::span<const Tensor> outs);

// A function whose results go into `outs`.
template <Text... S>
class Out {
 public:
  Out(Function<S...> function, std::span<const Tensor> outs) : function_(function), outs_(outs) {}
  template <class... Args>
  void operator()(const Args&... args) const {
    auto result = function_(args...);
    const FunctionInfo& info = overload<Args...>();
    if constexpr (std::is_same_v<decltype(result), Tensor>) {
      write_outs(info, {&result, 1}, outs_);
    } else {
      std::apply([&](const auto&... part) { write_outs(info, std::array{part...}, outs_); },
                 result);
    }
  }

 private:
  // The overload that takes these arguments.
  template <class... Args>
  static const FunctionInfo& overload() {
    const FunctionInfo* found = nullptr;
    ((found = !found && std::is_invocable_v<Function<S>, const Args&...> ? Slot<S>::info : found),
     ...);
    return *found;
  }

  Function<S...> function_;
  std::span<const Tensor> outs_;
};

}  // namespace fg::ir

namespace fg {

// The out= forms: out(result, fg::add)(a, b) writes a + b into `result`.
template <Text... S>
ir::Out<S...> out(const Tensor& result, ir::Function<S...> function) {
  return {function, {&result, 1}};
}
template <Text... S>
ir::Out<S...> out(std::span<const Tensor> results, ir::Function<S...> function) {
  return {function, results};
}

}  // namespace fg
