// Single flight: of many processes that miss the same key, one compiles and the others wait for it.
// A turn is a flock on a file per key. A process that dies loses it, so that no other one is stuck.
#pragma once

#include <string>

#include "base/digest.h"
#include "base/file.h"

namespace fg::cache {

class Turn {
 public:
  enum class State : uint8_t {
    mine,   // no other process compiles this key
    alone,  // without a lock, or not in time: compile all the same, as other processes may
  };
  Turn() = default;
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&& other) noexcept;
  ~Turn();  // lets the next process compile

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
