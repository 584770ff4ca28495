#include "apps/train/train_model.h"

#include <numeric>

#include "base/digest.h"
#include "nn/init.h"
#include "ops/attention/attention.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/loss.h"
#include "ops/norm/softmax.h"
#include "ops/random/random.h"
#include "ops/view/views.h"

namespace fg::apps {

namespace {

constexpr double kClipNorm = 1.0, kWeightDecay = 0.1, kTemperature = 0.8;
constexpr std::array<double, 2> kBetas{0.9, 0.99};

Gpt made(const Config& config, int64_t vocabulary) {
  manual_seed(static_cast<uint64_t>(config.seed));
  return Gpt(config, vocabulary);
}

// Only matrices decay, as usual.
std::vector<ParameterGroup> groups_of(const Gpt& model, double lr) {
  std::vector<ParameterGroup> groups{
      {{}, AdamW{.lr = lr, .betas = kBetas, .weight_decay = kWeightDecay}},
      {{}, AdamW{.lr = lr, .betas = kBetas, .weight_decay = 0}}};
  for (const Tensor& parameter : model.parameters()) {
    groups[parameter.dim() >= 2 ? 0 : 1].parameters.push_back(parameter);
  }
  return groups;
}

optim::CosineSchedule rate_of(const Config& config) {
  return {
      .high = config.lr, .low = config.lr / 10, .warmup = config.warmup(), .total = config.steps};
}

// While alive, the model is asked and not trained.
class Asking {
 public:
  explicit Asking(Gpt& model) : model_(model) { model_->eval(); }
  ~Asking() { model_->train(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Gpt& model_;
  NoGradGuard no_grad_;
};

}  // namespace

BlockImpl::BlockImpl(int64_t width, int64_t heads, double dropout)
    : norm1(register_module("norm1", nn::LayerNorm(width))),
      qkv(register_module("qkv", nn::Linear(width, 3 * width))),
      out(register_module("out", nn::Linear(width, width))),
      dropout(register_module("dropout", nn::Dropout(dropout))),
      norm2(register_module("norm2", nn::LayerNorm(width))),
      mlp(register_module("mlp",
                          nn::Sequential(nn::Linear(width, 4 * width), nn::GELU(),
                                         nn::Linear(4 * width, width), nn::Dropout(dropout)))),
      heads(heads) {}

Tensor BlockImpl::forward(const Tensor& x) const {
  int64_t n = x.size(0), t = x.size(1), c = x.size(2);
  Tensors parts = qkv(norm1(x)).split(c, 2);
  for (Tensor& part : parts) part = part.view({n, t, heads, c / heads}).transpose(1, 2);
  Tensor mixed = scaled_dot_product_attention(parts[0], parts[1], parts[2], Tensor(), 0.0, true);
  Tensor y = x + dropout(out(mixed.transpose(1, 2).reshape({n, t, c})));
  return y + mlp(norm2(y));
}

GptImpl::GptImpl(const Config& config, int64_t vocabulary)
    : tokens(register_module("tokens", nn::Embedding(vocabulary, config.width))),
      places(register_module("places", nn::Embedding(config.context, config.width))),
      dropout(register_module("dropout", nn::Dropout(config.dropout))),
      blocks(register_module("blocks", nn::ModuleList())),
      norm(register_module("norm", nn::LayerNorm(config.width))),
      head(register_module("head",
                           nn::Linear(nn::LinearOptions(config.width, vocabulary).bias(false)))) {
  for (int64_t i = 0; i < config.layers; i++) {
    blocks->push_back(Block(config.width, config.heads, config.dropout));
  }
  range = register_buffer("range", arange(config.context), false);
  for (const Tensor& table : {tokens->weight, places->weight}) nn::init::normal_(table, 0, 0.02);
}

Tensor GptImpl::forward(const Tensor& words) const {
  Tensor x = dropout(tokens(words) + places(range.narrow(0, 0, words.size(1))));
  for (size_t i = 0; i < blocks->size(); i++) x = blocks->at<BlockImpl>(i).forward(x);
  return head(norm(x));
}

Tensor GptLoss::operator()(const Tensor& inputs, const Tensor& targets) const {
  return cross_entropy(model(inputs).flatten(0, 1), targets.reshape({-1}));
}

int64_t parameter_count(const Config& config, int64_t vocabulary) {
  int64_t count = 0;
  for (const Tensor& parameter : Gpt(config, vocabulary).parameters()) count += parameter.numel();
  return count;
}

Trainer::Trainer(const Config& config, int64_t vocabulary)
    : model_(made(config, vocabulary)),
      rate_(rate_of(config)),
      step_(compile_step(
          GptLoss{model_}, groups_of(model_, config.lr),
          {.clip_norm = kClipNorm, .fullgraph = true, .name = "A step of foregrad train"})) {}

double Trainer::step(int64_t step, const Batch& batch) {
  step_.set_lr(rate_(step));
  return step_(batch.inputs, batch.targets).item<double>();
}

OrderedDict<Tensor> Trainer::state() const {
  OrderedDict<Tensor> result;
  for (const auto& item : model_->state_dict()) result.insert("model." + item.key(), item.value());
  for (const auto& item : model_->named_parameters()) {
    for (const auto& [name, value] : step_.state(item.value())) {
      result.insert("optimizer." + item.key() + "." + name, value);
    }
  }
  return result;
}

void Trainer::load(const OrderedDict<Tensor>& state) {
  nn::StateDict parameters;
  for (const auto& item : model_->state_dict()) {
    parameters.insert(item.key(), state["model." + item.key()]);
  }
  model_->load_state_dict(parameters);
  for (const auto& item : model_->named_parameters()) {
    compiler::StepState::Named named;
    for (const char* name : {"exp_avg", "exp_avg_sq", "step"}) {
      const Tensor* found = state.find("optimizer." + item.key() + "." + name);
      if (found) named[name] = *found;
    }
    step_.load_state(item.value(), named);
  }
}

EagerTrainer::EagerTrainer(const Config& config, int64_t vocabulary)
    : loss_{made(config, vocabulary)},
      rate_(rate_of(config)),
      optimizer_(groups_of(loss_.model, config.lr)) {}

double EagerTrainer::step(int64_t step, const Batch& batch) {
  optimizer_.set_lr(rate_(step));
  optimizer_.zero_grad();
  Tensor loss = loss_(batch.inputs, batch.targets);
  loss.backward();
  nn::utils::clip_grad_norm_(optimizer_.parameters(), kClipNorm);
  optimizer_.step();
  return loss.item<double>();
}

double validation_loss(Gpt& model, const std::vector<Batch>& batches) {
  Asking asking(model);
  double total = 0, count = 0;
  for (const Batch& batch : batches) {
    auto windows = static_cast<double>(batch.inputs.size(0));
    total += windows * GptLoss{model}(batch.inputs, batch.targets).item<double>();
    count += windows;
  }
  return total / count;
}

std::string digest_of(const Gpt& model) {
  Hasher hasher;
  for (const auto& item : model->state_dict()) {
    size_t size = static_cast<size_t>(item.value().numel()) * item_size(item.value().dtype());
    hasher.add_field(item.key(), {static_cast<const char*>(item.value().data_ptr()), size});
  }
  return hex(hasher.finish());
}

std::vector<int64_t> sample(Gpt& model, const Config& config, int64_t first, int64_t count) {
  Asking asking(model);
  Generator generator(static_cast<uint64_t>(config.seed));
  std::vector<int64_t> result{first};
  while (static_cast<int64_t>(result.size()) <= count) {
    auto known = static_cast<int64_t>(result.size()), seen = std::min(known, config.context);
    Tensor words = tensor(std::vector<int64_t>(result.end() - seen, result.end()));
    Tensor scores = model(words.unsqueeze(0)).select(1, -1).select(0, 0);
    Tensor chances = softmax(scores / kTemperature, -1);
    result.push_back(multinomial(chances, 1, false, generator).item<int64_t>());
  }
  result.erase(result.begin());
  return result;
}

}  // namespace fg::apps
