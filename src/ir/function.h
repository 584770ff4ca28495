// Functions as C++ objects: `inline constexpr Function<"sum(Tensor self, ...) -> Tensor"> sum;` is
// callable with the signature that the schema spells, trailing defaults filled in. The body lives
// in a .cpp file (ir/define.h), so that users do not compile it.
#pragma once

#include "ir/signature.h"

namespace fg::ir {

template <class Sig, class Sequence>
struct EntryOf;
template <class Sig, size_t... I>
struct EntryOf<Sig, std::index_sequence<I...>> {
  using Type = typename Sig::Result (*)(typename Sig::template Passed<I>...);
};

// What the library fills in for one schema, shared by every binary in the process.
template <Text S>
struct __attribute__((visibility("default"))) Slot {
  using Sig = Signature<S>;
  using Entry = typename EntryOf<Sig, std::make_index_sequence<Sig::count>>::Type;
  inline static Entry call = nullptr;
  inline static Entry call_inplace = nullptr;  // writes into the first argument and returns it
};

// One call operator per number of arguments, so that braces work: fg::sum(x, {1}, true).
template <class S, class Given>
struct Call;
template <class S, size_t... Given>
struct Call<S, std::index_sequence<Given...>> {
  using Sig = typename S::Sig;
  typename Sig::Result operator()(typename Sig::template Passed<Given>... args) const {
    return [&]<size_t... Filled>(std::index_sequence<Filled...>) {
      return S::call(args..., default_at<Sig, sizeof...(Given) + Filled>()...);
    }(std::make_index_sequence<Sig::count - sizeof...(Given)>());
  }
};
template <class S, class Given>
struct InplaceCall;
template <class S, size_t... Given>
struct InplaceCall<S, std::index_sequence<Given...>> {
  using Sig = typename S::Sig;
  typename Sig::Result operator()(typename Sig::template Passed<Given>... args) const {
    return [&]<size_t... Filled>(std::index_sequence<Filled...>) {
      return S::call_inplace(args..., default_at<Sig, sizeof...(Given) + Filled>()...);
    }(std::make_index_sequence<Sig::count - sizeof...(Given)>());
  }
};

template <class S, template <class, class> class Form, class Sequence>
struct CallsOf;
template <class S, template <class, class> class Form, size_t... Optional>
struct CallsOf<S, Form, std::index_sequence<Optional...>>
    : Form<S, std::make_index_sequence<S::Sig::required + Optional>>... {
  using Form<S, std::make_index_sequence<S::Sig::required + Optional>>::operator()...;
};
template <class S, template <class, class> class Form>
using Calls = CallsOf<S, Form, std::make_index_sequence<S::Sig::count - S::Sig::required + 1>>;

template <Text S>
struct Single {};

// A name with one or more schemas, told apart by their argument types.
template <Text... S>
struct Function : Calls<Slot<S>, Call>... {
  using Calls<Slot<S>, Call>::operator()...;

  template <size_t N>
  static constexpr auto overload() {
    return std::get<N>(std::tuple<Single<S>...>{});
  }
};

// The in-place form of a function whose definition asks for one.
template <Text... S>
struct Inplace : Calls<Slot<S>, InplaceCall>... {
  using Calls<Slot<S>, InplaceCall>::operator()...;
  constexpr explicit Inplace(Function<S...>) {}
};
template <Text... S>
Inplace(Function<S...>) -> Inplace<S...>;

}  // namespace fg::ir
