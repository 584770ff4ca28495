// Checkpoints of `foregrad train`: safetensors files that hold all that the next step depends on,
// with a digest of everything in them.
#pragma once

#include "apps/train/train_data.h"
#include "nn/ordered_dict.h"
#include "tensor/generator.h"

namespace fg::apps {

struct Curve {
  std::vector<double> losses;  // of every step
  struct Point {
    int64_t step;
    double loss;
  };
  std::vector<Point> validation;
};

struct Checkpoint {
  Config config;
  int64_t step = 0;                   // steps that were done
  PhiloxKey generator{};              // of dropout
  std::string text{}, text_digest{};  // no text: the documentation that comes with Foregrad
  std::string vocabulary{};           // its characters in order
  OrderedDict<Tensor> state{};        // of the model and the optimiser
  Curve curve{};
};

// The file is written whole or not at all.
void save_checkpoint(const Checkpoint& checkpoint, const std::string& path);
// Loads a checkpoint; an Error says what is wrong with it.
Checkpoint load_checkpoint(const std::string& path);
// Refuses a text that the checkpoint was not trained on.
void check_text(const Checkpoint& checkpoint, const Corpus& corpus, const std::string& path);

}  // namespace fg::apps
