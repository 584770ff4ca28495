// Convolutions on images in blocks of channels: the bits of those on plain ones.
#include "ops/convolution/convolve_blocked.h"

#include <gtest/gtest.h>

#include "base/level.h"
#include "ir/graph.h"
#include "ops/convolution/channel_blocks.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/view/views.h"
#include "tests/has_onednn.h"

namespace fg::ops {
namespace {

Tensor numbers(const Dims& sizes, double frequency) {
  return (arange(product(sizes).value()).to(kFloat64) * frequency)
      .sin()
      .to(kFloat32)
      .reshape(sizes);
}

Tensor evaluate(const ir::PrimitiveInfo& primitive, const Tensors& inputs, const void* params) {
  std::vector<ir::Operand> operands(inputs.begin(), inputs.end());
  Tensor result;
  ir::evaluate(primitive, operands, params, &result);
  return result;
}
Tensor in_blocks(const Tensor& plain) {
  ir::NoParams none;
  return evaluate(block_channels(), {plain}, &none);
}
Tensor plain_again(const Tensor& blocks) {
  ir::NoParams none;
  return evaluate(unblock_channels(), {blocks}, &none);
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_TRUE(a.is_contiguous());
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}

// A convolution with its images in any blocks that their channels allow; how many forms there were
// that oneDNN computes without a reorder.
int check_forms(const ir::PrimitiveInfo& plain, const ConvParams& params, const Tensors& inputs) {
  Tensor expected = evaluate(plain, inputs, &params);
  bool bias = inputs.size() > 2 && inputs[2].defined();
  Dims operands[] = {inputs[0].sizes(), inputs[1].sizes()};
  BlockedForm form = blocked_form(plain, &params, operands, expected.sizes(), bias);
  bool weight = plain.name == "convolve_weight";
  auto fits = [](const Tensor& image) {
    return image.sizes()[1] % Dim(kernels::channel_block()) == 0;
  };
  for (bool first : {false, true}) {
    for (bool second : {false, true}) {
      for (bool result : {false, true}) {
        if ((first && !fits(inputs[0])) || (second && (!weight || !fits(inputs[1])))) continue;
        if (result && (weight || !fits(expected))) continue;
        Tensors given = inputs;
        if (first) given[0] = in_blocks(given[0]);
        if (second) given[1] = in_blocks(given[1]);
        BlockedConvParams blocked{params, result};
        Tensor got = evaluate(*form.primitive, given, &blocked);
        EXPECT_EQ(got.dim(), expected.dim() + result);
        expect_equal(result ? plain_again(got) : got, expected);
      }
    }
  }
  EXPECT_TRUE(!form.first || fits(inputs[0]));
  EXPECT_TRUE(!form.second || (weight && fits(inputs[1])));
  EXPECT_TRUE(!form.result || (!weight && fits(expected)));
  return form.first + form.second + form.result;
}

struct Case {
  Dims x, w, stride, padding, dilation;
  int64_t groups = 1;
  int forms = 6;  // with oneDNN: of x and y in three directions
  int at_v4 = 0;  // if it has more there

  int expected() const { return level() == Level::v4 && at_v4 ? at_v4 : forms; }
};

const ir::PrimitiveInfo& primitive(std::string_view name) {
  for (const ir::PrimitiveInfo* one : ir::primitives()) {
    if (one->name == name) return *one;
  }
  throw std::out_of_range("no primitive of this name");
}

// Channels are written for blocks of eight, and as many times more at other levels.
Case at_this_level(Case c) {
  Dim more = kernels::channel_block() / 8;
  if (c.x[1] % Dim(8) == 0) {
    c.x[1] = c.x[1] * more;
    c.w[1] = c.w[1] * more;
  }
  c.w[0] = c.w[0] * more;
  return c;
}

int check_directions(const Case& one, bool bias) {
  Case c = at_this_level(one);
  ConvParams p{c.stride, c.padding, c.dilation, c.groups, {}};
  Dims y{c.x[0], c.w[0]};
  for (size_t i = 0; i < c.stride.size(); i++) {
    Dim room = c.x[i + 2] + c.padding[i] * 2 - c.dilation[i] * (c.w[i + 2] - 1) - 1;
    p.sizes.push_back(room / c.stride[i] + 1);
    y.push_back(p.sizes.back());
  }
  auto resized = [&](const Dims& sizes) {
    ConvParams result = p;
    result.sizes = Dims(std::span(sizes.data() + 2, sizes.size() - 2));
    return result;
  };
  Tensor x = numbers(c.x, 0.7), w = numbers(c.w, 0.3), grad = numbers(y, 1.1);
  Tensor b = bias ? numbers({c.w[0]}, 0.9) : Tensor();
  return check_forms(primitive("convolve"), p, {x, w, b}) +
         check_forms(primitive("convolve_input"), resized(c.x), {grad, w, {}}) +
         check_forms(primitive("convolve_weight"), resized(c.w), {grad, x});
}

TEST(ConvolveBlocked, has_the_bits_of_plain_images) {
  const Case cases[] = {
      {{8, 16, 12, 12}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {{5, 16, 13, 11}, {32, 16, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {{33, 32, 8, 8}, {64, 32, 1, 1}, {2, 2}, {0, 0}, {1, 1}},
      {{4, 24, 14, 14}, {8, 24, 3, 3}, {1, 1}, {2, 2}, {2, 2}, 1, 4, 6},  // x from y is a product
      {{1, 64, 28, 28}, {96, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}},          // channels are cut
      {{3, 64, 28, 28}, {128, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}},         // and several images
      {{6, 16, 400}, {32, 16, 5}, {1}, {2}, {1}},                         // one dimension
      {{2, 16, 6, 7, 8}, {16, 16, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, 4, 6},
  };
  for (const Case& c : cases) {
    for (bool bias : {false, true}) {
      SCOPED_TRACE(text(c.x) + text(c.w));
      EXPECT_EQ(check_directions(c, bias), kHasOneDnn ? c.expected() : 0);
    }
  }
}

TEST(ConvolveBlocked, leaves_images_plain_where_onednn_does) {
  const Case cases[] = {
      {{8, 3, 32, 32}, {16, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 2},    // x is plain in oneDNN
      {{8, 16, 32, 32}, {12, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 3},  // 12 channels
      {{8, 16, 32, 32}, {32, 16, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, 2},  // a product
      {{2, 8, 4, 4}, {8, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 0},       // too small
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(text(c.x) + text(c.w));
    EXPECT_EQ(check_directions(c, false), kHasOneDnn ? c.expected() : 0);
  }
}

TEST(ConvolveBlocked, a_bias_of_the_transposed_convolution_needs_plain_images) {
  Tensor y = numbers({4, 16, 16, 16}, 0.7), w = numbers({16, 16, 3, 3}, 0.3);
  ConvParams p{{1, 1}, {1, 1}, {1, 1}, 1, {16, 16}};
  EXPECT_EQ(check_forms(primitive("convolve_input"), p, {y, w, numbers({16}, 0.2)}), 0);
}

TEST(ChannelBlocks, come_back_in_any_dtype_and_size) {
  for (DType dtype : {kFloat32, kFloat64, kBool, kInt64, kFloat16}) {
    int64_t block = kernels::channel_block();
    for (const Dims& sizes : {Dims{3, 2 * block, 4, 6}, Dims{2, block, 5, 3}, Dims{1, 3 * block, 7},
                              Dims{0, block, 2}}) {
      Tensor plain = numbers(sizes, 0.7).to(dtype), blocks = in_blocks(plain);
      EXPECT_EQ(blocks.sizes(), blocked_sizes(sizes));
      EXPECT_EQ(plain_again(blocks).to_vector<double>(), plain.to_vector<double>());
    }
  }
  int64_t block = kernels::channel_block();
  Tensor blocks = in_blocks(arange(8 * block).to(kFloat32).reshape({1, 2 * block, 2, 2}));
  std::vector<float> first = blocks.reshape({8, block})[1].to_vector<float>();
  for (int64_t i = 0; i < block; i++) EXPECT_EQ(first[i], 4.0 * i + 1);
}

}  // namespace
}  // namespace fg::ops
