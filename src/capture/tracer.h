// The tracer: sees every primitive in the place of the kernels and writes it down. Tensors are
// abstract meanwhile. Writes are functionalised here: a storage has a current value, a write gives
// it a new one, and a view that is read after a write is cut out of the new value.
#pragma once

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "autograd/active_hooks.h"
#include "base/error.h"
#include "capture/pointer_table.h"
#include "ir/capturing.h"
#include "ir/graph.h"

namespace fg::capture {

// The step that made a view, kept so that it can be made again of a real tensor.
struct ViewStep {
  Tensor of;
  const ir::PrimitiveInfo* primitive;
  ir::ParamsRef params;
  Dims sizes, strides;        // of the view when it was made
  Dims of_sizes, of_strides;  // and of the tensor that it is a view of
  uint32_t version;           // of the memory
};

// A tensor of the caller, and the tensors that stand for it while the function is traced.
struct Lifted {
  Tensor real;
  Tensor leaf;                // gets the gradient
  Tensor inside;              // seen by the function; not the leaf if `real` is none
  Ref<autograd::Node> entry;  // then the first node of its history
  Ref<Storage> storage;       // of `inside`, unless the function replaces it
  ir::ValueId value;
  ir::Role role;
  bool needs_grad;
  Tensor view_base;  // of a leaf that is a view
};

// A tensor from outside as an input: itself, or another one that owns its memory.
struct LiftedAs {
  Tensor tensor;
  ir::Role role;
};
// `exactly`: only if the tensor itself is one that is read anew at every call; else nothing.
using OnLift = Callback<LiftedAs(const Tensor& tensor, bool exactly)>;

class Tracer : public ir::Interpreter, public ir::Capturing {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  // All that was traced, in order; graphs are cut out of it.
  ir::Graph graph;
  // Chooses the input for a tensor that the function reached by itself, or refuses it.
  OnLift on_lift;
  // The user's line that is running; none: unknown.
  Callback<std::string()> on_source;
  bool backward = false;      // operations traced now belong to the backward
  bool ran_backward = false;  // the function itself computed gradients

  // A new input that looks like `like`. It is no leaf when `like` is none.
  Tensor add_input(const Tensor& like, ir::Role role);
  // An argument: `real` means this input from now on, wherever it is met.
  Tensor add_argument(const Tensor& real, ir::Role role);
  const std::vector<Lifted>& lifted() const { return lifted_; }
  // Lets go of the tensors from outside.
  void forget_outside();
  // Takes the inputs of a later call: a backward that is traced for it may meet them.
  void meet(const Tensors& inputs);

  // Gives the storage of a tensor memory that nothing else has: its value is copied if it is an
  // input, a view or one of `others`.
  void settle(const Tensor& tensor, std::unordered_set<ir::ValueId>& others);
  // The value that a tensor holds now.
  ir::ValueId read(const Tensor& tensor);
  // The value of the memory that a tensor shows, and where it begins in there; nothing is traced.
  struct InMemory {
    ir::ValueId value;
    int64_t offset;
    const Storage* storage;
    bool written_as_data;  // through .data, which autograd does not see
  };
  std::optional<InMemory> find(const Tensor& tensor) const;
  bool was_written(const Tensor& tensor) const;
  // The values of all that the last backward read, as they were before it.
  std::vector<ir::ValueId> values_read_back() const;
  bool depends_on_offset(const Tensor& tensor) const;
  const ViewStep* step_of(const Tensor& view) const;
  // Generators that were drawn from, each with its seed (an input) and how many numbers it gave.
  struct Drawn {
    std::optional<Generator> generator;  // none: the process's own
    ir::ValueId seed;
    uint64_t numbers;
  };
  std::vector<Drawn> drawn;

  void call(ir::Call& call) override;
  bool write(const Tensor& self, const Tensor& value) override;
  Tensor stand_in(const Tensor& tensor) override;
  void asked(const Tensor& tensor, const char* what) override;
  Scalar symbol_of(const Tensor& number) override;
  Tensor symbol_tensor(uint32_t symbol) override;
  void symbol_asked(uint32_t symbol) override;
  void reshaping(const Tensor& self, const Tensor& view) override;
  void unpacked(const Tensor& saved) override;
  // Memory that a backward read: of values saved for it, or of tensors that it reached by itself.
  std::unordered_set<const Storage*> read_back;

  // Memory that a backward did not make and that it reached by itself. It reads the elements of the
  // time when it runs, and its writes happen at every run.
  struct Touched {
    Tensor base;
    std::optional<size_t> input{};     // of the function; none: a gradient that comes
    ir::ValueId now = ir::kNoValue;    // stands for the elements when the backward runs
    ir::ValueId after = ir::kNoValue;  // at its end; none: it was not written
    uint32_t bumps = 0;                // of the version
  };
  // While alive, a backward is traced. Afterwards memory is what it was: the next backward begins
  // where this one did. `touches`: code of the user runs, and may reach inputs of the function.
  class BackwardScope;

 private:
  struct Geometry {
    Dims sizes, strides;
    Dim offset;
    Dim reach() const;
    explicit Geometry(const Tensor& tensor);
    // As a key: parts that happen to be equal in the example stay two.
    bool operator==(const Geometry& other) const {
      return same(sizes, other.sizes) && same(strides, other.strides) && same(offset, other.offset);
    }
  };
  struct GeometryHash {
    size_t operator()(const Geometry& geometry) const;
  };
  // The contents of a storage.
  struct Memory {
    Memory() = default;
    Memory(const Tensor& base, ir::ValueId value)
        : value(value), number(base.impl()->wrapped_number), geometry(Geometry(base)), base(base) {}
    ir::ValueId value = ir::kNoValue;
    bool number = false;  // the value is weak in promotion; here too: values lie far apart
    bool is_input = false;
    bool offset_matters = false;  // a view of it counts from the beginning of the storage
    bool written = false, written_as_data = false;
    std::optional<Geometry> geometry;  // of the value; the base itself may get another one
    Tensor base;
    // Whether a tensor shows all of it, as it lies there.
    bool is_whole(const Tensor& tensor) const;
    // Most memories have no views.
    struct Views {
      std::unordered_set<Geometry, GeometryHash> usual{};  // that were made of it in the usual way
      std::unordered_map<Geometry, ir::ValueId, GeometryHash> parts{};  // of the current value
    };
    std::unique_ptr<Views> views_made{};
    Views& views() {
      if (!views_made) views_made = std::make_unique<Views>();
      return *views_made;
    }
    void forget_parts() {
      if (views_made) views_made->parts.clear();
    }
  };
  Memory& memory_of(const Tensor& tensor);
  // Called when a backward reads or writes memory, or changes a tensor, that may not be its own;
  // or when it draws random numbers, which differ each time.
  void note_read(const Storage* storage, Memory& memory);
  void note_write(const Tensor& self, Memory& memory);
  void note_change(const Tensor& tensor, const char* what, bool of_memory);
  void note_draw();
  static bool is_dense(const Memory& memory);
  Memory& add_constant(const Tensor& tensor);
  Tensor alias_of_lifted(const Tensor& tensor);
  void asked_outside(const Tensor& tensor, const char* what) const;
  ir::ValueId read_part(Memory& memory, const Tensor& view);
  ir::ValueId as_number(ir::ValueId value, bool number);
  ir::ValueId put(Memory& memory, const Tensor& self, ir::ValueId value);
  void add_view(const ir::PrimitiveInfo& primitive, const Tensor& input, const void* params,
                const ir::Meta& meta, Tensor& output);
  void draw(ir::Operation& operation, ir::Operands inputs, const void* params,
            const ir::Meta& meta);
  void add(ir::Operation operation);
  ir::ValueId trace(const ir::PrimitiveInfo& primitive, std::vector<ir::ValueId> inputs,
                    ir::ParamsRef params, ir::ValueInfo info);
  void give_numbers(ir::Operation& operation, const void* params);
  uint32_t source();

  std::vector<bool> fresh_;                       // by value: in memory of its own
  std::unordered_map<uint64_t, uint32_t> lines_;  // of nodes, by sequence number
  PointerTable<Storage, Memory> memories_;
  std::vector<Lifted> lifted_;
  // Tensors that stand for those from outside, by tensor and by storage.
  std::unordered_map<const TensorImpl*, std::pair<Tensor, Tensor>> inside_;
  std::unordered_map<const Storage*, Tensor> inside_storage_;
  std::unordered_map<const VersionCounter*, Ref<VersionCounter>> inside_counters_;
  std::unordered_map<const TensorImpl*, std::pair<Tensor, ViewStep>> steps_;
  std::unordered_map<std::string, uint32_t> sources_;
  Tensors symbols_;  // stand for numbers of unknown value
  BackwardScope* scope_ = nullptr;
  std::unordered_set<const Storage*> all_read_;  // by the last backward, of what is not its own
};

class Tracer::BackwardScope {
 public:
  BackwardScope(Tracer& tracer, bool runs_code_of_user, bool touches);
  ~BackwardScope();
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;

  // Notes a tensor that was there before the backward.
  void know(const Tensor& tensor) {
    if (tensor.defined()) known_.insert(tensor.impl());
  }
  // Returns all touched memory. Refuses once more where the user's code caught a refusal.
  std::vector<Touched> finish();

 private:
  friend class Tracer;
  struct Before {  // of touched memory
    Touched touched;
    ir::ValueId value;
    bool number, written, written_as_data;
    uint32_t version;
  };
  bool is_own(const Storage* storage) const;
  std::optional<size_t> input_of(const Storage* storage) const;
  Before* find(const Storage* storage);
  Before& touch(const Storage* storage, Memory& memory);
  [[noreturn]] void refuse(const std::string& why);

  Tracer& tracer_;
  bool runs_code_of_user_, touches_;
  size_t first_own_;  // memory that came later is that of the backward
  std::unordered_set<const TensorImpl*> known_;
  std::deque<Before> touched_;
  std::vector<std::pair<Ref<VersionCounter>, uint32_t>> counters_;
  std::string refused_;
};

// Thrown when code asks for the value of a number that is an argument or depends on arguments.
class NumberAsked : public Error {
 public:
  using Error::Error;
};
// Arguments whose values this thread asked for since they were last taken.
const std::vector<size_t>& asked_inputs();
std::vector<size_t> take_asked_inputs();

// Whether all elements of `part` lie within those of `whole`, in one storage.
bool contains_memory(const Tensor& whole, const Tensor& part);

// While alive, this thread traces.
class Tracing : ir::Interpreting {
 public:
  explicit Tracing(Tracer& tracer) : Interpreting(tracer), guards_(tracer.graph.symbols.get()) {
    modes.capturing = &tracer;
    autograd::take_active_hooks({});
  }
  ~Tracing() { autograd::take_active_hooks(hooks_); }

 private:
  GuardScope guards_;
  FrozenGenerators frozen_;
  // Hooks see what a call saves and makes, not what its capture does.
  autograd::ActiveHooks hooks_ = autograd::active_hooks();
};

}  // namespace fg::capture
