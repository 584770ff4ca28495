// Symbols: the sizes of one capture that are not numbers. The space owns symbols, the expressions
// made of them and the guards: it is freed with the graphs that hold it. An expression is in
// normal form and kept once (hash-consing), so that equal ones are one Dim. Nodes never change:
// reading one takes no lock; making one takes that of its own space. A Dim that outlives its space
// is refused when it is read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dim.h"

namespace fg {

namespace symbolic {
struct Chunk;
struct Facts;
struct Node;
struct Space;
}  // namespace symbolic

enum class Relation : uint8_t { equal, not_equal, less, not_less };

// A condition on the sizes of a call under which a capture is right.
struct Guard {
  Dim left;
  Relation relation;
  Dim right;
  std::string origin{};  // the line of the user's program that asked; empty: unknown

  std::string text() const;  // "s0 == 2*s1"
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // A new symbol: a size of 0 or more, which is `hint` in the traced example. A name stands for one
  // symbol.
  Dim add(std::string_view name, int64_t hint);
  std::optional<Dim> find(std::string_view name) const;
  std::vector<Dim> all() const;  // in the order in which they were added
  // Adds a guard, unless it is known to hold; the hints must fulfil it.
  void require(Dim left, Relation relation, Dim right, std::string origin = {});
  std::vector<Guard> guards() const;
  // Guards that comparisons add from now on come from this line of the user's program.
  void set_origin(std::string origin);

  // "s0 = 12, s1 = 4 where s0 == 3*s1": hints and guards.
  std::string text() const;

  // The space of an expression; null for a constant.
  static Symbols* of(Dim dim);

 private:
  friend class Dim;
  friend struct symbolic::Space;
  static int64_t bits(Dim dim) { return dim.bits_; }
  static Dim raw(int64_t bits) { return Dim::raw(bits); }

  std::unique_ptr<symbolic::Space> space_;
};

// While alive, comparisons on this thread that nothing known answers add guards to `symbols`.
class GuardScope {
 public:
  explicit GuardScope(Symbols* symbols);
  ~GuardScope();
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;

 private:
  Symbols* before_;
};

// The number of an expression when the symbols, in the order of all(), have these values.
int64_t evaluate(Dim dim, std::span<const int64_t> values);
bool holds(const Guard& guard, std::span<const int64_t> values);
// The index of the first guard that these values break.
std::optional<size_t> first_broken(std::span<const Guard> guards, std::span<const int64_t> values);

}  // namespace fg
