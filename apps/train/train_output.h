// Output of `foregrad train` while it runs: text for people, or one JSON document per line.
#pragma once

#include <memory>

#include "apps/train/train_checkpoint.h"
#include "apps/train/train_start.h"

namespace fg::apps {

// Facts that are known before the first step.
struct TrainFacts {
  Config config;
  std::string text;
  int64_t characters = 0, held_out = 0, vocabulary = 0, parameters = 0;
  int threads = 1;
  std::string resumed{};   // the checkpoint that it goes on from
  int64_t step = 0;        // steps that are done
  std::string replaces{};  // a checkpoint of an unfinished training that will be overwritten
};

struct Progress {
  int64_t step, steps;  // done, and of how many
  double loss, tokens_per_second, seconds_left;
};

struct Summary {
  int signal = 0;  // that stopped it; 0: it is finished
  int64_t step = 0, steps = 0;
  double loss = 0, validation = 0, seconds = 0, tokens_per_second = 0;
  std::string weights{};             // a digest of all parameters
  std::string sample{};              // text that the model writes
  std::vector<std::string> files{};  // that were written
  std::vector<std::string> notes{};  // failures, a sentence each
  std::string resume{};              // the command that goes on
};

class TrainOutput {
 public:
  virtual ~TrainOutput() = default;
  virtual void begin(const TrainFacts& facts) = 0;
  virtual void compared(const FirstSteps& first) = 0;
  virtual void started(const Start& start) = 0;  // the first step of the training is done
  virtual void progress(const Progress& progress) = 0;
  virtual void validated(const Curve::Point& point) = 0;
  virtual void reporting() = 0;  // the files are being made, which takes a moment
  virtual void end(const Summary& summary) = 0;
};
std::unique_ptr<TrainOutput> make_output(bool json);

// For people: 12,345 and 0:07 and 4.7 ms.
std::string grouped(int64_t number);
std::string clock_text(double seconds);
std::string milliseconds_text(double milliseconds);
// "found in the cache, ready in 4.7 ms"
std::string text_of(const Start& start);

}  // namespace fg::apps
