// Sizes and guards as text; ir/size_text.cpp reads it.
#include "base/fail.h"
#include "tensor/symbolic.h"

namespace fg {

using symbolic::Kind;
using symbolic::Node;
using symbolic::Term;

// 2*s0*s1 - s0 + 3
static std::string text_of(const symbolic::Polynomial& terms) {
  std::string out;
  for (const Term& term : terms) {
    bool negative = term.factor < 0;
    if (out.empty())
      out += negative ? "-" : "";
    else
      out += negative ? " - " : " + ";
    // The lowest number has no opposite.
    uint64_t size = negative ? -static_cast<uint64_t>(term.factor) : term.factor;
    std::string product = size != 1 || term.atoms.empty() ? std::to_string(size) : "";
    for (Dim atom : term.atoms) product += (product.empty() ? "" : "*") + atom.text();
    out += product;
  }
  return out;
}

std::string Dim::text() const {
  if (is_constant()) return std::to_string(bits_);
  const Node& node = symbolic::node_of(*this);
  switch (node.kind) {
    case Kind::symbol:
      return node.name;
    case Kind::polynomial:
      return text_of(node.terms);
    default:
      break;
  }
  constexpr const char* kNames[] = {"", "", "div", "mod", "min", "max"};
  return fmt::format("{}({}, {})", kNames[static_cast<int>(node.kind)], node.a.text(),
                     node.b.text());
}

std::string Guard::text() const {
  constexpr const char* kSigns[] = {"==", "!=", "<", ">="};
  return fmt::format("{} {} {}", left.text(), kSigns[static_cast<int>(relation)], right.text());
}

std::string Symbols::text() const {
  std::string out;
  for (Dim symbol : all()) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", symbol.text(), symbol.hint());
  }
  const char* between = " where ";
  for (const Guard& guard : guards()) {
    out += between + guard.text();
    between = ", ";
  }
  return out;
}

}  // namespace fg
