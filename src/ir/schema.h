// Schemas: the text that declares a function. One parser serves compile time, where the C++
// signature follows from it, and run time, where names and defaults are read.
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

inline constexpr size_t kMaxArguments = 16, kMaxReturns = 5;

// A range of the text.
struct TextRange {
  uint16_t begin = 0, size = 0;
};
struct ArgumentParts {
  Type type = Type::none;
  bool keyword_only = false;
  TextRange name, default_text, alias;
};

// Reads a schema and hands its parts to a sink: an Outline at compile time, a Schema at run time.
template <class Sink>
class SchemaParser {
 public:
  constexpr SchemaParser(std::string_view text, Sink& sink)
      : text_(text.data()), end_(text.size()), sink_(sink) {}

  constexpr void parse() {
    TextRange name = word();
    sink_.name(name, eat('.') ? word() : TextRange{});
    expect('(');
    parse_arguments();
    expect('-');
    expect('>');
    if (!eat('(')) return parse_return();
    for (bool first = true; !eat(')'); first = false) {
      if (!first) expect(',');
      parse_return();
    }
  }

 private:
  constexpr void parse_arguments() {
    bool keyword_only = false;
    for (bool first = true; !eat(')'); first = false) {
      if (!first) expect(',');
      if (eat('*')) {
        keyword_only = true;
        expect(',');
      }
      ArgumentParts argument;
      parse_type(argument);
      argument.name = word();
      argument.keyword_only = keyword_only;
      if (eat('=')) argument.default_text = default_value();
      sink_.argument(argument);
    }
  }
  constexpr void parse_return() {
    ArgumentParts result;
    parse_type(result);
    result.name = word();
    sink_.result(result);
  }
  constexpr void parse_type(ArgumentParts& argument) {
    argument.type = base_type(word());
    if (eat('(')) {
      argument.alias.begin = static_cast<uint16_t>(at_);
      while (text_[at_] != ')') at_++;
      argument.alias.size = static_cast<uint16_t>(at_++ - argument.alias.begin);
    }
    if (eat('?')) argument.type = optional_of(argument.type);
    if (eat('[')) {
      expect(']');
      argument.type = list_of(argument.type);
    }
    if (eat('?')) argument.type = optional_of(argument.type);
  }
  // The first letters tell: Tensor Scalar Dim DType Generator int float bool str.
  constexpr Type base_type(TextRange word) const {
    switch (text_[word.begin]) {
      case 'T':
        return Type::tensor;
      case 'S':
        return Type::scalar;
      case 'G':
        return Type::generator;
      case 'i':
        return Type::integer;
      case 'f':
        return Type::real;
      case 'b':
        return Type::boolean;
      case 's':
        return Type::string;
      case 'D':
        return text_[word.begin + 1] == 'i' ? Type::dim : Type::dtype;
      default:
        throw "schema: unknown type";
    }
  }
  static constexpr Type optional_of(Type type) {
    if (type == Type::generator) return type;  // a Generator may always be absent
    return static_cast<Type>(static_cast<uint8_t>(type) + 1);
  }
  static constexpr Type list_of(Type type) {
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
  // A default: up to the comma or closing parenthesis outside brackets and quotes.
  constexpr TextRange default_value() {
    size_t begin = at_;
    int depth = 0;
    bool quoted = false;
    for (; at_ < end_; at_++) {
      char c = text_[at_];
      if (c == '\'') quoted = !quoted;
      if (quoted) continue;
      if (c == '[') depth++;
      if (c == ']') depth--;
      if (depth == 0 && (c == ',' || c == ')')) break;
    }
    return {static_cast<uint16_t>(begin), static_cast<uint16_t>(at_ - begin)};
  }
  constexpr TextRange word() {
    skip_spaces();
    // Small steps on purpose: the compiler spends most of its time in this loop. Nearly every
    // letter is a small one, and the text ends with a zero.
    size_t at = at_;
    while (text_[at] >= '_' || is_letter(text_[at])) at++;
    TextRange part{static_cast<uint16_t>(at_), static_cast<uint16_t>(at - at_)};
    at_ = at;
    return part;
  }
  static constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
  constexpr void skip_spaces() {
    while (text_[at_] == ' ') at_++;
  }
  constexpr bool eat(char c) {
    if (text_[at_] == ' ') at_++;
    if (text_[at_] != c) return false;
    at_++;
    return true;
  }
  constexpr void expect(char c) {
    if (!eat(c)) throw "schema: unexpected text";
  }

  const char* text_;
  size_t at_ = 0, end_;
  Sink& sink_;
};

// The parts of a schema that the C++ signature needs, and no more: every user's file computes one
// per function.
struct Outline {
  Type arguments[kMaxArguments]{};
  Type returns[kMaxReturns]{};
  TextRange defaults[kMaxArguments]{};
  uint8_t argument_count = 0, return_count = 0, required = 0;  // required: before any default

  constexpr explicit Outline(std::string_view text) { SchemaParser(text, *this).parse(); }
  constexpr void name(TextRange, TextRange) {}
  constexpr void argument(const ArgumentParts& parts) {
    if (parts.default_text.size == 0) required = argument_count + 1;
    defaults[argument_count] = parts.default_text;
    arguments[argument_count++] = parts.type;
  }
  constexpr void result(const ArgumentParts& parts) { returns[return_count++] = parts.type; }
};

// One argument as text, for run time.
struct Argument {
  Type type = Type::none;
  std::string_view name, default_text, alias;  // alias: "a" for a view, "a!" for a write
  bool has_default = false, keyword_only = false;
};
struct Schema {
  std::string_view name, overload, text;
  std::array<Argument, kMaxArguments> arguments{};
  std::array<Argument, kMaxReturns> returns{};
  size_t argument_count = 0, return_count = 0;
  size_t required_count = 0;

  size_t required() const { return required_count; }  // arguments before the first default
};
Schema parse_schema(std::string_view text);

// Number in a default: digits [. digits] [e [-] digits]. Powers of ten up to 22 are exact, so one
// division rounds correctly.
constexpr double parse_number(std::string_view text) {
  double mantissa = 0;
  int exponent = 0;
  bool negative = false, fraction = false;
  for (size_t i = 0; i < text.size(); i++) {
    char c = text[i];
    if (c == '-') {
      negative = true;
    } else if (c == '.') {
      fraction = true;
    } else if (c == 'e') {
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
