// The fields of a plain struct, in order, with their names: printing, parsing, comparing and
// hashing parameters need no second list of the fields beside the struct.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace fg::ir {

namespace detail {

struct AnyField {
  template <class T>
  operator T() const;  // NOLINT: stands for a field of any type
};

template <class T, class... Fields>
constexpr size_t count_fields() {
  if constexpr (std::is_empty_v<T>)
    return 0;
  else if constexpr (requires { T{Fields{}..., AnyField{}}; })
    return count_fields<T, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}

}  // namespace detail

template <class T>
constexpr size_t field_count = detail::count_fields<T>();

// References to the fields.
template <class T>
constexpr auto fields(T& value) {
  constexpr size_t count = field_count<std::remove_const_t<T>>;
  static_assert(count <= 10, "give fields() one more case");
  if constexpr (count == 0) {
    return std::tie();
  } else if constexpr (count == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  }
}

namespace detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"  // named only, never read
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
// An object that is only named, so that the compiler spells the address of its field.
template <class T>
struct Named {
  T value;
};
template <class T>
extern Named<T> named;

// gcc: "... with auto pointer = (& named<S>.Named<S>::value.S::dim); ..." ; clang: "... value.dim]"
template <auto pointer>
constexpr std::string_view spelled_field() {
  std::string_view text = __PRETTY_FUNCTION__;
  size_t end = text.find_last_of(")]");
  size_t semicolon = text.find(';');
  if (semicolon != std::string_view::npos) end = text.rfind(')', semicolon);
  text = text.substr(0, end);
  while (!text.empty() && text.back() == ')') text.remove_suffix(1);
  return text.substr(text.find_last_of(".:") + 1);
}

template <class T, size_t... I>
constexpr auto spelled_fields(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{
      spelled_field<&std::get<I>(fields(named<T>.value))>()...};
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

// Both compilers spell a value that no enumerator has as "= (E)7".
template <auto value>
constexpr bool has_name() {
  return std::string_view(__PRETTY_FUNCTION__).find("= (") == std::string_view::npos;
}

}  // namespace detail

// The number of enumerators of an enumeration that counts from 0.
template <class T, int64_t next = 0>
constexpr int64_t enumerator_count() {
  if constexpr (detail::has_name<static_cast<T>(next)>())
    return enumerator_count<T, next + 1>();
  else
    return next;
}

template <class T>
constexpr auto field_names() {
  return detail::spelled_fields<T>(std::make_index_sequence<field_count<T>>());
}

}  // namespace fg::ir
