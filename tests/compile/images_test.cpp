// Compiled networks of convolutions, whose images are in blocks of channels between them, give the
// bits and strides of eager ones: values, gradients inside of the function and through it.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

namespace fg {
namespace {

Tensor numbers(const Dims& sizes, double frequency) {
  Tensor result = (arange(product(sizes).value(), kFloat64) * frequency).sin() * 0.3;
  return result.to(kFloat32).reshape(sizes).detach();
}

struct Net {
  const char* name;
  int64_t channels = 16, size = 16, batch = 6;
  bool norm = false, bias = false, residual = false, pool = false, gate = false, show = false;
  int64_t stride = 1;
  Dims spatial{3, 3};
};

// Three blocks; the parameters come in the order in which they are read.
Tensor forward(const Net& net, const Tensors& t) {
  size_t next = 1;
  Tensor h = t[0], first;
  for (int i = 0; i < 3; i++) {
    Tensor w = t[next++], b = net.bias ? t[next++] : Tensor(), skip = h;
    h = conv2d(h, w, b, Dims{i == 1 ? net.stride : 1}, Dims{net.spatial[0] / 2});
    if (net.norm) {
      Tensor scale = t[next++], shift = t[next++];
      h = batch_norm(h, {}, {}, scale, shift, true, 0.1, 1e-5);
    }
    if (net.gate) h = h * h.mean(Dims{2, 3}, true).sigmoid();
    if (net.residual && i > 0 && net.stride == 1) h = h + skip;
    h = h.relu();
    if (net.pool && i == 1) h = max_pool2d(h, Dims{2});
    if (i == 0) first = h;
  }
  return net.show ? h.mean() + first.flatten(1).sum(Dims{1}).tanh().mean() : h.pow(2).mean();
}

Tensors parameters(const Net& net) {
  Tensors result{numbers({net.batch, 3, net.size, net.size}, 0.7)};
  for (int64_t i = 0, in = 3; i < 3; i++, in = net.channels) {
    double f = 0.31 + 0.1 * static_cast<double>(i);
    result.push_back(numbers({net.channels, in, net.spatial[0], net.spatial[1]}, f));
    if (net.bias) result.push_back(numbers({net.channels}, f));
    if (!net.norm) continue;
    result.push_back(numbers({net.channels}, 2 * f));
    result.push_back(numbers({net.channels}, 3 * f));
  }
  for (size_t i = 1; i < result.size(); i++) result[i].requires_grad_();
  return result;
}

void expect_same(const Tensors& got, const Tensors& expected, const Net& net) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); i++) {
    EXPECT_TRUE(equal(got[i], expected[i])) << net.name << ", result " << i;
    EXPECT_EQ(got[i].strides(), expected[i].strides()) << net.name << ", result " << i;
  }
}

const Net kNets[] = {
    {.name = "plain"},
    {.name = "bias", .bias = true},
    {.name = "batch norm", .norm = true},
    {.name = "batch norm, odd sizes", .size = 13, .norm = true},
    {.name = "everything", .norm = true, .bias = true, .residual = true, .pool = true},
    {.name = "residual", .channels = 24, .residual = true},
    {.name = "stride", .channels = 32, .norm = true, .stride = 2},
    {.name = "pool", .bias = true, .pool = true},
    {.name = "gate", .bias = true, .gate = true},
    {.name = "an image is read plain", .bias = true, .show = true},
    {.name = "12 channels", .channels = 12, .norm = true},
    {.name = "one image", .channels = 64, .size = 28, .batch = 1, .bias = true},
    {.name = "pointwise", .channels = 32, .norm = true, .spatial = {1, 1}},
};

TEST(CompiledImages, whole_steps_have_the_bits_of_eager_ones) {
  for (const Net& net : kNets) {
    auto step = [&](const Tensors& t) {
      Tensor loss = forward(net, t);
      Tensors results = autograd::grad({loss}, {t.begin() + 1, t.end()});
      results.push_back(loss.detach());
      return results;
    };
    Tensors t = parameters(net);
    auto compiled = compile(step, {.fullgraph = true});
    for (int i = 0; i < 2; i++) expect_same(compiled(t), step(t), net);
  }
}

TEST(CompiledImages, gradients_through_a_compiled_function_have_the_bits_of_eager_ones) {
  for (const Net& net : kNets) {
    Tensors t = parameters(net);
    t[0].requires_grad_();
    auto f = [&](const Tensors& inputs) { return forward(net, inputs); };
    Tensor loss = compile(f, {.fullgraph = true})(t), expected = f(t);
    expect_same(autograd::grad({loss}, {t.begin(), t.end()}),
                autograd::grad({expected}, {t.begin(), t.end()}), net);
    expect_same({loss}, {expected}, net);
  }
}

}  // namespace
}  // namespace fg
