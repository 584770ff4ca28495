// A small GPT: modules, eager and compiled, training and evaluation, have the same bits.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "optim/eager.h"

namespace fg {
namespace {

struct BlockImpl : nn::Module {
  BlockImpl(int64_t size, int64_t heads, double drop)
      : norm1(register_module("norm1", nn::LayerNorm(size))),
        qkv(register_module("qkv", nn::Linear(size, 3 * size))),
        out(register_module("out", nn::Linear(size, size))),
        norm2(register_module("norm2", nn::LayerNorm(size))),
        mlp(register_module("mlp", nn::Sequential(nn::Linear(size, 4 * size), nn::GELU(),
                                                  nn::Linear(4 * size, size), nn::Dropout(drop)))),
        heads(heads) {}

  Tensor forward(const Tensor& x) const {
    int64_t n = x.size(0), t = x.size(1), c = x.size(2);
    Tensors parts = qkv(norm1(x)).split(c, 2);
    for (Tensor& part : parts) part = part.view({n, t, heads, c / heads}).transpose(1, 2);
    Tensor mixed = scaled_dot_product_attention(parts[0], parts[1], parts[2], Tensor(), 0.0, true);
    Tensor y = x + out(mixed.transpose(1, 2).reshape({n, t, c}));
    return y + mlp(norm2(y));
  }

  nn::LayerNorm norm1;
  nn::Linear qkv, out;
  nn::LayerNorm norm2;
  nn::Sequential mlp;
  int64_t heads;
};
FG_MODULE(Block);

struct GptImpl : nn::Module {
  explicit GptImpl(double drop)
      : tokens(register_module("tokens", nn::Embedding(11, 16))),
        places(register_module("places", nn::Embedding(8, 16))),
        blocks(register_module("blocks", nn::ModuleList())),
        norm(register_module("norm", nn::LayerNorm(16))),
        head(register_module("head", nn::Linear(nn::LinearOptions(16, 11).bias(false)))) {
    for (int i = 0; i < 2; i++) blocks->push_back(Block(16, 2, drop));
    range = register_buffer("range", arange(8), false);
  }
  Tensor forward(const Tensor& words) const {
    Tensor x = tokens(words) + places(range);
    for (size_t i = 0; i < blocks->size(); i++) x = blocks->at<BlockImpl>(i).forward(x);
    return head(norm(x));
  }

  nn::Embedding tokens, places;
  nn::ModuleList blocks;
  nn::LayerNorm norm;
  nn::Linear head;
  Tensor range;
};
FG_MODULE(Gpt);

Tensor words(int i) { return (arange(16).reshape({2, 8}) * (i + 3)) % 11; }
Tensor loss_of(const Gpt& model, int i) {
  return cross_entropy(model(words(i)).reshape({-1, 11}), ((words(i) + 1) % 11).reshape({-1}));
}

class GptTest : public testing::TestWithParam<double> {};

TEST_P(GptTest, CompiledCallsHaveTheBitsOfEagerOnesInBothModes) {
  manual_seed(3);
  Gpt model(GetParam());
  auto compiled = compile(model, {.fullgraph = true});
  for (int i = 0; i < 4; i++) {
    if (i == 2) model->eval();
    manual_seed(50 + static_cast<uint64_t>(i));
    Tensor eager = model(words(i));
    manual_seed(50 + static_cast<uint64_t>(i));
    EXPECT_TRUE(equal(compiled(words(i)), eager)) << i;
  }
}

TEST_P(GptTest, EagerStepsHaveTheBitsOfCompiledSteps) {
  manual_seed(3);
  Gpt eager(GetParam()), other(GetParam());
  other->load_state_dict(eager->state_dict());
  optim::AdamW optimizer(eager->parameters(), {.lr = 0.01, .weight_decay = 0.1});
  auto step = compile_step(
      [&](const Tensor& x, const Tensor& y) {
        return cross_entropy(other(x).reshape({-1, 11}), y.reshape({-1}));
      },
      other, AdamW{.lr = 0.01, .weight_decay = 0.1}, {.clip_norm = 0.5, .fullgraph = true});
  optim::CosineSchedule rate{.high = 0.01, .warmup = 3, .total = 10};
  for (int i = 0; i < 10; i++) {
    optimizer.set_lr(rate(i));
    step.set_lr(rate(i));
    manual_seed(50 + static_cast<uint64_t>(i));
    optimizer.zero_grad();
    Tensor loss = loss_of(eager, i);
    loss.backward();
    nn::utils::clip_grad_norm_(eager->parameters(), 0.5);
    optimizer.step();
    manual_seed(50 + static_cast<uint64_t>(i));
    EXPECT_TRUE(equal(step(words(i), (words(i) + 1) % 11), loss)) << i;
  }
  for (const auto& item : eager->state_dict()) {
    EXPECT_TRUE(equal(item.value(), other->state_dict()[item.key()])) << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDropout, GptTest, testing::Values(0.0, 0.3));

// Large parameters are updated block by block.
TEST(Optimizer, BlocksHaveTheBitsOfTheWhole) {
  for (const fg::OptimizerSettings& settings : {fg::OptimizerSettings(AdamW{.amsgrad = true}),
                                                fg::OptimizerSettings(SGD{.momentum = 0.9})}) {
    manual_seed(1);
    Tensor whole = randn({300, 251}), blocks = whole.clone(), gradient = randn({300, 251});
    Tensors state, state_of_blocks;
    for (const auto& first : optim::first_state(settings, whole.sizes())) {
      state.push_back(first.made(whole));
      state_of_blocks.push_back(first.made(whole));
    }
    uint32_t version = blocks._version();
    optim::Memory none;
    for (int step = 1; step < 4; step++) {
      optim::Formula formula =
          optim::formula_of(optim::formula_name(settings), optim::numbers(settings, step, none));
      formula.update(whole, state, gradient);
      optim::Subject subjects[] = {{blocks, gradient, state_of_blocks}};
      optim::update_all(formula, subjects);
    }
    EXPECT_TRUE(equal(whole, blocks));
    EXPECT_TRUE(equal(state.back(), state_of_blocks.back()));
    EXPECT_GT(blocks._version(), version) << "a graph that saved it would be told";
  }
}

}  // namespace
}  // namespace fg
