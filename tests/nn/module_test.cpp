// Modules: names, order, states, modes, as PyTorch has them.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace fg {
namespace {

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t size)
      : norm(register_module("norm", nn::LayerNorm(size))),
        layer(register_module("layer", nn::Linear(nn::LinearOptions(size, size).bias(false)))) {
    scale = register_parameter("scale", ones({size}));
    offset = register_buffer("offset", zeros({size}));
    scratch = register_buffer("scratch", zeros({1}), false);
  }
  Tensor forward(const Tensor& x) const { return layer(norm(x)) * scale + offset; }

  nn::LayerNorm norm;
  nn::Linear layer;
  Tensor scale, offset, scratch;
};
FG_MODULE(Block);

using Names = std::vector<std::string>;

TEST(Module, NamesAreInTheOrderOfPyTorch) {
  Block block(3);
  EXPECT_EQ(block->named_parameters().keys(),
            (Names{"scale", "norm.weight", "norm.bias", "layer.weight"}));
  EXPECT_EQ(block->named_parameters(false).keys(), (Names{"scale"}));
  EXPECT_EQ(block->named_buffers().keys(), (Names{"offset", "scratch"}));
  EXPECT_EQ(block->state_dict().keys(),
            (Names{"scale", "offset", "norm.weight", "norm.bias", "layer.weight"}));
  EXPECT_EQ(block->named_modules().keys(), (Names{"", "norm", "layer"}));
  EXPECT_EQ(block->named_children().keys(), (Names{"norm", "layer"}));
  EXPECT_TRUE(block->named_parameters()["scale"].is_same(block->scale));
  Tensors parameters = block->parameters(), named = block->named_parameters().values();
  ASSERT_EQ(parameters.size(), 4u);
  for (size_t i = 0; i < 4; i++) EXPECT_TRUE(parameters[i].is_same(named[i])) << i;
  EXPECT_EQ(block->parameters(false).size(), 1u);
}

TEST(Module, AModuleInTwoPlacesIsTrainedOnceAndSavedTwice) {
  nn::Linear shared(2, 2);
  nn::Sequential both(shared, shared);
  EXPECT_EQ(both->parameters().size(), 2u);
  EXPECT_EQ(both->state_dict().keys(), (Names{"0.weight", "0.bias", "1.weight", "1.bias"}));
}

TEST(Module, LoadsAStateAndSaysWhatDoesNotFit) {
  Block from(3), to(3);
  from->offset.fill_(7);
  to->load_state_dict(from->state_dict());
  EXPECT_TRUE(equal(to->layer->weight, from->layer->weight));
  EXPECT_TRUE(equal(to->offset, from->offset));
  EXPECT_FALSE(to->layer->weight.is_same(from->layer->weight));

  nn::StateDict state;
  state.insert("scale", ones({4}));
  state.insert("more", ones({1}));
  Tensor before = to->scale.detach().clone();
  std::string error = error_of([&] { to->load_state_dict(state); });
  EXPECT_HAS(error,
             "Error(s) in loading state_dict:\n\tMissing key(s) in state_dict: \"offset\", "
             "\"norm.weight\", \"norm.bias\", \"layer.weight\". \n\tUnexpected key(s) in "
             "state_dict: \"more\". \n\tsize mismatch for scale: copying a param with shape [4] "
             "from checkpoint, the shape in current model is [3].");
  nn::StateDict part;
  part.insert("scale", full({3}, 2.0));
  part.insert("more", ones({1}));
  nn::IncompatibleKeys keys = to->load_state_dict(part, false);
  EXPECT_EQ(keys.missing_keys.size(), 4u);
  EXPECT_EQ(keys.unexpected_keys, (Names{"more"}));
  EXPECT_FALSE(equal(to->scale, before));
}

TEST(Module, ModesGradientsAndDtypesReachEverything) {
  nn::Sequential model(nn::Linear(2, 3), nn::Dropout(0.5), nn::BatchNorm2d(3));
  EXPECT_TRUE(model->is_training());
  model->eval();
  for (const auto& module : model->modules()) EXPECT_FALSE(module->is_training());
  auto linear = std::dynamic_pointer_cast<nn::LinearImpl>(model[0]);
  linear->forward(ones({1, 2})).sum().backward();
  EXPECT_TRUE(linear->weight.grad().defined());
  Tensor weight = linear->weight;
  model->to(kFloat64);
  EXPECT_TRUE(weight.is_same(linear->weight) && weight.dtype() == kFloat64);
  EXPECT_EQ(weight.grad().dtype(), kFloat64);
  EXPECT_EQ(model->named_buffers()["2.num_batches_tracked"].dtype(), kInt64);
  EXPECT_EQ(model->named_buffers()["2.running_mean"].dtype(), kFloat64);
  linear->forward(ones({1, 2}, kFloat64)).sum().backward();
  model->zero_grad(false);
  EXPECT_EQ(weight.grad().abs().sum().item().to_double(), 0);
  model->zero_grad();
  EXPECT_FALSE(weight.grad().defined());
  model->requires_grad_(false);
  EXPECT_FALSE(weight.requires_grad());
  int count = 0;
  model->apply([&](nn::Module&) { count++; });
  EXPECT_EQ(count, 4);
  EXPECT_HAS(error_of([&] { model->to(kInt64); }), "a module has floating parameters, got int64");
}

TEST(Module, RefusesNamesThatAreNoneAndNamesTwice) {
  nn::Linear module(1, 1);
  auto named = [&](const char* name) {
    return error_of([&] { module->register_parameter(name, ones({1})); });
  };
  EXPECT_HAS(named(""), "the name '' is empty or has a dot in it");
  EXPECT_HAS(named("a.b"), "the name 'a.b' is empty or has a dot in it");
  EXPECT_HAS(named("weight"), "'weight' is registered already");
  EXPECT_HAS(error_of([&] { module->register_module("bias", nn::ReLU()); }), "registered already");
  Tensor computed = ones({1}).requires_grad_() * 2;
  EXPECT_HAS(error_of([&] { module->register_parameter("p", computed); }), "a parameter is a leaf");
  EXPECT_HAS(error_of([&] { (void)module->named_parameters()["none"]; }), "no key 'none'");
}

TEST(Sequential, CallsOneAfterTheOtherAndHasPlaces) {
  nn::Sequential model;
  model->push_back("first", nn::Linear(2, 3));
  model->push_back(nn::Functional([](const Tensor& x) { return x * 2; }));
  model->push_back(nn::Tanh());
  Tensor x = ones({4, 2});
  auto first = std::dynamic_pointer_cast<nn::LinearImpl>(model[0]);
  EXPECT_TRUE(equal(model(x), tanh(first->forward(x) * 2)));
  EXPECT_EQ(model->named_children().keys(), (Names{"first", "1", "2"}));
}

TEST(Sequential, TakesOneThatComesFirst) {
  manual_seed(0);
  nn::Sequential inner(nn::Linear(2, 3), nn::Tanh());
  nn::Sequential outer(inner, nn::Linear(3, 1)), same(inner);
  EXPECT_EQ(outer->named_parameters().keys(),
            (std::vector<std::string>{"0.0.weight", "0.0.bias", "1.weight", "1.bias"}));
  Tensor x = ones({4, 2});
  EXPECT_TRUE(
      equal(outer(x), std::static_pointer_cast<nn::LinearImpl>(outer[1])->forward(inner(x))));
  EXPECT_EQ(same.ptr(), inner.ptr());  // one alone is the handle itself
}

TEST(ModuleList, GivesModulesAsWhatTheyAre) {
  nn::ModuleList list;
  for (int i = 0; i < 3; i++) list->push_back(nn::Linear(2, 2));
  EXPECT_EQ(list->size(), 3u);
  EXPECT_EQ(list->at<nn::LinearImpl>(1).forward(ones({1, 2})).dim(), 2);
  EXPECT_EQ(list->state_dict().keys()[2], "1.weight");
  EXPECT_HAS(error_of([&] { (void)list->at<nn::ReLUImpl>(0); }), "place 0 is of another kind");
}

TEST(Module, ACompiledCallKnowsTheMode) {
  nn::Sequential model(nn::Linear(4, 4), nn::Dropout(0.5));
  Tensor x = ones({8, 4});
  auto compiled = compile(model, {.fullgraph = true});
  auto with_argument =
      compile([](const nn::Sequential& m, const Tensor& t) { return m(t); }, {.fullgraph = true});
  EXPECT_GT((compiled(x) == 0).sum().item().to_double(), 0);
  EXPECT_GT((with_argument(model, x) == 0).sum().item().to_double(), 0);
  model->eval();
  EXPECT_TRUE(equal(compiled(x), model(x)));
  EXPECT_TRUE(equal(with_argument(model, x), model(x)));
}

}  // namespace
}  // namespace fg
