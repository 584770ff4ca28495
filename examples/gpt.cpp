// Trains a small GPT on a text, character by character, and lets it write.
//   gpt [steps] [file]        (the same in Python: gpt.py)
// The text is that of this project's own documentation unless a file is given. It has some ten
// thousand letters: enough to learn its words, not to make sense.
#include <foregrad/foregrad.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace nn = fg::nn;
using fg::Tensor;

constexpr int64_t kWidth = 64, kHeads = 4, kLayers = 2, kContext = 64, kBatch = 16;

// Every place looks back at those before it, then thinks by itself.
struct BlockImpl : nn::Module {
  Tensor forward(const Tensor& h) const {
    fg::Tensors parts = qkv(norm1(h)).split(kWidth, 2);
    for (Tensor& part : parts) {
      part = part.view({h.size(0), h.size(1), kHeads, kWidth / kHeads}).transpose(1, 2);
    }
    Tensor mixed =
        fg::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
    Tensor seen = h + out(mixed.transpose(1, 2).reshape({h.size(0), h.size(1), kWidth}));
    return seen + down(fg::gelu(up(norm2(seen))));
  }

  nn::LayerNorm norm1 = register_module("norm1", nn::LayerNorm(kWidth));
  nn::LayerNorm norm2 = register_module("norm2", nn::LayerNorm(kWidth));
  nn::Linear qkv = register_module("qkv", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear out = register_module("out", nn::Linear(kWidth, kWidth));
  nn::Linear up = register_module("up", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear down = register_module("down", nn::Linear(4 * kWidth, kWidth));
};
FG_MODULE(Block);

struct GptImpl : nn::Module {
  explicit GptImpl(int64_t letters)
      : token(register_module("token", nn::Embedding(letters, kWidth))),
        place(register_module("place", nn::Embedding(kContext, kWidth))),
        blocks(register_module("blocks", nn::Sequential())) {
    for (int64_t i = 0; i < kLayers; i++) blocks->push_back(Block());
    norm = register_module("norm", nn::LayerNorm(kWidth));
    head = register_module("head", nn::Linear(nn::LinearOptions(kWidth, letters).bias(false)));
  }
  Tensor forward(const Tensor& letters) const {
    Tensor h = token(letters) + place(fg::arange(letters.size(1)));
    return head(norm(blocks(h)));
  }

  nn::Embedding token, place;
  nn::Sequential blocks;
  nn::LayerNorm norm = nullptr;
  nn::Linear head = nullptr;
};
FG_MODULE(Gpt);

// Pieces of the text from random places, and the letter that follows each of theirs.
std::pair<Tensor, Tensor> batch_of(const Tensor& text) {
  Tensor begin = fg::randint(0, text.numel() - kContext, {kBatch, 1});
  Tensor places = begin + fg::arange(kContext);
  return {text.index({places}), text.index({places + 1})};
}

// Asks for the next letter again and again.
Tensor write(const Gpt& net, Tensor letters, int count) {
  fg::NoGradGuard no_grad;
  for (int i = 0; i < count; i++) {
    Tensor seen = letters.slice(0, std::max<int64_t>(letters.numel() - kContext, 0));
    Tensor scores = net(seen.unsqueeze(0)).index({0, -1});
    letters = fg::cat({letters, fg::multinomial((scores * 1.5).softmax(0), 1)});
  }
  return letters;
}

int main(int argc, char** argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 500;
  const char* path = argc > 2 ? argv[2] : EXAMPLE_TEXT;  // examples/CMakeLists.txt names it
  std::ifstream file(path, std::ios::binary);
  std::string data{std::istreambuf_iterator<char>(file), {}};
  if (data.size() <= kContext) {
    std::fprintf(stderr, "gpt: %s has %zu letters; more than %ld are needed\n", path, data.size(),
                 long{kContext});
    return 2;
  }
  std::set<char> different(data.begin(), data.end());
  std::string alphabet(different.begin(), different.end());
  std::vector<int64_t> numbers;
  for (char letter : data) numbers.push_back(static_cast<int64_t>(alphabet.find(letter)));
  Tensor text = fg::tensor(numbers);

  fg::manual_seed(0);
  Gpt net(static_cast<int64_t>(alphabet.size()));
  auto loss_of = [net](const Tensor& letters, const Tensor& following) {
    return fg::cross_entropy(net(letters).flatten(0, 1), following.flatten());
  };
  auto step = fg::compile_step(loss_of, net, fg::AdamW{.lr = 3e-3}, {.clip_norm = 1.0});
  double last = 0;
  for (int i = 0; i < steps; i++) {
    auto [letters, following] = batch_of(text);
    last = step(letters, following).item<double>();
    if ((i + 1) % std::max(steps / 10, 1) == 0) std::printf("step %4d  loss %.4f\n", i + 1, last);
  }

  for (int64_t number : write(net, text.slice(0, 0, 1), 200).to_vector<int64_t>()) {
    std::putchar(alphabet[static_cast<size_t>(number)]);
  }
  std::printf("\nloss %.3f\n", last);
  return last < 3 ? 0 : 1;
}
