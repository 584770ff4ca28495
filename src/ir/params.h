// Parameters of a primitive as graphs use them without knowing their type: keep, print and parse
// them. All of it follows from the fields of the struct.
#pragma once

#include <memory>

#include "ir/axes.h"
#include "ir/fields.h"
#include "ir/operand.h"
#include "tensor/symbols.h"

namespace fg::ir {

// Parameters of primitives are plain structs; primitives without any have these.
struct NoParams {
  bool operator==(const NoParams&) const = default;
};

// Shared by all instructions that were copied from one another.
using ParamsRef = std::shared_ptr<const void>;

// Reads text from left to right; every mismatch is an error that names the place.
class TextReader {
 public:
  explicit TextReader(std::string_view text, size_t line = 1) : text_(text), line_(line) {}

  void skip_space();  // and comments, which run from # to the end of the line
  bool at_end() { return skip_space(), position_ == text_.size(); }
  char peek() { return skip_space(), position_ < text_.size() ? text_[position_] : '\0'; }
  bool take(std::string_view expected);    // takes it if it comes next
  void expect(std::string_view expected);  // or fails
  std::string_view name();                 // letters, digits, _ and .
  std::string_view number();               // digits and letters of a number, inf and nan included
  std::string quoted();                    // "..."
  [[noreturn]] void fail_here(const std::string& expected) const;
  // The sizes that names stand for; null: there are none.
  Symbols* symbols = nullptr;

 private:
  std::string_view text_;
  size_t position_ = 0, line_;
};

// One value of a field as text, and back.
void print_field(std::string& out, const Dim& value);
void print_field(std::string& out, const Dims& value);
void print_field(std::string& out, const Scalar& value);
void print_field(std::string& out, DType value);
void print_field(std::string& out, bool value);
void print_field(std::string& out, int64_t value);
void print_field(std::string& out, Axis value);
void print_field(std::string& out, double value);
void print_field(std::string& out, const Generator& value);
void parse_field(TextReader& in, Dim& value);
void parse_field(TextReader& in, Dims& value);
void parse_field(TextReader& in, Scalar& value);
void parse_field(TextReader& in, DType& value);
void parse_field(TextReader& in, bool& value);
void parse_field(TextReader& in, int64_t& value);
void parse_field(TextReader& in, Axis& value);
void parse_field(TextReader& in, double& value);
void parse_field(TextReader& in, Generator& value);

// Reads "s0 = 12, s1 = 4 where s0 == 3*s1" into in.symbols.
void parse_symbols(TextReader& in);

template <class T>
void print_fields(std::string& out, const T& params);
template <class T>
void parse_fields(TextReader& in, T& params);

template <class T>
void print_any(std::string& out, const T& value) {
  if constexpr (requires { value.has_value(); }) {
    if (value)
      print_any(out, *value);
    else
      out += "none";
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    print_field(out, static_cast<int64_t>(value));
  } else if constexpr (requires { print_field(out, value); }) {
    print_field(out, value);
  } else {
    out += '{';
    print_fields(out, value);
    out += '}';
  }
}

template <class T>
void parse_any(TextReader& in, T& value) {
  if constexpr (requires { value.has_value(); }) {
    if (in.take("none")) return value.reset();
    typename T::value_type inner{};
    parse_any(in, inner);
    value = std::move(inner);
  } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
    int64_t number;
    parse_field(in, number);
    if (number < 0 || number >= enumerator_count<T>()) in.fail_here("a number of the enumeration");
    value = static_cast<T>(number);
  } else if constexpr (requires { parse_field(in, value); }) {
    parse_field(in, value);
  } else {
    in.expect("{");
    parse_fields(in, value);
    in.expect("}");
  }
}

// name=value, name=value
template <class T>
void print_fields([[maybe_unused]] std::string& out, const T& params) {
  [[maybe_unused]] constexpr auto names = field_names<T>();
  [[maybe_unused]] size_t next = 0;
  std::apply(
      [&](const auto&... field) {
        [[maybe_unused]] auto one = [&](const auto& value) {
          if (next > 0) out += ", ";
          out += names[next++];
          out += '=';
          print_any(out, value);
        };
        (one(field), ...);
      },
      fields(params));
}

template <class T>
void parse_fields([[maybe_unused]] TextReader& in, T& params) {
  [[maybe_unused]] constexpr auto names = field_names<T>();
  [[maybe_unused]] size_t next = 0;
  std::apply(
      [&](auto&... field) {
        [[maybe_unused]] auto one = [&](auto& value) {
          if (next > 0) in.expect(",");
          in.expect(names[next++]);
          in.expect("=");
          parse_any(in, value);
        };
        (one(field), ...);
      },
      fields(params));
}

// A callable that gives the number for a symbol, by reference.
class NumberOf {
 public:
  template <class F>
    requires(!std::is_same_v<F, NumberOf>)
  NumberOf(const F& f)  // NOLINT: any callable
      : object_(&f), call_([](const void* object, uint32_t symbol) -> Scalar {
          return (*static_cast<const F*>(object))(symbol);
        }) {}
  Scalar operator()(uint32_t symbol) const { return call_(object_, symbol); }

 private:
  const void* object_;
  Scalar (*call_)(const void*, uint32_t);
};

struct ParamsType {
  bool empty;                              // no fields
  Arguments (*copy)(const void* params);   // for a node of autograd
  ParamsRef (*share)(const void* params);  // for a graph
  void (*print)(std::string& out, const void* params);
  const Generator* (*generator)(const void* params);  // null: none, or the process's own
  ParamsRef (*parse)(TextReader& in);
  // A copy with other numbers in the place of symbols; null if there are none. No function: no
  // field is a number.
  ParamsRef (*replace_symbols)(const void* params, NumberOf number_of);
  // A copy for a call whose tensors all have more dimensions in front: axes are shifted, sizes of
  // whole tensors get those of the front. `rank` is that of the first tensor before; the axes count
  // the dimensions of a Shape instead, where the parameters have one. A zero-dim tensor with axes
  // is refused. No function: no field is an axis, or some axes are fixed.
  ParamsRef (*shift_axes)(const void* params, const Dims& front, size_t rank);
};

// A struct among the fields, whose own fields are looked at.
template <class T>
constexpr bool is_inner_struct = !std::is_enum_v<T> && !requires(const T& field) {
  field.has_value();
} && !requires(std::string& out, const T& field) { print_field(out, field); };

// Whether `test` holds for the type of a field, as a std::type_identity.
template <class P, class Test>
constexpr bool any_field(Test test) {
  auto one = [&]<class T>(std::type_identity<T> type) {
    if constexpr (is_inner_struct<T>)
      return any_field<T>(test);
    else
      return test(type);
  };
  return [&]<class... T>(std::type_identity<std::tuple<T...>>) {
    return (one(std::type_identity<std::decay_t<T>>()) || ...);
  }(std::type_identity<decltype(fields(std::declval<P&>()))>());
}

// Calls f(field) for each field.
template <class P, class F>
void visit_fields(P& params, const F& f) {
  auto one = [&](auto& field) {
    if constexpr (is_inner_struct<std::decay_t<decltype(field)>>)
      visit_fields(field, f);
    else
      f(field);
  };
  std::apply([&](auto&... field) { (one(field), ...); }, fields(params));
}

// Whether every field with the name of an axis has a type of ir/axes.h.
template <class P>
constexpr bool axes_are_typed() {
  bool typed = true;
  size_t next = 0;
  [[maybe_unused]] constexpr auto names = field_names<P>();
  [&]<class... T>(std::type_identity<std::tuple<T...>>) {
    ((typed &= !names_axis(names[next++]) || is_axes<std::decay_t<T>>), ...);
  }(std::type_identity<decltype(fields(std::declval<P&>()))>());
  return typed;
}

template <class P>
struct ParamsOf {
  static const P& get(const void* params) { return *static_cast<const P*>(params); }
  static Arguments copy(const void* params) {
    if constexpr (std::is_empty_v<P>)
      return Arguments();
    else
      return Arguments(P(get(params)));
  }
  static ParamsRef share(const void* params) { return std::make_shared<const P>(get(params)); }
  static void print(std::string& out, const void* params) { print_fields(out, get(params)); }
  static const Generator* generator(const void* params) {
    const Generator* found = nullptr;
    auto look = [&](const auto& field) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::optional<Generator>>) {
        if (field) found = &*field;
      }
    };
    std::apply([&](const auto&... field) { (look(field), ...); }, fields(get(params)));
    return found;
  }
  static ParamsRef parse(TextReader& in) {
    auto params = std::make_shared<P>();
    parse_fields(in, *params);
    return params;
  }
  template <class T>
  static constexpr bool is_number_field =
      std::is_same_v<std::decay_t<T>, Scalar> || std::is_same_v<std::decay_t<T>, OptScalar>;
  static constexpr bool has_numbers() {
    return []<class... F>(std::type_identity<std::tuple<F...>>) {
      return (is_number_field<F> || ...);
    }(std::type_identity<decltype(fields(std::declval<P&>()))>());
  }
  // Calls f(Scalar&) for each symbol.
  template <class T, class F>
  static void visit_symbols(T& params, const F& f) {
    auto look = [&](auto& field) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, OptScalar>) {
        if (field && !field->is_known()) f(*field);
      } else if constexpr (is_number_field<decltype(field)>) {
        if (!field.is_known()) f(field);
      }
    };
    std::apply([&](auto&... field) { (look(field), ...); }, fields(params));
  }
  static ParamsRef replace_symbols(const void* params, NumberOf number_of) {
    bool any = false;
    visit_symbols(get(params), [&](const Scalar&) { any = true; });
    if (!any) return nullptr;
    auto copied = std::make_shared<P>(get(params));
    visit_symbols(*copied, [&](Scalar& number) { number = number_of(number.symbol()); });
    return copied;
  }
  static constexpr auto symbols_replaced() -> decltype(&replace_symbols) {
    if constexpr (has_numbers())
      return replace_symbols;
    else
      return nullptr;
  }
  static ParamsRef shift_axes(const void* params, const Dims& front, size_t rank) {
    auto shifted = std::make_shared<P>(get(params));
    visit_fields(*shifted, [&](auto& field) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Shape>) {
        if (!field.empty()) rank = field.size();
      }
    });
    visit_fields(*shifted, [&](auto& field) {
      if constexpr (is_shifted<std::decay_t<decltype(field)>>) shift_axis(field, {front, rank});
    });
    return shifted;
  }
  static constexpr auto axes_shifted() -> decltype(&shift_axes) {
    constexpr bool axes =
        any_field<P>([]<class T>(std::type_identity<T>) { return is_shifted_axes<T>; });
    constexpr bool fixed =
        any_field<P>([]<class T>(std::type_identity<T>) { return std::is_same_v<T, FixedAxes>; });
    if constexpr (axes && !fixed)
      return shift_axes;
    else
      return nullptr;
  }
  static_assert(axes_are_typed<P>(), "a field named dim, axis or the like needs a type of axes.h");
  static constexpr ParamsType type{
      std::is_empty_v<P>, copy, share, print, generator, parse, symbols_replaced(), axes_shifted()};
};

}  // namespace fg::ir
