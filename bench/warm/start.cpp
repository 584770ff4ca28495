// One start from C++: the GPT of bench/train/models.py as start.py trains it, with weights from the
// same file. Arguments: safetensors files with the parameters and with the data.
#include <fmt/format.h>
#include <foregrad/foregrad.h>

#include <algorithm>
#include <chrono>

using namespace fg;

namespace {

constexpr int64_t kLayers = 6, kWidth = 384, kHeads = 6, kContext = 128, kBatch = 8, kWords = 96;
constexpr size_t kLater = 5;

using Parameters = std::map<std::string, Tensor>;

Tensor norm(const Tensor& h, const Parameters& p, const std::string& name) {
  return layer_norm(h, {kWidth}, p.at(name + ".w"), p.at(name + ".b"));
}
Tensor dense(const Tensor& h, const Parameters& p, const std::string& name) {
  return linear(h, p.at(name + ".w"), p.at(name + ".b"));
}

Tensor loss_of(const Parameters& p, const Tensor& words, const Tensor& targets) {
  Tensor h = embedding(p.at("token"), words) + p.at("place");
  for (int64_t i = 0; i < kLayers; i++) {
    std::string layer = std::to_string(i);
    Tensors parts = dense(norm(h, p, layer + ".norm1"), p, layer + ".qkv").split(kWidth, 2);
    for (Tensor& part : parts) {
      part = part.view({kBatch, kContext, kHeads, kWidth / kHeads}).transpose(1, 2);
    }
    Tensor mixed = scaled_dot_product_attention(parts[0], parts[1], parts[2], Tensor(), 0.0, true);
    mixed = mixed.transpose(1, 2).reshape({kBatch, kContext, kWidth});
    h = h + dense(mixed, p, layer + ".out");
    Tensor wide = gelu(dense(norm(h, p, layer + ".norm2"), p, layer + ".up"));
    h = h + dense(wide, p, layer + ".down");
  }
  Tensor scores = linear(norm(h, p, "norm"), p.at("head"));
  return cross_entropy(scores.view({-1, kWords}), targets.view({-1}));
}

double now() {
  using Clock = std::chrono::system_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int, char** arguments) {
  Parameters parameters;
  Tensors trained;
  SafeTensors weights = load_safetensors(arguments[1]);
  for (const auto& item : weights.tensors) {
    trained.push_back(parameters[item.key()] = item.value().requires_grad_());
  }
  SafeTensors data = load_safetensors(arguments[2]);
  Tensor words = data.tensors["words"], targets = data.tensors["targets"];
  auto step =
      compile_step([&](const Tensor& x, const Tensor& y) { return loss_of(parameters, x, y); },
                   trained, AdamW{.lr = 1e-3, .weight_decay = 0.01}, {.fullgraph = true});

  double begin = now();
  double loss = step(words, targets).item().to_double();
  double finished = now(), first = finished - begin;
  std::vector<double> later;
  for (size_t i = 0; i < kLater; i++) {
    begin = now();
    step(words, targets).item();
    later.push_back(now() - begin);
  }
  std::sort(later.begin(), later.end());
  fmt::print("{{\"first\": {}, \"later\": {}, \"finished\": {:.6f}, \"loss\": {}}}\n", first,
             later[kLater / 2], finished, loss);
}
