// SavedValue: a tensor kept for backward. Inputs are kept as they are; outputs without their
// history (which would be a cycle), and get it back when unpacked. The version at saving is
// compared when the value is read. Saved-tensor hooks pack and unpack values in place of keeping
// them.
#pragma once

#include "autograd/node.h"

namespace fg::autograd {

using PackHook = Callback<std::any(const Tensor&)>;
using UnpackHook = Callback<Tensor(const std::any&)>;

// Raises the error of reading a value that an earlier backward freed.
[[noreturn]] void refuse_freed(const Node& node);

class SavedValue {
 public:
  SavedValue() = default;
  // `output`: the value is an output of the node that saves it. `inplace_on_view`: that output is a
  // view written in place, whose history goes through its base.
  SavedValue(const Tensor& value, bool output, bool inplace_on_view = false);

  // `saved_for` is the node that saved the value; outputs get it as their grad_fn.
  Tensor unpack(const Node* saved_for) const;
  // Whether it was written since; false for a value with hooks. check_version refuses written ones.
  bool was_written() const { return data_.defined() && data_.impl()->version() != version_; }
  // Makes this value count as written whenever `other` does.
  void expect_version_of(const SavedValue& other) { version_ = other.version_; }
  void check_version(const Node* saved_for) const;
  void reset();  // frees the value; unpack is an error afterwards
  bool is_freed() const { return freed_; }
  // The parts that hold references, for traversals of the graph: the tensor, or the packed object.
  const Tensor& held() const { return data_; }
  const std::any* packed() const { return is_packed() ? &rare_->packed : nullptr; }
  const UnpackHook* unpack_hook() const { return is_packed() ? &rare_->unpack : nullptr; }

  // Hooks for this value alone: errors when freed, undefined or already hooked.
  void register_hooks(PackHook pack, UnpackHook unpack);

 private:
  // Rare parts: the packed value with its hook, and the history to give back.
  struct Rare : Counted {
    std::any packed;
    UnpackHook unpack;
    Ref<Node> grad_fn;      // of a packed non-output
    Ref<Node> accumulator;  // of a packed leaf
    WeakNode view_grad_fn;  // of an output that is a view written in place
    static void destroy(Rare* rare) { delete rare; }
  };
  Rare& rare();
  bool is_packed() const { return rare_ && rare_->unpack; }
  void pack(const PackHook& pack, UnpackHook unpack);
  Tensor with_history(Tensor data, const Node* saved_for) const;

  Tensor data_;  // the original, or a detached alias
  Ref<Rare> rare_;
  uint32_t version_ = 0, output_nr_ = 0;
  bool defined_ = false, original_ = false, output_ = false, inplace_on_view_ = false;
  bool leaf_ = true, requires_grad_ = false, freed_ = false;
};

// RAII: while alive on this thread, every value saved for backward goes through pack, and through
// unpack when it is read. Innermost wins.
class SavedTensorsHooks {
 public:
  SavedTensorsHooks(PackHook pack, UnpackHook unpack);
  ~SavedTensorsHooks();
  SavedTensorsHooks(const SavedTensorsHooks&) = delete;
  SavedTensorsHooks& operator=(const SavedTensorsHooks&) = delete;
};

// RAII: pushing hooks inside raises with `message`; entering while hooks are active raises too.
class DisableSavedTensorsHooks {
 public:
  explicit DisableSavedTensorsHooks(std::string message);
  ~DisableSavedTensorsHooks();
  DisableSavedTensorsHooks(const DisableSavedTensorsHooks&) = delete;
  DisableSavedTensorsHooks& operator=(const DisableSavedTensorsHooks&) = delete;

 private:
  std::optional<std::string> outer_;
};

}  // namespace fg::autograd
