// Schemas: the text that declares a function, parsed at compile time for its C++ signature and read
// again at run time for argument names and documentation. One parser serves both.
//
//   name[.overload] "(" [arg {"," arg}] ")" "->" returns
//   arg     = type name ["=" default] | "*"            (what follows "*" is keyword only)
//   type    = base ["(" alias ")"] ["?"] ["[]"] ["?"]  (e.g. Tensor(a!)  int[]?  Tensor?[])
//   returns = type [name] | "(" type [name] {"," ...} ")"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace fg::ir {

enum class Type : uint8_t {
  tensor,
  opt_tensor,
  tensors,
  opt_tensors,
  scalar,
  opt_scalar,
  integer,
  opt_integer,
  dim,
  opt_dim,
  dims,
  opt_dims,
  real,
  opt_real,
  boolean,
  opt_boolean,
  string,
  opt_string,
  dtype,
  opt_dtype,
  generator,
  none
};

struct Argument {
  Type type = Type::none;
  std::string_view name, default_text, alias;  // alias: "a" for a view, "a!" for a write
  bool has_default = false, keyword_only = false;
};

inline constexpr size_t kMaxArguments = 16, kMaxReturns = 5;

struct Schema {
  std::string_view name, overload, text;
  std::array<Argument, kMaxArguments> arguments{};
  std::array<Argument, kMaxReturns> returns{};
  size_t argument_count = 0, return_count = 0;

  constexpr size_t required() const {  // arguments without a default
    size_t count = 0;
    while (count < argument_count && !arguments[count].has_default) count++;
    return count;
  }
};

namespace detail {

struct Cursor {
  std::string_view rest;

  constexpr void skip_spaces() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n')) rest.remove_prefix(1);
  }
  constexpr bool eat(std::string_view token) {
    skip_spaces();
    if (rest.substr(0, token.size()) != token) return false;
    rest.remove_prefix(token.size());
    return true;
  }
  constexpr void expect(std::string_view token) {
    if (!eat(token)) throw "schema: unexpected text";
  }
  constexpr std::string_view word() {
    skip_spaces();
    size_t n = 0;
    auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (n < rest.size() && letter(rest[n])) n++;
    std::string_view result = rest.substr(0, n);
    rest.remove_prefix(n);
    return result;
  }
  // A default: up to the comma or closing parenthesis outside brackets and quotes.
  constexpr std::string_view default_value() {
    skip_spaces();
    size_t n = 0;
    int depth = 0;
    bool quoted = false;
    for (; n < rest.size(); n++) {
      char c = rest[n];
      if (c == '\'') quoted = !quoted;
      if (quoted) continue;
      if (c == '[') depth++;
      if (c == ']') depth--;
      if (depth == 0 && (c == ',' || c == ')')) break;
    }
    std::string_view result = rest.substr(0, n);
    rest.remove_prefix(n);
    return result;
  }
};

constexpr Type plain_type(std::string_view base) {
  constexpr std::pair<std::string_view, Type> kNames[] = {
      {"Tensor", Type::tensor}, {"Scalar", Type::scalar}, {"int", Type::integer},
      {"Dim", Type::dim},       {"float", Type::real},    {"bool", Type::boolean},
      {"str", Type::string},    {"DType", Type::dtype},   {"Generator", Type::generator}};
  for (auto& [name, type] : kNames) {
    if (name == base) return type;
  }
  throw "schema: unknown type";
}

constexpr Type optional_type(Type type) {
  if (type == Type::generator) return type;  // a Generator may always be absent
  return static_cast<Type>(static_cast<uint8_t>(type) + 1);
}

constexpr Type list_type(Type type) {
  switch (type) {
    case Type::tensor:
      return Type::tensors;
    case Type::opt_tensor:
      return Type::opt_tensors;
    case Type::integer:
    case Type::dim:
      return Type::dims;
    default:
      throw "schema: no lists of this type";
  }
}

constexpr void parse_type(Cursor& c, Argument& argument) {
  argument.type = plain_type(c.word());
  if (c.eat("(")) {
    size_t end = c.rest.find(')');
    argument.alias = c.rest.substr(0, end);
    c.rest.remove_prefix(end + 1);
  }
  if (c.eat("?")) argument.type = optional_type(argument.type);
  if (c.eat("[]")) argument.type = list_type(argument.type);
  if (c.eat("?")) argument.type = optional_type(argument.type);
}

constexpr void parse_arguments(Cursor& c, Schema& schema) {
  bool keyword_only = false;
  c.expect("(");
  while (!c.eat(")")) {
    if (schema.argument_count || keyword_only) c.expect(",");
    if (c.eat("*")) {
      keyword_only = true;
      c.expect(",");
    }
    Argument& argument = schema.arguments[schema.argument_count++];
    parse_type(c, argument);
    argument.name = c.word();
    argument.keyword_only = keyword_only;
    if (c.eat("=")) {
      argument.has_default = true;
      argument.default_text = c.default_value();
    }
  }
}

constexpr void parse_return(Cursor& c, Schema& schema) {
  Argument& result = schema.returns[schema.return_count++];
  parse_type(c, result);
  result.name = c.word();
}

}  // namespace detail

constexpr Schema parse_schema(std::string_view text) {
  Schema schema;
  schema.text = text;
  detail::Cursor c{text};
  schema.name = c.word();
  if (c.eat(".")) schema.overload = c.word();
  detail::parse_arguments(c, schema);
  c.expect("->");
  if (!c.eat("(")) {
    detail::parse_return(c, schema);
    return schema;
  }
  while (!c.eat(")")) {
    if (schema.return_count) c.expect(",");
    detail::parse_return(c, schema);
  }
  return schema;
}

// Number in a default: digits [. digits] [e [-] digits]. Powers of ten up to 22 are exact, so one
// division rounds correctly.
constexpr double parse_number(std::string_view text) {
  double mantissa = 0;
  int exponent = 0;
  bool negative = false, fraction = false;
  for (size_t i = 0; i < text.size(); i++) {
    char c = text[i];
    if (c == '-')
      negative = true;
    else if (c == '.')
      fraction = true;
    else if (c == 'e') {
      int digits = 0, sign = 1;
      for (i++; i < text.size(); i++) {
        if (text[i] == '-')
          sign = -1;
        else
          digits = digits * 10 + (text[i] - '0');
      }
      exponent += sign * digits;
    } else {
      mantissa = mantissa * 10 + (c - '0');
      if (fraction) exponent--;
    }
  }
  double scale = 1;
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) scale *= 10;
  double value = exponent < 0 ? mantissa / scale : mantissa * scale;
  return negative ? -value : value;
}

}  // namespace fg::ir
