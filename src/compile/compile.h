// fg::compile: a callable that captures itself on its first call and then runs the captured code.
//
//   auto step = fg::compile([](const Tensor& x, const Tensor& w) { return (x.mm(w)).tanh(); });
//   Tensor y = step(x, w);   // captured; further calls of that kind run the captured code
//
// Arguments are read again at every call, and so are the parameters() of the callable and of
// arguments; their capture_key() is a part of the key of a version. Anything else that the callable
// holds is fixed when it is captured; CompileOptions::check finds changes of it.
#pragma once

#include <memory>

#include "compile/counters.h"
#include "compile/nested.h"

namespace fg {

struct CompileOptions {
  bool fullgraph = false;  // a refused capture is an error; otherwise the function runs eagerly
  bool check = false;      // captures every call again and reports differences
  std::string name = "a compiled function";
};

namespace compiler {

// A result as tensors, and the shape of the containers that they came in.
struct FlatResult {
  Tensors tensors;
  std::shared_ptr<const void> structure;
};
// The arguments of a call, flattened once.
struct FlatCall {
  std::string key;     // all beside tensors that decides the version
  Tensors tensors;     // of the arguments, in order
  Tensors parameters;  // that the callable reads anew at every call
  Numbers numbers = Numbers::inputs;
};
using FlatBody = Callback<FlatResult(const Tensors& arguments)>;

// The versions of one function. Thread-safe.
class Versions;
struct ProgramOptions;
// `holds_state`: the callable has members, such as captured variables, that are not looked into.
std::shared_ptr<Versions> make_versions(CompileOptions options, bool holds_state = false);
std::shared_ptr<Versions> make_versions(CompileOptions options, ProgramOptions programs);
// Runs `body` as captured code. Nothing: not captured; call it eagerly, or flatten the call anew if
// numbers_of() has changed.
std::optional<FlatResult> call_version(Versions& versions, const FlatCall& call,
                                       const FlatBody& body);

// The digest under which the cache has the code of such a call; compiles nothing. Nothing: flatten
// the call anew, numbers are constants from now on.
std::optional<std::string> cache_key(Versions& versions, const FlatCall& call,
                                     const FlatBody& body);

// A page of HTML about the compiled versions: their graphs, kernels, time and memory.
std::string explain(Versions& versions);

// Numbers of calls: constants, once the function has asked for the value of one.
Numbers numbers_of(const Versions& versions);

using fg::is_capturing;

// Adds a condition to the function that is being captured: it is captured again when `unchanged` is
// false at a later call. Code that changes such state calls something_changed().
void depends_on(Callback<bool()> unchanged);
void something_changed();

// Whether a callable may hold a tensor or a number, beside parameters, that a later call would
// read anew.
template <class F>
constexpr bool holds_state = !std::is_empty_v<F> && !std::is_function_v<std::remove_pointer_t<F>>;

// A floating number is an input of the graph where the callable takes a Tensor or a Scalar for it.
template <class T, class N>
using AsArgument = std::conditional_t<std::is_floating_point_v<T>, N, T>;

template <class F>
class CompiledFunction {
 public:
  CompiledFunction(F function, std::shared_ptr<Versions> versions)
      : function_(std::move(function)), versions_(std::move(versions)) {}

  template <class... Args>
  auto operator()(const Args&... args) const {
    return with_numbers(
        [&]<class... Given>(const Given&... given) { return returned<Given...>(call(given...)); },
        args...);
  }

  // The key of the cache under which a call with these arguments keeps and finds its forward, as
  // `foregrad cache ls` shows it. Traces the function and compiles nothing; an Error says why a
  // function is not cached.
  template <class... Args>
  std::string cache_key(const Args&... args) const {
    return with_numbers([&](const auto&... given) { return key_of(given...); }, args...);
  }

  // A page of HTML about all versions there are: their graphs, kernels, time and memory. Takes
  // about as long as compiling them did.
  std::string explain() const { return compiler::explain(*versions_); }

 private:
  template <class Do, class... Args>
  static auto with_numbers(const Do& run, const Args&... args) {
    if constexpr (std::is_invocable_v<const F&, const AsArgument<Args, Tensor>&...>)
      return run(AsArgument<Args, Tensor>(args)...);
    else if constexpr (std::is_invocable_v<const F&, const AsArgument<Args, Scalar>&...>)
      return run(AsArgument<Args, Scalar>(args)...);
    else
      return run(args...);
  }

  // A function that returns nothing is one that returns no tensors.
  template <class... Args>
  static constexpr bool returns_nothing = std::is_void_v<std::invoke_result_t<const F&, Args...>>;
  template <class... Args, class Result>
  static auto returned(Result result) {
    if constexpr (!returns_nothing<const Args&...>) return result;
  }
  template <class... Args>
  auto invoke(const Args&... args) const {
    if constexpr (returns_nothing<const Args&...>) {
      function_(args...);
      return Tensors{};
    } else {
      return std::decay_t<std::invoke_result_t<const F&, const Args&...>>(function_(args...));
    }
  }

  template <class... Args>
  auto call(const Args&... args) const {
    using Result = decltype(invoke(args...));
    if (is_capturing()) return invoke(args...);
    FlatCall given = flatten(args...);
    auto body = [&](const Tensors& inside) {
      return traced<Result>(inside, given.numbers, args...);
    };
    auto flat = call_version(*versions_, given, body);
    if (!flat && given.numbers != numbers_of(*versions_)) return call(args...);
    if (!flat) return invoke(args...);
    Result result = *static_cast<const Result*>(flat->structure.get());
    size_t next = 0;
    visit_tensors(result, Numbers::inputs, [&](Tensor& tensor) { tensor = flat->tensors[next++]; });
    return result;
  }

  template <class... Args>
  std::string key_of(const Args&... args) const {
    using Result = decltype(invoke(args...));
    FlatCall given = flatten(args...);
    auto key = compiler::cache_key(*versions_, given, [&](const Tensors& inside) {
      return traced<Result>(inside, given.numbers, args...);
    });
    return key ? *key : key_of(args...);
  }

  template <class... Args>
  FlatCall flatten(const Args&... args) const {
    FlatCall result;
    result.numbers = numbers_of(*versions_);
    auto add = [&](const Tensor& tensor) { result.tensors.push_back(tensor); };
    (visit_tensors(args, result.numbers, add), ...);
    (add_to_key(result.key, args, result.numbers), ...);
    (add_parameters(result.parameters, args), ...);
    add_parameters(result.parameters, function_);
    ((result.key += capture_key_of(args)), ...);
    result.key += capture_key_of(function_);
    return result;
  }

  template <class Result, class... Args>
  FlatResult traced(const Tensors& inside, Numbers numbers, const Args&... args) const {
    std::tuple<Args...> arguments(args...);
    size_t next = 0;
    visit_tensors(arguments, numbers, [&](Tensor& tensor) { tensor = inside[next++]; });
    auto result = std::make_shared<Result>(
        std::apply([&](const auto&... each) { return invoke(each...); }, arguments));
    Tensors tensors;
    visit_tensors(*result, Numbers::inputs, [&](Tensor& tensor) { tensors.push_back(tensor); });
    return {std::move(tensors), std::move(result)};
  }

  template <class T>
  static void add_parameters(Tensors& parameters, const T& value) {
    if constexpr (HasParameters<T>) {
      Tensors own = value.parameters();
      parameters.insert(parameters.end(), own.begin(), own.end());
    }
  }

  F function_;
  std::shared_ptr<Versions> versions_;
};

}  // namespace compiler

template <class F>
compiler::CompiledFunction<std::decay_t<F>> compile(F&& function, CompileOptions options = {}) {
  return {std::forward<F>(function),
          compiler::make_versions(std::move(options), compiler::holds_state<std::decay_t<F>>)};
}

}  // namespace fg
