// The partition by minimum cut. A network has two nodes for a value, with an arc between them that
// costs what saving the value costs; flow runs from what cannot be computed again to what the
// backward reads, along the operations between them.
#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "passes/max_flow.h"
#include "passes/memory.h"
#include "passes/plan.h"

namespace fg::passes {

using ir::Kind;
using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// All capacities together are this, so that sums of the infinite one fit into 64 bits.
constexpr double kMostCapacity = static_cast<double>(int64_t{1} << 40);
constexpr int64_t kInfinite = int64_t{1} << 41;
constexpr uint32_t kFar = ~uint32_t{0};

// Computes nothing, or from nothing.
bool is_free(const Operation& operation) {
  if (!operation.primitive || operation.primitive->kind == Kind::view) return true;
  return operation.primitive->kind == Kind::create && operation.inputs.empty();
}
// What one loop computes together with its neighbours, so that it is never whole in memory.
bool is_fusible(const Operation& operation) {
  if (!operation.primitive) return true;
  Kind kind = operation.primitive->kind;
  return kind == Kind::elementwise || kind == Kind::reduce || kind == Kind::create;
}

class MinCut {
 public:
  explicit MinCut(const JointGraph& joint)
      : joint_(joint),
        graph_(joint.graph),
        memory_(joint.graph),
        maker_(graph_.values.size(), kNone),
        distance_(graph_.values.size(), kFar),
        reader_(graph_.values.size(), kNone),
        whole_(graph_.values.size(), kNone),
        is_input_(graph_.values.size()),
        may_save_(graph_.values.size(), true),
        saved_result_(graph_.values.size()) {
    for (uint32_t i = 0; i < graph_.operations.size(); i++) {
      const Operation& operation = graph_.operations[i];
      for (int k = 0; k < operation.outputs(); k++) {
        maker_[operation.output + static_cast<ValueId>(k)] = i;
      }
    }
    for (ValueId input : joint.inputs) is_input_[input] = true;
    forbid_what_the_caller_sees();
    find_reads();
    find_distances();
  }

  Plan run() {
    Plan plan{cut(), {}};
    plan.recomputed = recomputed_with(joint_, plan.saved);
    return plan;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0}, kGradient = kNone - 1;

  const Operation* forward_maker(ValueId value) const {
    bool forward = maker_[value] < joint_.forward_end;
    return forward ? &graph_.operations[maker_[value]] : nullptr;
  }
  bool is_forward(ValueId value) const { return is_input_[value] || forward_maker(value); }

  // Inputs and results may be written to after the forward; where the backward of an eager program
  // reads them too, that is an error there and here.
  void forbid_what_the_caller_sees() {
    std::vector<bool> seen = is_input_, is_result(seen.size()), is_shown(seen.size());
    for (ValueId input : joint_.shown) is_shown[memory_.root[input]] = true;
    for (ValueId result : joint_.results) {
      if (result != kNoValue) seen[memory_.root[result]] = is_result[memory_.root[result]] = true;
    }
    for (ValueId value = 0; value < seen.size(); value++) {
      const Operation* maker = forward_maker(value);
      if (seen[memory_.root[value]] || (maker && is_free(*maker))) may_save_[value] = false;
    }
    for (const Saved& saved : partition_default(joint_)) {
      may_save_[saved.value] = true;
      ValueId root = memory_.root[saved.value];
      bool result = is_shown[root] || (is_result[root] && !is_input_[root]);
      saved_result_[root] = saved_result_[root] || result;
    }
  }
  // It would be computed again from what the caller may have written to, where an eager program
  // reads what it saved itself.
  bool reads_saved_result(const Operation& operation) const {
    return std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId input) {
      return input != kNoValue && saved_result_[memory_.root[input]];
    });
  }

  // An operation that must find all of a value in memory, seen from another one that reads it.
  uint32_t whole_for(uint32_t reader) const {
    const Operation& operation = graph_.operations[reader];
    if (operation.aliases_input()) return whole_[operation.output];
    return is_fusible(operation) ? kNone : reader;
  }
  // Which operation of the backward reads a value, if any.
  void find_reads() {
    std::vector<bool> needed(graph_.values.size());
    auto read = [&](ValueId value, uint32_t by) {
      if (value == kNoValue) return;
      needed[value] = true;
      if (whole_[value] == kNone && by != kGradient) whole_[value] = whole_for(by);
      if (!is_forward(value)) return;
      distance_[value] = 0;
      if (reader_[value] == kNone) reader_[value] = by;
    };
    for (ValueId gradient : joint_.gradients) read(gradient, kGradient);
    for (size_t i = graph_.operations.size(); i-- > joint_.forward_end;) {
      const Operation& operation = graph_.operations[i];
      bool wanted = false;
      for (int k = 0; k < operation.outputs(); k++) {
        wanted |= needed[operation.output + static_cast<ValueId>(k)];
      }
      if (!wanted) continue;
      for (ValueId input : operation.inputs) read(input, static_cast<uint32_t>(i));
    }
  }
  // How many operations lie between a value and the backward, not counting what is free. So what
  // partition_default saves is at distance 0, and the cut has at most as many bytes.
  void find_distances() {
    for (size_t i = joint_.forward_end; i-- > 0;) {
      const Operation& operation = graph_.operations[i];
      uint32_t nearest = kFar;
      for (int k = 0; k < operation.outputs(); k++) {
        nearest = std::min(nearest, distance_[operation.output + static_cast<ValueId>(k)]);
      }
      if (nearest == kFar) continue;
      uint32_t next = nearest + (is_free(operation) ? 0 : 1);
      for (ValueId input : operation.inputs) {
        if (input != kNoValue) distance_[input] = std::min(distance_[input], next);
      }
      if (!operation.aliases_input()) continue;
      uint32_t& whole = whole_[operation.inputs[0]];
      if (whole == kNone) whole = whole_[operation.output];
    }
  }

  // Why a value is not computed again.
  enum class Refusal : uint8_t { none, input, random, expensive, small, whole, shown };
  Refusal refusal(ValueId value) const {
    if (is_input_[value]) return Refusal::input;
    const Operation& operation = *forward_maker(value);
    if (is_free(operation) || operation.aliases_input()) return Refusal::none;
    if (operation.is_random()) return Refusal::random;
    if (!is_fusible(operation) || operation.outputs() > 1) return Refusal::expensive;
    if (reads_saved_result(operation)) return Refusal::shown;
    if (operation.primitive->kind == Kind::reduce) {
      const ir::ValueInfo& input = graph_.values[operation.inputs[0]];
      if (4 * bytes_of(graph_.values[value]) < bytes_of(input)) return Refusal::small;
    }
    return whole_[value] == kNone ? Refusal::none : Refusal::whole;
  }
  const std::string& name_of(uint32_t operation) const {
    return graph_.operations[operation].primitive->name;
  }
  std::string text_of(Refusal refusal, ValueId value) const {
    switch (refusal) {
      case Refusal::input:
        return "an input";
      case Refusal::random:
        return "random numbers are drawn once";
      case Refusal::expensive:
        return name_of(maker_[value]) + " is not computed again";
      case Refusal::small:
        return name_of(maker_[value]) + " made it small";
      case Refusal::shown:
        return "made of a result, which may be written to";
      case Refusal::whole:
        return "the backward needs all of it for " + name_of(whole_[value]);
      default:
        return "fewer bytes than what it is made of";
    }
  }

  // ---- the network

  double weight_of(ValueId value) const {
    if (is_input_[value]) return 0;  // it is there anyway
    return static_cast<double>(bytes_of(graph_.values[value])) *
           std::pow(1.1, std::min(distance_[value], 100u));
  }

  struct Network {
    std::vector<int> in, out;  // of values; -1: none
    std::vector<Arc> arcs;
    int count = 2;  // 0 is the source, 1 the sink
  };
  void add_value(Network& network, ValueId value, int64_t capacity) const {
    int out = network.count++;
    network.out[value] = out;
    const Operation* maker = forward_maker(value);
    bool again = refusal(value) == Refusal::none;
    network.in[value] = again ? network.count++ : 0;
    network.arcs.push_back({network.in[value], out, capacity});
    if (reader_[value] != kNone) network.arcs.push_back({out, 1, kInfinite});
    if (!again) return;
    for (ValueId input : maker->inputs) {
      if (input == kNoValue || network.out[input] < 0) continue;
      network.arcs.push_back({network.out[input], network.in[value], kInfinite});
    }
  }
  Network make_network() const {
    Network network;
    network.in.assign(graph_.values.size(), -1);
    network.out = network.in;
    network.arcs.reserve(4 * joint_.forward_end);  // about
    double total = 1;
    for (ValueId value = 0; value < graph_.values.size(); value++) {
      if (distance_[value] != kFar && may_save_[value]) total += weight_of(value);
    }
    double scale = kMostCapacity / total;
    auto add = [&](ValueId value) {
      if (distance_[value] == kFar) return;
      int64_t capacity = may_save_[value] ? std::llround(weight_of(value) * scale) : kInfinite;
      add_value(network, value, capacity);
    };
    for (ValueId input : joint_.inputs) add(input);
    for (size_t i = 0; i < joint_.forward_end; i++) {
      const Operation& operation = graph_.operations[i];
      for (int k = 0; k < operation.outputs(); k++) {
        add(operation.output + static_cast<ValueId>(k));
      }
    }
    return network;
  }
  std::vector<Saved> cut() const {
    Network network = make_network();
    std::vector<bool> before = minimum_cut(network.count, network.arcs, 0, 1);
    std::vector<Saved> saved;
    for (ValueId value = 0; value < network.out.size(); value++) {
      int in = network.in[value], out = network.out[value];
      if (out < 0 || !before[static_cast<size_t>(in)] || before[static_cast<size_t>(out)]) continue;
      if (!may_save_[value]) {
        fail(ErrorKind::internal,
             "min cut: %{} would have to be saved, and the caller can write to it", value);
      }
      saved.push_back({value, why_saved(value)});
    }
    return saved;
  }
  std::string why_saved(ValueId value) const {
    std::string why = text_of(refusal(value), value);
    uint32_t reader = reader_[value];
    if (reader == kNone) return why;
    if (reader == kGradient) return why + "; it is a gradient";
    return why + "; read by " + name_of(reader);
  }

  const JointGraph& joint_;
  const ir::Graph& graph_;
  Memory memory_;
  std::vector<uint32_t> maker_;     // the operation that makes a value
  std::vector<uint32_t> distance_;  // kFar: the backward does not depend on it
  std::vector<uint32_t> reader_;    // an operation of the backward, or kGradient
  std::vector<uint32_t> whole_;     // one that needs all of it in memory
  std::vector<bool> is_input_, may_save_;
  std::vector<bool> saved_result_;  // by root: a result that partition_default saves
};

}  // namespace

Plan plan_min_cut(const JointGraph& joint) { return MinCut(joint).run(); }

std::vector<Saved> partition_min_cut(const JointGraph& joint) { return plan_min_cut(joint).saved; }

}  // namespace fg::passes
