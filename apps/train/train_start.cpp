#include "apps/train/train_start.h"

#include <algorithm>
#include <chrono>

#include "compile/counters.h"

namespace fg::apps {

namespace {

constexpr int64_t kSteps = 4;

template <class Trained>
FirstSteps::Timed timed(Trained trainer, const Batches& batches, int64_t steps) {
  FirstSteps::Timed result;
  std::vector<double> later;
  for (int64_t i = 0; i < steps; i++) {
    Batch batch = batches.training(i);
    auto began = std::chrono::steady_clock::now();
    result.losses.push_back(trainer.step(i, batch));
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    i == 0 ? result.first = took.count() : later.emplace_back(took.count());
  }
  std::sort(later.begin(), later.end());
  result.then = later.empty() ? result.first : later[later.size() / 2];
  return result;
}

}  // namespace

StartWatch::StartWatch() {
  cache::Stats stats = compiler::cache_stats();
  hits_ = stats.hits();
  misses_ = stats.misses;
  saved_ = stats.milliseconds_saved;
  seconds_ = compiler::counters().seconds;
}

Start StartWatch::stop() const {
  cache::Stats stats = compiler::cache_stats();
  Start start;
  start.milliseconds = 1e3 * (compiler::counters().seconds - seconds_);
  if (stats.misses > misses_)
    start.how = Start::How::compiled;
  else if (stats.hits() > hits_)
    start.how = Start::How::found;
  start.saved = stats.milliseconds_saved - saved_;
  return start;
}

FirstSteps compare_first_steps(const Config& config, int64_t vocabulary, const Batches& batches) {
  int64_t steps = std::min(kSteps, config.steps);
  FirstSteps result;
  StartWatch watch;
  result.compiled = timed(Trainer(config, vocabulary), batches, steps);
  result.start = watch.stop();
  result.eager = timed(EagerTrainer(config, vocabulary), batches, steps);
  result.same_bits = result.eager.losses == result.compiled.losses;
  if (result.start.how != Start::How::compiled) return result;
  cache::configure(cache::config());  // forgets what is in memory: it is to come from the disk
  StartWatch again;
  result.again = timed(Trainer(config, vocabulary), batches, steps);
  result.again_start = again.stop();
  result.same_bits = result.same_bits && result.again->losses == result.compiled.losses;
  return result;
}

}  // namespace fg::apps
