#include "ir/program.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

namespace fg::ir {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}
uint64_t hash_of(const Instruction& x) {
  uint64_t kind = uint64_t(x.op) << 16 | uint64_t(x.dtype) << 8 | uint64_t(x.runtime);
  uint64_t hash = mix(kind, x.payload);
  for (int i = 0; i < x.arity; ++i) hash = mix(hash, static_cast<uint64_t>(x.operand[i]));
  return hash;
}

// Open addressing over positions of an array that only grows: formulas become programs while a
// program is captured, and the standard map took five times as long.
class Positions {
 public:
  // The slot of an equal element, or the empty one (-1) where it belongs.
  template <class Equal>
  int32_t& slot(uint64_t hash, const Equal& equal) {
    uint64_t mask = slots_.size() - 1, i = hash & mask;
    while (slots_[i] >= 0 && !equal(slots_[i])) i = (i + 1) & mask;
    return slots_[i];
  }
  // Call after each insertion with the number of elements; hash_at gives an element's hash.
  template <class HashAt>
  void grow(size_t count, const HashAt& hash_at) {
    if (2 * count < slots_.size()) return;
    slots_.assign(4 * slots_.size(), -1);
    for (size_t i = 0; i < count; ++i) {
      slot(hash_at(i), [](int32_t) { return false; }) = static_cast<int32_t>(i);
    }
  }

 private:
  std::vector<int32_t> slots_ = std::vector<int32_t>(256, -1);
};

class Builder {
 public:
  explicit Builder(std::vector<Instruction>& instructions) : instructions_(instructions) {}

  // Post-order without recursion: a fused chain may be thousands of nodes deep.
  int32_t add(const ExprNode* root) {
    stack_.push_back(root);
    while (!stack_.empty()) {
      const ExprNode* node = stack_.back();
      if (find(node) >= 0 || place(node)) stack_.pop_back();
    }
    return find(root);
  }

 private:
  struct Seen {
    const ExprNode* node;
    int32_t instruction;
  };
  static uint64_t hash_of_node(const ExprNode* node) {
    return mix(0, reinterpret_cast<uintptr_t>(node));
  }

  int32_t& node_slot(const ExprNode* node) {
    return nodes_.slot(hash_of_node(node), [&](int32_t i) { return seen_[i].node == node; });
  }
  int32_t find(const ExprNode* node) {
    int32_t at = node_slot(node);
    return at < 0 ? -1 : seen_[at].instruction;
  }

  // False, with the missing operands on the stack, if they must come first.
  bool place(const ExprNode* node) {
    Instruction x{node->op, node->dtype, node->runtime, node->arity, node->payload, {}};
    bool ready = true;
    for (int i = node->arity; i-- > 0;) {
      x.operand[i] = find(node->operand[i]);
      if (x.operand[i] >= 0) continue;
      stack_.push_back(node->operand[i]);
      ready = false;
    }
    if (!ready) return false;
    int32_t instruction = merge(x);
    node_slot(node) = static_cast<int32_t>(seen_.size());
    seen_.push_back({node, instruction});
    nodes_.grow(seen_.size(), [&](size_t i) { return hash_of_node(seen_[i].node); });
    return true;
  }

  int32_t merge(const Instruction& x) {
    int32_t& slot = merged_.slot(hash_of(x), [&](int32_t i) { return instructions_[i] == x; });
    if (slot >= 0) return slot;
    auto position = static_cast<int32_t>(instructions_.size());
    slot = position;
    instructions_.push_back(x);
    merged_.grow(instructions_.size(), [&](size_t i) { return hash_of(instructions_[i]); });
    return position;
  }

  std::vector<Instruction>& instructions_;
  std::vector<const ExprNode*> stack_;
  std::vector<Seen> seen_;
  Positions nodes_, merged_;
};

const char* short_name(DType dtype) {
  static constexpr const char* kNames[] = {"u8",  "i8",  "i16", "i32",  "i64",
                                           "f16", "f32", "f64", "bool", "bf16"};
  return kNames[static_cast<int>(dtype)];
}

std::string constant_text(DType dtype, uint64_t bits) {
  return visit(dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    T value{};
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
      return fmt::format("{}", int64_t(value));
    else if (value != value)
      return fmt::format("nan:{:x}", bits);
    else
      return fmt::format("{:a}", static_cast<double>(value));
  });
}

}  // namespace

Program::Program(std::span<const Expr> expressions) {
  Builder builder(instructions);
  for (const Expr& expression : expressions) outputs.push_back(builder.add(expression.node()));
}

int64_t node_count(const Expr& expression) {
  return static_cast<int64_t>(Program(expression).instructions.size());
}

std::string to_text(const Program& program) {
  std::string text;
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& x = program.instructions[i];
    fmt::format_to(out, "%{} = {} {}", i, short_name(x.dtype), name(x.op));
    if (x.op == Op::constant) fmt::format_to(out, " {}", constant_text(x.dtype, x.payload));
    if (x.op == Op::input || x.op == Op::parameter) fmt::format_to(out, " {}", x.payload);
    if (x.op == Op::rare) fmt::format_to(out, " {}", name(x.runtime));
    for (int k = 0; k < x.arity; ++k) fmt::format_to(out, " %{}", x.operand[k]);
    text += '\n';
  }
  text += "return";
  for (int32_t output : program.outputs) fmt::format_to(out, " %{}", output);
  return text + '\n';
}

}  // namespace fg::ir
