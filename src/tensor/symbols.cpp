#include "tensor/symbols.h"

#include <algorithm>
#include <atomic>

#include "base/fail.h"
#include "base/unforked.h"
#include "tensor/symbolic.h"

namespace fg {

namespace symbolic {

namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr size_t kPage = size_t{1} << 13, kPages = (size_t{1} << 32) / kChunk / kPage;
// Numbers of chunks are used again after this many others, so that a Dim that outlived its space is
// refused for long.
constexpr size_t kRest = size_t{1} << 16;

// Finds chunks by number. Pages are never freed, and readers take no lock.
struct Directory {
  using Entry = std::atomic<Chunk*>;
  std::atomic<Entry*> pages[kPages]{};
  std::mutex mutex;  // of all below
  std::deque<uint32_t> free;
  uint32_t next = 0;

  Chunk* find(size_t number) const {
    Entry* page = pages[number / kPage].load(std::memory_order_acquire);
    return page ? page[number % kPage].load(std::memory_order_acquire) : nullptr;
  }
  uint32_t add(Chunk* chunk) {
    Unforked unforked;
    std::lock_guard lock(mutex);
    if (next == kPages * kPage && free.empty()) {
      fail("there are too many sizes that are symbols; free some functions");
    }
    bool again = free.size() > kRest || next == kPages * kPage;
    uint32_t number = again ? free.front() : next++;
    if (again) free.pop_front();
    auto& page = pages[number / kPage];
    if (!page.load(std::memory_order_relaxed)) {
      page.store(new Entry[kPage]{}, std::memory_order_release);
    }
    page.load(std::memory_order_relaxed)[number % kPage].store(chunk, std::memory_order_release);
    return number;
  }
  void remove(uint32_t number) {
    Unforked unforked;
    std::lock_guard lock(mutex);
    Entry& entry = pages[number / kPage].load(std::memory_order_relaxed)[number % kPage];
    delete entry.exchange(nullptr, std::memory_order_acq_rel);
    free.push_back(number);
  }
};

Directory& directory() {
  static Directory* instance = new Directory;
  return *instance;
}

Chunk& chunk_of(Dim dim) {
  auto handle = static_cast<uint64_t>(Space::bits(dim) - kFirst);
  if (Chunk* chunk = directory().find(handle / kChunk)) return *chunk;
  fail(
      "a size that is a symbol outlived the capture that it belongs to; use it during the capture");
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 32);
}

uint64_t hash_of(const Node& node) {
  auto hash = mix(static_cast<uint64_t>(node.kind), std::hash<std::string>()(node.name));
  hash = mix(hash, static_cast<uint64_t>(Space::bits(node.a)));
  hash = mix(hash, static_cast<uint64_t>(Space::bits(node.b)));
  for (const Term& term : node.terms) {
    hash = mix(hash, static_cast<uint64_t>(term.factor));
    for (Dim atom : term.atoms) hash = mix(hash, static_cast<uint64_t>(Space::bits(atom)));
  }
  return hash;
}

bool same_term(const Term& a, const Term& b) {
  auto equal = [](Dim x, Dim y) { return same(x, y); };
  return a.factor == b.factor && std::ranges::equal(a.atoms, b.atoms, equal);
}

bool same_node(const Node& a, const Node& b) {
  return a.kind == b.kind && same(a.a, b.a) && same(a.b, b.b) && a.name == b.name &&
         std::ranges::equal(a.terms, b.terms, same_term);
}

bool is_symbol_name(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

thread_local Symbols* guarded = nullptr;

}  // namespace

const Node& node_of(Dim dim) {
  auto handle = static_cast<uint64_t>(Space::bits(dim) - kFirst);
  return chunk_of(dim).nodes[handle % kChunk];
}

Space& Space::of(Dim dim) { return *chunk_of(dim).symbols->space_; }

Space& Space::of(Dim a, Dim b) {
  Space& space = of(a.is_constant() ? b : a);
  if (!a.is_constant() && !b.is_constant() && &of(b) != &space) {
    fail("the sizes {} and {} belong to two captures; sizes of one do not enter the other",
         a.text(), b.text());
  }
  return space;
}

Space::~Space() {
  for (uint32_t number : chunks) directory().remove(number);
}

Dim Space::intern(Node node) {
  uint64_t hash = hash_of(node);
  std::lock_guard lock(mutex);
  for (auto [at, end] = nodes.equal_range(hash); at != end; ++at) {
    if (same_node(node_of(raw(at->second)), node)) return raw(at->second);
  }
  if (used == kChunk) {
    auto chunk = std::make_unique<Chunk>();
    chunk->symbols = symbols;
    chunks.reserve(chunks.size() + 1);
    chunks.push_back(directory().add(chunk.get()));
    last = chunk.release();
    used = 0;
  }
  if (node.kind == Kind::symbol) node.index = static_cast<uint32_t>(order.size());
  int64_t bits = kFirst + static_cast<int64_t>(uint64_t{chunks.back()} * kChunk + used);
  last->nodes[used++] = std::move(node);
  nodes.emplace(hash, bits);
  if (last->nodes[used - 1].kind == Kind::symbol) order.push_back(raw(bits));
  return raw(bits);
}

std::shared_ptr<const Facts> Space::known() const {
  std::lock_guard lock(mutex);
  return facts;
}

void guard_or_refuse(Dim a, Relation relation, Dim b) {
  Space& space = Space::of(a, b);
  Guard guard{a, relation, b};
  if (guarded != space.symbols) {
    fail(ErrorKind::internal,
         "the condition {} on sizes is asked outside of their capture, which alone may add it as a "
         "guard; ask known_equal or known_less",
         guard.text());
  }
  space.add_guard(std::move(guard));
}

}  // namespace symbolic

using symbolic::Kind;
using symbolic::Node;

Symbols::Symbols() : space_(std::make_unique<symbolic::Space>(this)) {}
Symbols::~Symbols() = default;

Dim Symbols::add(std::string_view name, int64_t hint) {
  if (!symbolic::is_symbol_name(name)) {
    fail("'{}' is no name of a symbol; expected letters, digits and _", name);
  }
  if (hint < 0) fail("the symbol {} has the hint {}; a size is 0 or more", name, hint);
  if (find(name)) fail("the symbol {} exists already; give each its own name", name);
  Node node;
  node.kind = Kind::symbol;
  node.name = name;
  node.hint = hint;
  return space_->intern(std::move(node));
}

std::vector<Dim> Symbols::all() const {
  std::lock_guard lock(space_->mutex);
  return space_->order;
}

std::optional<Dim> Symbols::find(std::string_view name) const {
  for (Dim symbol : all()) {
    if (symbolic::node_of(symbol).name == name) return symbol;
  }
  return {};
}

void Symbols::require(Dim left, Relation relation, Dim right, std::string origin) {
  bool equality = relation == Relation::equal || relation == Relation::not_equal;
  bool negated = relation == Relation::not_equal || relation == Relation::not_less;
  Known known = equality ? known_equal(left, right) : known_less(left, right);
  if (known == (negated ? Known::no : Known::yes)) return;
  bool asked = equality ? left.hint() == right.hint() : left.hint() < right.hint();
  Guard guard{left, relation, right, std::move(origin)};
  if (asked == negated || known != Known::unknown) {
    fail("the condition {} does not hold in the example; it cannot be a guard", guard.text());
  }
  if (&symbolic::Space::of(left, right) != space_.get()) {
    fail("the condition {} is on the sizes of another capture", guard.text());
  }
  space_->add_guard(std::move(guard));
}

std::vector<Guard> Symbols::guards() const { return space_->known()->guards; }

void Symbols::set_origin(std::string origin) {
  std::lock_guard lock(space_->mutex);
  space_->origin = std::move(origin);
}

Symbols* Symbols::of(Dim dim) {
  return dim.is_constant() ? nullptr : symbolic::Space::of(dim).symbols;
}

GuardScope::GuardScope(Symbols* symbols) : before_(symbolic::guarded) {
  symbolic::guarded = symbols;
}
GuardScope::~GuardScope() { symbolic::guarded = before_; }

int64_t evaluate(Dim dim, std::span<const int64_t> values) {
  if (dim.is_constant()) return dim.value();
  const Node& node = symbolic::node_of(dim);
  if (node.kind == Kind::polynomial) {
    return symbolic::number_of_terms(node.terms, [&](Dim atom) { return evaluate(atom, values); });
  }
  if (node.kind == Kind::symbol) {
    if (node.index >= values.size()) {
      fail("the symbol {} has no value among {}; give one per symbol", node.name, values.size());
    }
    return values[node.index];
  }
  int64_t a = evaluate(node.a, values), b = evaluate(node.b, values);
  switch (node.kind) {
    case Kind::floor_div:
      return symbolic::floor_div(a, b);
    case Kind::mod:
      return symbolic::floor_mod(a, b);
    case Kind::min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

bool holds(const Guard& guard, std::span<const int64_t> values) {
  int64_t left = evaluate(guard.left, values), right = evaluate(guard.right, values);
  switch (guard.relation) {
    case Relation::equal:
      return left == right;
    case Relation::not_equal:
      return left != right;
    case Relation::less:
      return left < right;
    default:
      return left >= right;
  }
}

std::optional<size_t> first_broken(std::span<const Guard> guards, std::span<const int64_t> values) {
  for (size_t i = 0; i < guards.size(); i++) {
    if (!holds(guards[i], values)) return i;
  }
  return {};
}

}  // namespace fg
