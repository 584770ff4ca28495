// The model of `foregrad train`, a GPT as in nanoGPT, and its trainers.
#pragma once

#include <memory>

#include "apps/train/train_data.h"
#include "nn/containers.h"
#include "nn/layers.h"
#include "nn/optimizer.h"
#include "tensor/generator.h"

namespace fg::apps {

struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, int64_t heads, double dropout);
  Tensor forward(const Tensor& x) const;

  nn::LayerNorm norm1;
  nn::Linear qkv, out;
  nn::Dropout dropout;
  nn::LayerNorm norm2;
  nn::Sequential mlp;
  int64_t heads;
};
FG_MODULE(Block);

struct GptImpl : nn::Module {
  GptImpl(const Config& config, int64_t vocabulary);
  Tensor forward(const Tensor& tokens) const;  // [n, t] to [n, t, vocabulary]

  nn::Embedding tokens, places;
  nn::Dropout dropout;
  nn::ModuleList blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  Tensor range;
};
FG_MODULE(Gpt);

// The function that is compiled: the mean loss of a batch.
struct GptLoss {
  Gpt model;
  Tensor operator()(const Tensor& inputs, const Tensor& targets) const;
  Tensors parameters() const { return model.parameters(); }
  std::string capture_key() const { return model.capture_key(); }
};

int64_t parameter_count(const Config& config, int64_t vocabulary);

// A model with the first values of the seed, and the steps that train it.
class Trainer {
 public:
  Trainer(const Config& config, int64_t vocabulary);

  double step(int64_t step, const Batch& batch);  // compiled; the loss before it
  std::string explain() const { return step_.explain(); }
  Gpt& model() { return model_; }

  // Parameters and the optimiser's state of each: "model.head.weight",
  // "optimizer.head.weight.exp_avg". The state of dropout's numbers is that of default_generator().
  OrderedDict<Tensor> state() const;
  void load(const OrderedDict<Tensor>& state);

 private:
  Gpt model_;
  optim::CosineSchedule rate_;
  compiler::CompiledStep<GptLoss> step_;
};

// The same steps, one operation at a time.
class EagerTrainer {
 public:
  EagerTrainer(const Config& config, int64_t vocabulary);
  double step(int64_t step, const Batch& batch);

 private:
  GptLoss loss_;
  optim::CosineSchedule rate_;
  optim::AdamW optimizer_;
};

double validation_loss(Gpt& model, const std::vector<Batch>& batches);
std::string digest_of(const Gpt& model);  // of its parameters
// Characters that the model makes up after a first one. The same for the same seed.
std::vector<int64_t> sample(Gpt& model, const Config& config, int64_t first, int64_t count);

}  // namespace fg::apps
