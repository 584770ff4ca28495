// Verification of a schedule after each stage.
#include <map>

#include "base/fail.h"
#include "schedule/batch.h"
#include "schedule/schedule.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

class Verifier {
 public:
  Verifier(const Schedule& schedule, const char* stage)
      : schedule_(schedule), graph_(schedule.graph), stage_(stage) {}

  void run() {
    if (schedule_.places.empty()) return ir::verify(graph_, stage_);
    check_places();
    if (schedule_.groups.empty()) return;
    check_groups();
    if (schedule_.memory.offsets.empty()) return;
    find_lives();
    check_memory(schedule_.memory);
    if (schedule_.consuming) check_memory(*schedule_.consuming);
  }

 private:
  static constexpr size_t kNever = ~size_t{0};

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> what, Args&&... args) const {
    fail(ErrorKind::internal, "schedule after {}: {}", stage_,
         fmt::format(what, std::forward<Args>(args)...));
  }

  void check_places() const {
    if (schedule_.places.size() != graph_.values.size()) refuse("a value has no place");
    for (ValueId value = 0; value < graph_.values.size(); value++) {
      const Place& place = schedule_.places[value];
      bool whole = place.root < graph_.values.size() && place.offset >= 0 &&
                   schedule_.places[place.root].root == place.root;
      if (!whole) refuse("%{} is in %{}, which is no memory", value, place.root);
    }
  }

  // Each operation that computes runs once, after what it reads.
  void check_groups() {
    made_.assign(graph_.values.size(), kNever);
    for (size_t g = 0; g < schedule_.groups.size(); g++) {
      for (uint32_t index : schedule_.groups[g].operations) {
        const Operation& operation = graph_.operations.at(index);
        for (ValueId input : operation.inputs) {
          if (input != kNoValue && !is_there(input)) {
            refuse("{} reads %{} before it is made", operation.primitive->name, input);
          }
        }
        for (int k = 0; k < operation.outputs(); k++) {
          size_t& made = made_[operation.output + static_cast<ValueId>(k)];
          if (made != kNever) refuse("%{} is made twice", operation.output);
          made = g;
        }
      }
    }
    for (const Operation& operation : graph_.operations) {
      bool computes =
          operation.primitive && schedule_.places[operation.output].root == operation.output;
      if (computes && made_[operation.output] == kNever)
        refuse("%{} is not made", operation.output);
    }
  }
  bool is_there(ValueId value) {
    ValueId root = schedule_.places[value].root;
    if (makers_.empty()) {
      makers_.assign(graph_.values.size(), false);
      for (const Operation& operation : graph_.operations) {
        for (int k = 0; operation.primitive && k < operation.outputs(); k++) {
          makers_[operation.output + static_cast<ValueId>(k)] = true;
        }
      }
    }
    return !makers_[root] || made_[root] != kNever;
  }

  // Steps from the first that writes a value to the last that reads it.
  void find_lives() {
    ends_ = ends_of_steps(schedule_.groups);
    last_.assign(graph_.values.size(), 0);
    for (size_t g = 0; g < schedule_.groups.size(); g++) {
      for (uint32_t index : schedule_.groups[g].operations) {
        const Operation& operation = graph_.operations[index];
        for (ValueId input : operation.inputs) {
          if (input != kNoValue) last_[schedule_.places[input].root] = ends_[g];
        }
        for (int k = 0; k < operation.outputs(); k++) {
          last_[operation.output + static_cast<ValueId>(k)] = ends_[g];
        }
      }
    }
  }

  // Two values in the same bytes never live at the same time; a loop may put a result where it
  // reads an operand of the same layout, element by element.
  void check_memory(const MemoryPlan& plan) const {
    using Bytes = std::map<int64_t, ValueId>;  // by where they begin
    std::map<ValueId, Bytes> in_use;           // per memory: the block, or an input
    std::vector<std::vector<ValueId>> starting(schedule_.groups.size());
    for (ValueId value = 0; value < plan.offsets.size(); value++) {
      if (plan.offsets[value] == MemoryPlan::kNotPlanned) continue;
      if (made_[value] == kNever) refuse("%{} has memory and is not made", value);
      starting[made_[value]].push_back(value);
    }
    for (size_t g = 0; g < starting.size(); g++) {
      for (ValueId value : starting[g]) take(plan, in_use[plan.inside[value]], value, g);
    }
  }
  int64_t end_of(const MemoryPlan& plan, ValueId value) const {
    return plan.offsets[value] + span_bytes(graph_.values[value]);
  }
  // Group g may write `value`, which begins so many bytes behind `old`, over it: nothing reads
  // that any more, or g is the one that does, element i only to make element i.
  bool is_free(ValueId old, ValueId value, int64_t behind, size_t g) const {
    if (last_[old] < g) return true;
    const ir::ValueInfo &a = graph_.values[old], &b = graph_.values[value];
    bool alike = known_equal(a.sizes, b.sizes) == Known::yes &&
                 known_equal(a.strides, b.strides) == Known::yes &&
                 item_size(a.dtype) == item_size(b.dtype) && behind == 0;
    return alike && last_[old] == ends_[g] && schedule_.groups[g].loop && reads_alone(old, g);
  }
  bool reads_alone(ValueId old, size_t g) const {
    size_t first = g;
    while (first > 0 && ends_[first - 1] == ends_[g]) first--;
    for (size_t one = first; one <= ends_[g]; one++) {
      for (uint32_t index : schedule_.groups[one].operations) {
        const Operation& operation = graph_.operations[index];
        for (ValueId input : operation.inputs) {
          if (input == kNoValue || schedule_.places[input].root != old) continue;
          bool element = reads_element(graph_, schedule_.places, operation, input);
          if (one != g || !element) return false;
        }
      }
    }
    return true;
  }
  void take(const MemoryPlan& plan, std::map<int64_t, ValueId>& bytes, ValueId value,
            size_t g) const {
    int64_t begin = plan.offsets[value], end = end_of(plan, value);
    if (plan.inside[value] == kNoValue && end > plan.bytes)
      refuse("%{} is behind the arena", value);
    if (plan.inside[value] != kNoValue && !is_free(plan.inside[value], value, begin, g)) {
      refuse("%{} is in the memory of %{}, which is still read", value, plan.inside[value]);
    }
    auto other = bytes.lower_bound(begin);
    if (other != bytes.begin() && end_of(plan, std::prev(other)->second) > begin) --other;
    while (other != bytes.end() && other->first < end) {
      if (!is_free(other->second, value, begin - other->first, g)) {
        refuse("%{} and %{} are in the same bytes at the same time", other->second, value);
      }
      other = bytes.erase(other);
    }
    if (end > begin) bytes[begin] = value;
  }

  const Schedule& schedule_;
  const ir::Graph& graph_;
  const char* stage_;
  std::vector<size_t> made_, last_;  // groups, per value
  std::vector<size_t> ends_;         // per group: the last of its step
  std::vector<bool> makers_;         // values that an operation makes
};

}  // namespace

void verify(const Schedule& schedule, const char* stage) { Verifier(schedule, stage).run(); }

}  // namespace fg::schedule
