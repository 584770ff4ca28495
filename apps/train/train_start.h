// The start of a training: the cost of a first step eagerly, compiled, and from the cache.
#pragma once

#include "apps/train/train_model.h"

namespace fg::apps {

// The origin of a step's code, with the milliseconds of capturing it and of what followed.
struct Start {
  enum class How : uint8_t { found, compiled, uncached };
  How how = How::uncached;
  double milliseconds = 0;  // until the step could run
  double saved = 0;         // milliseconds that compiling the found code had taken
};

// Measures a start, from its construction on.
class StartWatch {
 public:
  StartWatch();
  Start stop() const;

 private:
  uint64_t hits_, misses_;
  double saved_, seconds_;
};

// The first steps of a training, done by trainers of their own.
struct FirstSteps {
  struct Timed {
    double first = 0, then = 0;  // milliseconds: of the first step, and of the median of the others
    std::vector<double> losses{};
  };
  Timed eager{}, compiled{};
  Start start{};  // of the compiled one
  // After compiling: the same again, with code from the cache.
  std::optional<Timed> again{};
  Start again_start{};
  bool same_bits = false;  // whether all have the same losses
};
FirstSteps compare_first_steps(const Config& config, int64_t vocabulary, const Batches& batches);

}  // namespace fg::apps
