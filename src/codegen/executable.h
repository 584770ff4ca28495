// A schedule as native code: fused loops are compiled, everything else calls the eager kernels, and
// values that the caller does not get live in one arena per call.
#pragma once

#include <optional>
#include <unordered_map>

#include "codegen/build.h"
#include "codegen/listing.h"
#include "schedule/schedule.h"

namespace fg::codegen {

namespace format {
struct StepT;
struct TileT;
}  // namespace format

class Executable {
 public:
  // Compiles the loops. A listing is filled with steps, kernels and memory.
  explicit Executable(schedule::Schedule schedule, Listing* listing = nullptr);
  // Loads the bytes of stored() and their code: runs as the one that was stored, and has only those
  // parts of the graph that a run takes. An error if the bytes are not whole.
  Executable(std::string_view stored, std::string_view object);
  const ir::Graph& graph() const { return graph_; }
  // Errors name these lines of the user instead of those that it was compiled from.
  void rename_lines(const std::unordered_map<std::string, std::string>& now);
  // All but the code, as bytes for the same version of this library.
  std::string stored() const;
  const std::string& object() const { return object_; }  // empty: no loop
  // As ir::Runner::run, with the same bits. Thread-safe.
  Tensors run(Tensors inputs) const;

  int64_t memory_bytes() const { return memory_.bytes; }
  // The same for a call that is handed the only references to the graph's consumable inputs.
  int64_t consuming_bytes() const { return consuming_ ? consuming_->bytes : memory_.bytes; }
  size_t step_count() const { return steps_.size(); }
  size_t loop_count() const { return loops_; }      // that are run, several in one step or not
  size_t kernel_count() const { return kernels_; }  // that were compiled: equal ones once

 private:
  struct Step {
    std::string name{};
    uint32_t operation = 0;           // of a single one
    std::string kernel{};             // of a loop: its name
    LoopFunction function = nullptr;  // and code
    struct LoopCall {                 // one call of it
      std::vector<ir::ValueId> operands;
      int64_t length;
    };
    std::vector<LoopCall> parts{};  // several only of flat loops without reductions
    int64_t grain = 1;
    bool flat = false;
    struct Reduction {
      const ir::PrimitiveInfo* primitive;
      ir::ValueId output;
      DType dtype;  // of the results of blocks
      int64_t rows, blocks, count;
    };
    std::vector<Reduction> reductions{};  // of a loop: the last operands
    std::vector<Step> members{};          // steps that run by tiles
    schedule::Tile tile{};
  };
  class Call;    // the state of one run
  class Reader;  // of stored bytes

  class StepMaker;
  std::unique_ptr<format::StepT> packed(const Step& step) const;
  std::unique_ptr<format::TileT> packed_tile(const Step& step) const;
  void find_functions(std::vector<Step>& steps);
  void make_steps(const std::vector<schedule::Group>& groups, std::vector<schedule::Tile> tiles,
                  Listing* listing);
  void add_reductions(const schedule::Group& group, const Loop& loop, Step& step) const;
  std::vector<const Tensor*> find_constants() const;
  std::string name_of(const schedule::Group& group) const;

  ir::Graph graph_;
  std::vector<schedule::Place> places_;
  schedule::MemoryPlan memory_;
  std::optional<schedule::MemoryPlan> consuming_;  // with values in the memory of inputs
  std::vector<Step> steps_;
  std::vector<ir::ValueId> kept_;  // computed values that outputs show
  std::vector<std::pair<ir::ValueId, ir::ValueId>> overwritten_;  // value, the input it overwrites
  std::vector<std::pair<ir::ValueId, Tensor>> constants_;
  std::string object_;
  std::unique_ptr<Library> library_;
  size_t loops_ = 0, kernels_ = 0;
};

}  // namespace fg::codegen
