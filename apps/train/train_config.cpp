#include "apps/train/train_config.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/fail.h"

namespace fg::apps {

namespace {

void check_count(const char* name, int64_t value, int64_t lowest, int64_t highest) {
  if (value >= lowest && value <= highest) return;
  fail("train: --{}: got {}; expected a whole number from {} to {}", name, value, lowest, highest);
}

void check(const Config& config) {
  check_count("layers", config.layers, 1, 1000);
  check_count("width", config.width, 1, 1 << 16);
  check_count("heads", config.heads, 1, 1 << 16);
  check_count("context", config.context, 1, 1 << 20);
  check_count("batch", config.batch, 1, 1 << 20);
  check_count("steps", config.steps, 1, 1'000'000'000);
  check_count("seed", config.seed, 0, INT64_MAX);
  if (!(config.lr > 0) || !std::isfinite(config.lr)) {
    fail("train: --lr: got {}; expected a positive number, as 0.002", config.lr);
  }
  if (!(config.dropout >= 0 && config.dropout < 1)) {
    fail("train: --dropout: got {}; expected a number from 0 to less than 1", config.dropout);
  }
  if (config.width % config.heads != 0) {
    fail("train: --width {} cannot be divided among --heads {}; choose a multiple of {}",
         config.width, config.heads, config.heads);
  }
}

}  // namespace

void check_process(const TrainOptions& options) {
  check_count("checkpoint-every", options.checkpoint_every, 1, 1'000'000'000);
  if (options.threads) check_count("threads", *options.threads, 1, 1024);
}

Config config_of(const TrainOptions& options) {
  Config config;
  each_number([&](const char*, auto number, auto option) {
    if (options.*option) config.*number = *(options.*option);
  });
  check(config);
  return config;
}

Config resumed_config(const TrainOptions& options, const Config& checkpoint, int64_t step,
                      const std::string& path) {
  Config config = checkpoint;
  each_number([&](const char* name, auto number, auto option) {
    if (!(options.*option)) return;
    config.*number = *(options.*option);
    if (config.*number == checkpoint.*number || std::string_view(name) == "steps") return;
    fail(
        "train: --{} {} does not fit {}, which was trained with --{} {}; leave it out, or start "
        "anew without --resume",
        name, config.*number, path, name, checkpoint.*number);
  });
  check(config);
  if (config.steps <= step) {
    fail("train: {} has done {} of {} steps already; give more with --steps, as --steps {}", path,
         step, config.steps, 2 * step);
  }
  return config;
}

nlohmann::ordered_json json_of(const Config& config) {
  nlohmann::ordered_json json;
  each_number([&](const char* name, auto number, auto) { json[name] = config.*number; });
  return json;
}

Config config_from(const nlohmann::ordered_json& json) {
  Config config;
  each_number([&](const char* name, auto number, auto) { json.at(name).get_to(config.*number); });
  check(config);
  return config;
}

}  // namespace fg::apps
