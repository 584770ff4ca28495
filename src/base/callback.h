// Callback: any callable, kept by reference: copies share it and its state. It stands where
// std::function would, because <functional> alone takes a tenth of a user's compile time.
#pragma once

#include <type_traits>

#include "base/counted.h"

namespace fg {

[[noreturn]] void fail_empty_callback();

template <class Signature>
class Callback;

template <class R, class... Args>
class Callback<R(Args...)> {
 public:
  Callback() = default;
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, Callback> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  Callback(F&& f) : body_(make<std::decay_t<F>>(std::forward<F>(f))) {}  // NOLINT: as std::function

  R operator()(Args... args) const {
    if (!body_) [[unlikely]]
      fail_empty_callback();
    return body_->call(std::forward<Args>(args)...);
  }
  explicit operator bool() const { return static_cast<bool>(body_); }
  // The object of another language that this calls; null for C++ functions. A callable with a
  // method `face` names it.
  void* face() const { return body_ && body_->use_count() == 1 ? body_->face() : nullptr; }

 private:
  struct Body : Counted {
    virtual ~Body() = default;
    virtual R call(Args... args) = 0;
    virtual void* face() const { return nullptr; }
    static void destroy(Body* body) { delete body; }
  };
  template <class F>
  struct Holder : Body {
    explicit Holder(F f) : function(std::move(f)) {}
    R call(Args... args) override { return function(std::forward<Args>(args)...); }
    void* face() const override {
      if constexpr (requires { function.face(); }) return function.face();
      return nullptr;
    }
    F function;
  };
  template <class F>
  static Ref<Body> make(F f) {
    if constexpr (requires { f == nullptr; }) {  // an empty std::function or a null pointer
      if (f == nullptr) return nullptr;
    }
    return Ref<Body>::adopt(new Holder<F>(std::move(f)));
  }

  Ref<Body> body_;
};

// A callback whose result replaces something, or nothing: a callable without a result, as a lambda
// that only prints, gives an empty one.
template <class Signature>
class Hook;
template <class R, class... Args>
class Hook<R(Args...)> : public Callback<R(Args...)> {
 public:
  using Callback<R(Args...)>::Callback;
  template <class F>
    requires std::is_void_v<std::invoke_result_t<F&, Args...>>
  Hook(F f)  // NOLINT: as Callback
      : Callback<R(Args...)>([f = std::move(f)](Args... args) mutable {
          f(std::forward<Args>(args)...);
          return R();
        }) {}
};

}  // namespace fg
