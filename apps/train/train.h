// `foregrad train`: trains a character-level GPT on a text, compiled, and writes its results.
//
// The results depend on the numbers of train_config.h and on the text alone: threads, the cache,
// interruptions and resuming change no bit of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fg::apps {

struct TrainOptions {
  std::string program = "foregrad";  // as it was called, for hints
  std::string text{};                // a file; empty: the documentation that comes with Foregrad
  std::string out{};                 // a folder; empty: foregrad-train, or that of the checkpoint
  std::optional<std::string> resume{};  // a checkpoint or its folder; empty: the one in `out`
  // None: the default, or the checkpoint's.
  std::optional<int64_t> layers{}, width{}, heads{}, context{}, batch{}, steps{}, seed{};
  std::optional<double> lr{}, dropout{};
  int64_t checkpoint_every = 100;
  std::optional<int64_t> threads{};
  bool json = false, compare = true, report = true;
};

// The exit status of the command.
int train(const TrainOptions& options);

}  // namespace fg::apps
