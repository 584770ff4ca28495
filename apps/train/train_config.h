// The numbers that decide what a training does: those of its options, or of the checkpoint.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apps/train/train.h"

namespace fg::apps {

struct Config {
  int64_t layers = 4, width = 128, heads = 4, context = 64, batch = 16, steps = 1000, seed = 0;
  double lr = 2e-3, dropout = 0;

  int64_t warmup() const { return std::min<int64_t>(100, steps / 10); }
};

// Calls visit(name, member of Config, member of TrainOptions) for each of the numbers.
template <class F>
void each_number(const F& visit) {
  visit("layers", &Config::layers, &TrainOptions::layers);
  visit("width", &Config::width, &TrainOptions::width);
  visit("heads", &Config::heads, &TrainOptions::heads);
  visit("context", &Config::context, &TrainOptions::context);
  visit("batch", &Config::batch, &TrainOptions::batch);
  visit("steps", &Config::steps, &TrainOptions::steps);
  visit("seed", &Config::seed, &TrainOptions::seed);
  visit("lr", &Config::lr, &TrainOptions::lr);
  visit("dropout", &Config::dropout, &TrainOptions::dropout);
}

// The numbers of the options, else the defaults. An Error names a wrong one.
Config config_of(const TrainOptions& options);
// The numbers of a checkpoint that was written after `step` steps. Only the number of steps may
// differ, and be larger than the steps that were done.
Config resumed_config(const TrainOptions& options, const Config& checkpoint, int64_t step,
                      const std::string& path);
// Checks options that only this process uses: threads, how often a checkpoint is written.
void check_process(const TrainOptions& options);

nlohmann::ordered_json json_of(const Config& config);
Config config_from(const nlohmann::ordered_json& json);

}  // namespace fg::apps
