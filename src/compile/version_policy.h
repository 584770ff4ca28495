// VersionPolicy: the decisions about the versions of one compiled function, the same in C++ and
// Python. It decides whether a call that fits no version is captured, whether a failed capture is
// made again, which floats are constants, and when the function runs eagerly for good. It is plain
// data without tensors; its owner gives numbers to structures and places, raises errors, prints
// warnings, and calls it under a lock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/callback.h"

namespace fg::compiler {

// A decision: the owner's next action at a call.
struct Decision {
  enum class Kind : uint8_t {
    capture,  // a version for the call
    again,    // the capture that failed: the policy has learned something
    raise,    // an error, because nothing may run eagerly
    eager,    // runs the function eagerly, at all later calls too
  };
  Kind kind;
  std::string why{};    // of `raise` and `eager`
  bool is_new = false;  // the reason of `eager` is worth a warning
};

// A call that fits no version.
struct Miss {
  size_t alike = 0;               // versions that the same constants have
  size_t kinds = 0;               // different constants of all versions
  std::string difference{};       // between the call and a version; empty: its constants
  std::vector<size_t> changed{};  // places of floats that a version has as constants
};

// The inputs of a capture, in their order: tensors, floats of the arguments without those that are
// constants, floats that the function reads elsewhere.
struct CaptureInputs {
  size_t structure = 0;  // of the arguments
  size_t tensors = 0;
  size_t floats = 0;             // of the arguments, with constants
  std::vector<size_t> moving{};  // places of the other floats
};

class VersionPolicy {
 public:
  static constexpr size_t kMostVersions = 8;  // of equal constants, unless a setting says otherwise
  static constexpr size_t kMostKinds = 256;
  static constexpr size_t kMostRefills = 4;

  VersionPolicy(std::string name, bool fullgraph) : name_(std::move(name)), fullgraph_(fullgraph) {}

  // Whether this call runs eagerly because the function was refused; counts the call if so.
  bool runs_eagerly() const { return !refusal_.empty() && count_refused(); }
  const std::string& refusal() const { return refusal_; }  // empty: it is captured
  const std::string& name() const { return name_; }

  // A version is captured until there are `most` of them for equal constants. Floats that changed
  // become inputs.
  Decision after_miss(const Miss& miss, size_t most = kMostVersions);
  // `asked`: inputs whose values the function asked for; none: it is not known which. `why` is
  // called if the function is refused.
  Decision after_failure(const CaptureInputs& inputs, const std::vector<size_t>& asked,
                         const Callback<std::string()>& why);
  // Makes floats whose values were asked for constants. False: there is none left.
  bool learn(const CaptureInputs& inputs, const std::vector<size_t>& asked);
  // Whether to capture again because a cache of the user's code was filled meanwhile. A few times
  // only: a function may fill one at every call.
  bool allows_refill();

  // Places of the floats that are constants, among the arguments of a structure.
  const std::set<size_t>& constants(size_t structure) const;
  // Places of floats that the function reads elsewhere and that are inputs.
  const std::set<size_t>& moving() const { return moving_; }

  void forget();  // all that was learned, and the refusal

 private:
  bool count_refused() const;
  Decision refuse(std::string why);
  bool learn_moving(const CaptureInputs& inputs, const std::vector<size_t>& asked);

  std::string name_, refusal_;
  bool fullgraph_;
  size_t refills_ = 0;
  std::map<size_t, std::set<size_t>> constants_;  // by structure
  std::set<size_t> moving_, fixed_;               // fixed: their values were asked for
};

}  // namespace fg::compiler
