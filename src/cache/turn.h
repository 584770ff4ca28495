// Single flight: of many processes that miss the same key, one compiles and the others wait for it.
// A lock of the system (flock) on a file per key: who dies loses it, so that nothing is ever stuck.
#pragma once

#include <string>

#include "base/digest.h"
#include "base/file.h"

namespace fg::cache {

class Turn {
 public:
  enum class State : uint8_t {
    mine,   // nobody else compiles this
    alone,  // no lock was to be had, or not in time: go on, others may do the same
  };
  Turn() = default;
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&& other) noexcept;
  ~Turn();  // the next one's turn

  State state() const { return state_; }
  bool waited() const { return waited_; }

 private:
  friend Turn take_turn(int root, const Digest& key, double seconds);
  void give_up();

  Descriptor file_{}, folder_{};
  std::string name_{};
  int slot_ = -1;
  State state_ = State::alone;
  bool waited_ = false;
};

// Waits for at most so many seconds. `root` is the folder of a local store.
Turn take_turn(int root, const Digest& key, double seconds);

}  // namespace fg::cache
