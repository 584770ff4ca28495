// The normal form of sizes: sums, products and divisions of polynomials.
#include <algorithm>

#include "base/fail.h"
#include "tensor/symbolic.h"

namespace fg::symbolic {

using Wide = __int128;

namespace {

[[noreturn]] void refuse_factor() {
  fail(
      "a size that is a symbol has a factor of more than 64 bits; use smaller sizes, steps or "
      "offsets");
}
[[noreturn]] void refuse_parts() {
  fail("a size is an expression of more than {} parts; make it a number, or use fewer symbols",
       kMostParts);
}

int64_t narrow(Wide value) {
  auto result = static_cast<int64_t>(value);
  if (result != value) refuse_factor();
  return result;
}

int compare(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); i++) {
    if (int order = symbolic::compare(a[i], b[i])) return order;
  }
  return 0;
}

int compare(const Polynomial& a, const Polynomial& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    if (int order = compare(a[i].atoms, b[i].atoms)) return order;
    if (a[i].factor != b[i].factor) return a[i].factor < b[i].factor ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

std::vector<Dim> merge(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  std::vector<Dim> out(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin(),
             [](Dim x, Dim y) { return symbolic::compare(x, y) < 0; });
  return out;
}

// The rest of `atoms` without those of `divisor`; none if one of these is missing.
std::optional<std::vector<Dim>> without(std::vector<Dim> atoms, const std::vector<Dim>& divisor) {
  for (Dim atom : divisor) {
    auto found = std::ranges::find_if(atoms, [&](Dim each) { return same(each, atom); });
    if (found == atoms.end()) return {};
    atoms.erase(found);
  }
  return atoms;
}

std::optional<Term> divide(const Term& a, const Term& b) {
  if (b.factor == 0 || (b.factor == -1 && a.factor == std::numeric_limits<int64_t>::min())) {
    return {};
  }
  if (a.factor % b.factor != 0) return {};
  auto atoms = without(a.atoms, b.atoms);
  if (!atoms) return {};
  return Term{a.factor / b.factor, std::move(*atoms)};
}

struct Division {
  Polynomial quotient, rest;  // a = quotient * b + rest
};

// Each factor by a positive number; factors of the rest are less than it.
Division divide_by_number(const Polynomial& a, int64_t b) {
  Division out;
  for (const Term& term : a) {
    int64_t quotient = floor_div(term.factor, b), rest = floor_mod(term.factor, b);
    if (quotient != 0) out.quotient.push_back({quotient, term.atoms});
    if (rest != 0) out.rest.push_back({rest, term.atoms});
  }
  return out;
}

// Takes out the terms that one term divides.
Division divide_by_term(const Polynomial& a, const Term& b) {
  Division out;
  for (const Term& term : a) {
    if (auto quotient = divide(term, b))
      out.quotient.push_back(std::move(*quotient));
    else
      out.rest.push_back(term);
  }
  return out;
}

// All or nothing: leading terms are divided until no rest remains.
Division divide_exactly(const Polynomial& a, const Polynomial& b) {
  Division out{{}, a};
  for (size_t i = 0; !out.rest.empty(); i++) {
    auto leading = divide(out.rest.front(), b.front());
    if (!leading || i == kMostParts) return {{}, a};
    Polynomial one{std::move(*leading)};
    out.quotient = sum(out.quotient, one, 1);
    out.rest = sum(out.rest, multiply(one, b), -1);
  }
  return out;
}

Division divide(const Polynomial& a, const Polynomial& b) {
  if (b.size() > 1) return divide_exactly(a, b);
  if (b.front().atoms.empty() && b.front().factor > 0) return divide_by_number(a, b.front().factor);
  return divide_by_term(a, b.front());
}

Dim intern_atom(Space& space, Kind kind, Dim a, Dim b) {
  Node node;
  node.kind = kind;
  node.a = a;
  node.b = b;
  auto parts = [](Dim dim) { return dim.is_constant() ? 1 : size_t{node_of(dim).parts}; };
  size_t total = 1 + parts(a) + parts(b);
  if (total > kMostParts) refuse_parts();
  node.parts = static_cast<uint32_t>(total);
  int64_t x = a.hint(), y = b.hint();
  node.hint = kind == Kind::floor_div ? floor_div(x, y)
              : kind == Kind::mod     ? floor_mod(x, y)
              : kind == Kind::min     ? std::min(x, y)
                                      : std::max(x, y);
  return space.intern(std::move(node));
}

// a // b = quotient + rest // b and a % b = rest % b for whole numbers.
Dim make_division(Space& space, Dim::Op op, Dim a, Dim b) {
  Division parts = divide(polynomial_of(a), polynomial_of(b));
  bool inside = b.is_constant() && b.value() > 0 &&  // a rest that is a number is less than b
                (parts.rest.empty() || parts.rest.front().atoms.empty());
  bool mod = op == Dim::Op::mod;
  if (inside || parts.rest.empty()) return simplest(space, mod ? parts.rest : parts.quotient);
  Dim rest = simplest(space, parts.rest);
  if (rest.is_constant() && b.is_constant()) {
    Dim last = mod ? rest % b : rest / b;
    return mod ? last : simplest(space, sum(parts.quotient, polynomial_of(last), 1));
  }
  Dim atom = intern_atom(space, mod ? Kind::mod : Kind::floor_div, rest, b);
  return mod ? atom : simplest(space, sum(parts.quotient, polynomial_of(atom), 1));
}

Dim make_extreme(Space& space, Dim::Op op, Dim a, Dim b) {
  Polynomial difference = sum(polynomial_of(a), polynomial_of(b), -1);
  bool lower = op == Dim::Op::min;
  if (difference.empty()) return a;
  if (difference.front().atoms.empty()) return (difference.front().factor < 0) == lower ? a : b;
  if (symbolic::compare(b, a) < 0) std::swap(a, b);
  return intern_atom(space, lower ? Kind::min : Kind::max, a, b);
}

}  // namespace

void refuse_number() {
  fail("a product or sum of sizes needs more than 64 bits; use smaller sizes, steps or offsets");
}

int compare(Dim a, Dim b) {
  if (same(a, b)) return 0;
  if (a.is_constant() && b.is_constant()) return a.value() < b.value() ? -1 : 1;
  if (a.is_constant() != b.is_constant()) return a.is_constant() ? 1 : -1;
  const Node &x = node_of(a), &y = node_of(b);
  if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;
  if (x.kind == Kind::symbol) {  // s2 comes before s10
    if (x.name.size() != y.name.size()) return x.name.size() < y.name.size() ? -1 : 1;
    return x.name.compare(y.name);
  }
  if (x.kind == Kind::polynomial) return compare(x.terms, y.terms);
  int first = compare(x.a, y.a);
  return first ? first : compare(x.b, y.b);
}

Polynomial polynomial_of(Dim dim) {
  if (dim.is_constant()) return dim.value() ? Polynomial{{dim.value(), {}}} : Polynomial{};
  const Node& node = node_of(dim);
  return node.kind == Kind::polynomial ? node.terms : Polynomial{{1, {dim}}};
}

Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t times) {
  Polynomial out;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    int order = i == a.size() ? 1 : j == b.size() ? -1 : compare(a[i].atoms, b[j].atoms);
    Wide factor = order <= 0 ? a[i].factor : 0;
    if (order >= 0) factor += Wide{b[j].factor} * times;
    if (factor != 0) out.push_back({narrow(factor), order <= 0 ? a[i].atoms : b[j].atoms});
    i += order <= 0;
    j += order >= 0;
  }
  return out;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
  if (a.size() * b.size() > kMostParts) refuse_parts();
  Polynomial out;
  for (const Term& left : a) {
    Polynomial row;  // in order, because the order of terms is a monomial order
    for (const Term& right : b) {
      row.push_back({narrow(Wide{left.factor} * right.factor), merge(left.atoms, right.atoms)});
    }
    out = sum(out, row, 1);
  }
  return out;
}

Dim simplest(Space& space, Polynomial terms) {
  if (terms.empty()) return 0;
  const Term& first = terms.front();
  if (first.atoms.empty()) return first.factor;
  if (terms.size() == 1 && first.factor == 1 && first.atoms.size() == 1) return first.atoms[0];
  Node node;
  node.kind = Kind::polynomial;
  int64_t hint = number_of_terms(terms, [](Dim atom) { return atom.hint(); });
  node.hint = Dim(hint).value();
  size_t parts = 0;
  for (const Term& term : terms) {
    parts += 1;
    for (Dim atom : term.atoms) parts += node_of(atom).parts;
  }
  if (parts > kMostParts) refuse_parts();
  node.parts = static_cast<uint32_t>(parts);
  node.terms = std::move(terms);
  return space.intern(std::move(node));
}

Dim make(Space& space, Dim::Op op, Dim a, Dim b) {
  switch (op) {
    case Dim::Op::add:
      return simplest(space, sum(polynomial_of(a), polynomial_of(b), 1));
    case Dim::Op::sub:
      return simplest(space, sum(polynomial_of(a), polynomial_of(b), -1));
    case Dim::Op::mul:
      return simplest(space, multiply(polynomial_of(a), polynomial_of(b)));
    case Dim::Op::floor_div:
    case Dim::Op::mod:
      if (a.is_constant() && b.is_constant()) return op == Dim::Op::mod ? a % b : a / b;
      return make_division(space, op, a, b);
    case Dim::Op::min:
    case Dim::Op::max:
      return make_extreme(space, op, a, b);
  }
  return 0;
}

}  // namespace fg::symbolic
