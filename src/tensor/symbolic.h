// Expressions of sizes inside: nodes, polynomials, the space. For dim.cpp, symbols.cpp,
// polynomial.cpp and known.cpp.
//
// Normal form: a polynomial is a sum of terms (factor * atom * atom ...). An atom is a symbol or a
// floor division, remainder, minimum or maximum of two expressions. Atoms of a term are sorted;
// terms come by falling degree, then in the order of their atoms, which is a monomial order.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "tensor/symbols.h"

namespace fg::symbolic {

struct Term {
  int64_t factor;
  std::vector<Dim> atoms;
};
using Polynomial = std::vector<Term>;

enum class Kind : uint8_t { none, symbol, floor_div, mod, min, max, polynomial };

struct Node {
  Kind kind = Kind::none;
  uint32_t index = 0;  // of a symbol
  uint32_t parts = 1;  // symbols, numbers and operations in it: bounds the work on it
  int64_t hint = 0;
  Dim a = 0, b = 0;  // of an atom that is no symbol
  std::string name{};
  Polynomial terms{};
};
inline constexpr size_t kMostParts = 4096;

// Nodes lie in chunks, which a process-wide directory finds by the upper bits of a handle.
inline constexpr size_t kChunk = 64;
struct Chunk {
  Symbols* symbols;
  Node nodes[kChunk];
};

struct Interval {
  int64_t low, high;  // the ends of int64_t: no bound, because every number is between them
};

// Everything that follows from the guards. Never changed: a new guard makes a new one.
struct Facts {
  std::vector<Guard> guards;
  std::vector<Polynomial> differences;              // left - right of each guard
  std::unordered_map<int64_t, Dim> replaced;        // a symbol that equals an expression
  std::unordered_map<int64_t, Interval> intervals;  // of symbols
};

struct Space {
  explicit Space(Symbols* symbols) : symbols(symbols) {}
  ~Space();

  static Space& of(Dim dim);
  // The one space of two sizes; sizes of two captures do not mix.
  static Space& of(Dim a, Dim b);
  static int64_t bits(Dim dim) { return Symbols::bits(dim); }
  static Dim raw(int64_t bits) { return Symbols::raw(bits); }

  Dim intern(Node node);  // the node that is the same, or a new one
  std::shared_ptr<const Facts> known() const;
  void add_guard(Guard guard);

  Symbols* symbols;
  std::mutex guarding;       // held while a guard is added
  mutable std::mutex mutex;  // of all below
  std::vector<uint32_t> chunks;
  Chunk* last = nullptr;
  size_t used = kChunk;                              // of the last chunk
  std::unordered_multimap<uint64_t, int64_t> nodes;  // by hash
  std::vector<Dim> order;                            // symbols
  std::shared_ptr<const Facts> facts = std::make_shared<const Facts>();
  std::string origin;
};

const Node& node_of(Dim dim);
// Order of expressions of one space that depends on their text alone.
int compare(Dim a, Dim b);

Polynomial polynomial_of(Dim dim);
Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t times);  // a + times * b
Polynomial multiply(const Polynomial& a, const Polynomial& b);
Dim simplest(Space& space, Polynomial terms);
// An expression; divisors are not 0.
Dim make(Space& space, Dim::Op op, Dim a, Dim b);

int64_t floor_div(int64_t a, int64_t b);
int64_t floor_mod(int64_t a, int64_t b);
[[noreturn]] void refuse_number();
// The number of a sum of products; `number_of(atom)` is that of an atom. Only the sum has to fit.
template <class F>
int64_t number_of_terms(const Polynomial& terms, const F& number_of) {
  __int128 total = 0;
  bool wraps = false;
  for (const Term& term : terms) {
    __int128 product = term.factor;
    for (Dim atom : term.atoms) {
      wraps |= __builtin_mul_overflow(product, __int128{number_of(atom)}, &product);
    }
    wraps |= __builtin_add_overflow(total, product, &total);
  }
  if (wraps || static_cast<int64_t>(total) != total) refuse_number();
  return static_cast<int64_t>(total);
}

Known is_zero(const Facts& facts, Polynomial difference, Space& space);
Known is_negative(const Facts& facts, Polynomial difference, Space& space);
// Adds a guard to the capture that runs on this thread, or refuses.
void guard_or_refuse(Dim a, Relation relation, Dim b);

}  // namespace fg::symbolic
