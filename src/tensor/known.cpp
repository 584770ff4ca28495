// Answers that hold for all sizes that fulfil the guards: by normal form, by symbols that a guard
// made equal to something, by guards that say the same, and by intervals.
#include <algorithm>

#include "tensor/symbolic.h"

namespace fg::symbolic {

namespace {

using Wide = __int128;
constexpr int64_t kLow = std::numeric_limits<int64_t>::min(),
                  kHigh = std::numeric_limits<int64_t>::max();

int64_t clamp(Wide value) {
  return static_cast<int64_t>(std::clamp(value, Wide{kLow}, Wide{kHigh}));
}

Interval interval_of(const Facts& facts, const Polynomial& terms);

// A polynomial with the symbols replaced that equal other expressions, and minima and maxima
// replaced of which one side is known to win.
class Resolver {
 public:
  Resolver(const Facts& facts, Space& space) : facts_(facts), space_(space) {}

  Polynomial polynomial(Polynomial terms) const {
    if (facts_.guards.empty()) return terms;
    Polynomial out;
    for (const Term& term : terms) {
      Polynomial product{{term.factor, {}}};
      for (Dim atom : term.atoms) product = multiply(product, polynomial_of(resolve(atom)));
      out = sum(out, product, 1);
    }
    return out;
  }
  Dim resolve(Dim dim) const {
    if (dim.is_constant()) return dim;
    const Node& node = node_of(dim);
    if (node.kind == Kind::polynomial) return simplest(space_, polynomial(node.terms));
    if (node.kind == Kind::symbol) {
      auto found = facts_.replaced.find(Space::bits(dim));
      return found == facts_.replaced.end() ? dim : resolve(found->second);
    }
    constexpr Dim::Op kOps[] = {Dim::Op::floor_div, Dim::Op::mod, Dim::Op::min, Dim::Op::max};
    auto op = kOps[static_cast<int>(node.kind) - static_cast<int>(Kind::floor_div)];
    Dim a = resolve(node.a), b = resolve(node.b);
    if (node.kind == Kind::min || node.kind == Kind::max) {
      Interval over = interval_of(facts_, sum(polynomial_of(a), polynomial_of(b), -1));
      if (over.high <= 0) return node.kind == Kind::min ? a : b;
      if (over.low >= 0) return node.kind == Kind::min ? b : a;
    }
    return same(a, node.a) && same(b, node.b) ? dim : make(space_, op, a, b);
  }

 private:
  const Facts& facts_;
  Space& space_;
};

// A product may be larger than 64 bits where the sum that it belongs to is not: an end that is as
// far out as no bound is none.
Interval times(Interval a, Interval b) {
  Wide ends[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                 Wide{a.high} * b.high};
  Wide low = *std::ranges::min_element(ends);
  return {low <= -Wide{kHigh} ? kLow : clamp(low), clamp(*std::ranges::max_element(ends))};
}

Interval interval_of(const Facts& facts, Dim dim);

Interval interval_of(const Facts& facts, const Polynomial& terms) {
  Interval total{0, 0};
  for (const Term& term : terms) {
    Interval product{term.factor, term.factor};
    for (Dim atom : term.atoms) product = times(product, interval_of(facts, atom));
    total = {total.low == kLow || product.low == kLow ? kLow : clamp(Wide{total.low} + product.low),
             total.high == kHigh || product.high == kHigh ? kHigh
                                                          : clamp(Wide{total.high} + product.high)};
  }
  return total;
}

Interval interval_of_division(Kind kind, Interval a, Interval b) {
  if (b.low <= 0) return {kLow, kHigh};
  if (kind == Kind::mod) return {0, b.high == kHigh ? kHigh : b.high - 1};
  // Towards 0 with a larger divisor.
  Interval out{floor_div(a.low, a.low < 0 ? b.low : b.high),
               floor_div(a.high, a.high < 0 ? b.high : b.low)};
  if (a.low == kLow) out.low = kLow;
  if (a.high == kHigh) out.high = kHigh;
  return out;
}

Interval interval_of(const Facts& facts, Dim dim) {
  if (dim.is_constant()) return {dim.value(), dim.value()};
  const Node& node = node_of(dim);
  if (node.kind == Kind::polynomial) return interval_of(facts, node.terms);
  if (node.kind == Kind::symbol) {
    auto found = facts.intervals.find(Space::bits(dim));
    return found == facts.intervals.end() ? Interval{0, kHigh} : found->second;
  }
  Interval a = interval_of(facts, node.a), b = interval_of(facts, node.b);
  if (node.kind == Kind::min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (node.kind == Kind::max) return {std::max(a.low, b.low), std::max(a.high, b.high)};
  return interval_of_division(node.kind, a, b);
}

std::optional<int64_t> constant_of(const Polynomial& terms) {
  if (terms.empty()) return 0;
  if (terms.front().atoms.empty()) return terms.front().factor;
  return {};
}

// The difference is sign * (left - right) of the guard + rest.
struct Shifted {
  int sign;
  int64_t rest;
};
std::optional<Shifted> shifted(const Polynomial& difference, const Polynomial& guard) {
  auto has_constant = [](const Polynomial& p) { return !p.empty() && p.back().atoms.empty(); };
  size_t count = difference.size() - has_constant(difference);
  if (count == 0 || count != guard.size() - has_constant(guard)) return {};
  for (size_t i = 0; i < count; i++) {
    auto equal = [](Dim a, Dim b) { return same(a, b); };
    if (!std::ranges::equal(difference[i].atoms, guard[i].atoms, equal)) return {};
  }
  auto constant = [&](const Polynomial& p) { return has_constant(p) ? Wide{p.back().factor} : 0; };
  for (int sign : {1, -1}) {
    bool all = true;
    for (size_t i = 0; i < count; i++) {
      all = all && difference[i].factor == Wide{guard[i].factor} * sign;
    }
    Wide rest = constant(difference) - constant(guard) * sign;
    if (all && rest == clamp(rest)) return Shifted{sign, clamp(rest)};
  }
  return {};
}

// The interval of a difference by a guard on the same expression.
Interval interval_by(Relation relation, Shifted by) {
  auto at = [&](Wide value) { return clamp(value * by.sign + by.rest); };
  Interval out{kLow, kHigh};
  if (relation == Relation::equal) out = {by.rest, by.rest};
  bool falls = (relation == Relation::less) == (by.sign > 0);
  if (relation == Relation::less) (falls ? out.high : out.low) = at(-1);
  if (relation == Relation::not_less) (falls ? out.high : out.low) = at(0);
  return out;
}

struct Range {
  Interval interval;
  bool not_zero;
};

Range range_of(const Facts& facts, Polynomial difference, Space& space) {
  Resolver resolver(facts, space);
  difference = resolver.polynomial(std::move(difference));
  Range out{interval_of(facts, difference), false};
  for (size_t i = 0; i < facts.guards.size(); i++) {
    auto by = shifted(difference, resolver.polynomial(facts.differences[i]));
    if (!by) continue;
    Relation relation = facts.guards[i].relation;
    out.not_zero |= relation == Relation::not_equal && by->rest == 0;
    Interval more = interval_by(relation, *by);
    out.interval = {std::max(out.interval.low, more.low), std::min(out.interval.high, more.high)};
  }
  return out;
}

bool occurs(Dim symbol, Dim in) {
  if (in.is_constant()) return false;
  if (same(symbol, in)) return true;
  const Node& node = node_of(in);
  if (node.kind != Kind::polynomial) return occurs(symbol, node.a) || occurs(symbol, node.b);
  return std::ranges::any_of(node.terms, [&](const Term& term) {
    return std::ranges::any_of(term.atoms, [&](Dim atom) { return occurs(symbol, atom); });
  });
}

bool is_symbol(Dim dim) { return !dim.is_constant() && node_of(dim).kind == Kind::symbol; }

// A guard on a symbol and a number bounds the symbol.
void bound(Facts& facts, const Guard& guard) {
  bool left = is_symbol(guard.left) && guard.right.is_constant();
  bool right = is_symbol(guard.right) && guard.left.is_constant();
  if (!left && !right) return;
  Dim symbol = left ? guard.left : guard.right;
  int64_t number = (left ? guard.right : guard.left).value();
  Interval& interval =
      facts.intervals.try_emplace(Space::bits(symbol), Interval{0, kHigh}).first->second;
  // symbol < number, symbol >= number, number < symbol, number >= symbol
  if (guard.relation == Relation::less) {
    if (left) interval.high = std::min(interval.high, number - 1);
    if (right) interval.low = std::max(interval.low, clamp(Wide{number} + 1));
  } else if (guard.relation == Relation::not_less) {
    if (left) interval.low = std::max(interval.low, number);
    if (right) interval.high = std::min(interval.high, number);
  } else if (guard.relation == Relation::not_equal && number == interval.low) {
    interval.low++;
  }
}

// An equality with a symbol on one side lets the other side stand for it.
void replace(Facts& facts, const Guard& guard, Space& space) {
  Resolver resolver(facts, space);
  Dim a = resolver.resolve(guard.left), b = resolver.resolve(guard.right);
  if (!is_symbol(b) || (is_symbol(a) && compare(b, a) < 0)) std::swap(a, b);
  if (!is_symbol(b) || occurs(b, a)) return;
  Interval known = interval_of(facts, b);
  facts.replaced.insert_or_assign(Space::bits(b), a);
  if (!is_symbol(a)) return;
  Interval& other = facts.intervals.try_emplace(Space::bits(a), Interval{0, kHigh}).first->second;
  other = {std::max(other.low, known.low), std::min(other.high, known.high)};
}

}  // namespace

Known is_zero(const Facts& facts, Polynomial difference, Space& space) {
  if (auto constant = constant_of(difference)) return *constant == 0 ? Known::yes : Known::no;
  Range range = range_of(facts, std::move(difference), space);
  if (range.not_zero || range.interval.low > 0 || range.interval.high < 0) return Known::no;
  return range.interval.low == 0 && range.interval.high == 0 ? Known::yes : Known::unknown;
}

Known is_negative(const Facts& facts, Polynomial difference, Space& space) {
  if (auto constant = constant_of(difference)) return *constant < 0 ? Known::yes : Known::no;
  Range range = range_of(facts, std::move(difference), space);
  if (range.interval.high < 0) return Known::yes;
  return range.interval.low >= 0 ? Known::no : Known::unknown;
}

void Space::add_guard(Guard guard) {
  std::lock_guard one(guarding);
  auto more = std::make_shared<Facts>(*known());
  if (guard.relation == Relation::equal) replace(*more, guard, *this);
  Resolver resolver(*more, *this);
  Guard resolved{resolver.resolve(guard.left), guard.relation, resolver.resolve(guard.right)};
  bound(*more, resolved);
  more->differences.push_back(sum(polynomial_of(guard.left), polynomial_of(guard.right), -1));
  std::lock_guard lock(mutex);
  if (guard.origin.empty()) guard.origin = origin;
  more->guards.push_back(std::move(guard));
  facts = std::move(more);
}

}  // namespace fg::symbolic
