// Reads sizes and guards as tensor/symbols_text.cpp prints them.
#include <algorithm>
#include <charconv>

#include "base/fail.h"
#include "ir/params.h"

namespace fg::ir {

namespace {

constexpr int kMostNested = 100;

template <class T>
std::optional<T> number_of(std::string_view text) {
  T number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// size = ["-"] term {("+" | "-") term};  term = factor {"*" factor}
// factor = int | name | ("div" | "mod" | "min" | "max") "(" size "," size ")"
class SizeParser {
 public:
  explicit SizeParser(TextReader& in) : in_(in) {}

  Dim size() {
    Dim total = in_.take("-") ? term(true) : term(false);
    while (true) {
      if (in_.take("+"))
        total += term(false);
      else if (in_.take("-"))
        total += term(true);
      else
        return total;
    }
  }

 private:
  Dim term(bool negative) {
    Dim product = factor(negative);
    while (in_.take("*")) product *= factor(false);
    return product;
  }
  // The sign goes to the first factor: the lowest number has no opposite.
  Dim factor(bool negative) {
    TextReader ahead = in_;
    std::string_view name = in_.name();
    if (name[0] >= '0' && name[0] <= '9') {
      auto number = number_of<int64_t>((negative ? "-" : "") + std::string(name));
      if (!number || Dim::bound(*number).value() != *number) ahead.fail_here("a size");
      return *number;
    }
    Dim found = in_.peek() == '(' ? call(name, ahead) : symbol(name, ahead);
    return negative ? -found : found;
  }
  Dim symbol(std::string_view name, const TextReader& at) const {
    auto found = in_.symbols->find(name);
    if (!found) at.fail_here("a number, or a size that stands behind 'sizes'");
    return *found;
  }
  Dim call(std::string_view name, const TextReader& at) {
    constexpr std::string_view kNames[] = {"div", "mod", "min", "max"};
    const auto* found = std::ranges::find(kNames, name);
    if (found == std::end(kNames) || ++nested_ > kMostNested) at.fail_here("div, mod, min or max");
    in_.expect("(");
    Dim a = size();
    in_.expect(",");
    Dim b = size();
    in_.expect(")");
    nested_--;
    if (*found == "min") return min(a, b);
    if (*found == "max") return max(a, b);
    if (known_equal(b, 0) != Known::no) at.fail_here("a divisor that is known not to be 0");
    return *found == "div" ? a / b : a % b;
  }

  TextReader& in_;
  int nested_ = 0;
};

Relation relation(TextReader& in) {
  constexpr std::string_view kSigns[] = {"==", "!=", "<", ">="};
  for (size_t i = 0; i < std::size(kSigns); i++) {
    if (in.take(kSigns[i])) return static_cast<Relation>(i);
  }
  in.fail_here("==, !=, < or >=");
}

}  // namespace

void parse_field(TextReader& in, Dim& value) {
  TextReader ahead = in;
  std::string_view text = ahead.number();
  auto number = number_of<int64_t>(text);
  char next = ahead.peek();
  bool longer = next == '*' || next == '+' || next == '-';
  if (in.symbols && (!number || longer)) {
    value = SizeParser(in).size();
    return;
  }
  in = ahead;
  if (!number) in.fail_here(fmt::format("a number in the place of '{}'", text));
  value = Dim::bound(*number);
  if (value.value() != *number) in.fail_here(fmt::format("{} or more", value.text()));
}

void parse_symbols(TextReader& in) {
  do {
    std::string name(in.name());
    in.expect("=");
    int64_t hint;
    parse_field(in, hint);
    in.symbols->add(name, hint);
  } while (in.take(","));
  if (!in.take("where")) return;
  do {
    SizeParser parser(in);
    Dim left = parser.size();
    Relation between = relation(in);
    in.symbols->require(left, between, parser.size());
  } while (in.take(","));
}

}  // namespace fg::ir
