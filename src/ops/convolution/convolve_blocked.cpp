#include "ops/convolution/convolve_blocked.h"

#include "ir/graph.h"
#include "ops/convolution/channel_blocks.h"
#include "ops/convolution/convolution_kernel.h"
#include "ops/convolution/convolution_onednn.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

using namespace ir;
using kernels::ConvBlocks;
using kernels::ConvDirection;

namespace {

bool is_blocked(const Dims& sizes, const ConvParams& p) {
  return sizes.size() > p.stride.size() + 2;
}
Dims plain_sizes(const Dims& sizes) {
  Dims result(std::span(sizes.data(), sizes.size() - 1));
  result[1] = sizes[1] * sizes.back();
  return result;
}
Dims plain_sizes(const Dims& sizes, const ConvParams& p) {
  return is_blocked(sizes, p) ? plain_sizes(sizes) : sizes;
}

// ---- the shape rule: that of the convolve kind, seen through the blocks

// Calls rule(operands without blocks).
template <class Rule>
void through_blocks(Operands inputs, const BlockedConvParams& p, Rule rule) {
  Tensors plain;
  std::vector<Operand> operands;
  for (const Operand& input : inputs) {
    plain.push_back(*input);
    if (!plain.back().defined()) continue;
    const Dims& sizes = plain.back().sizes();
    if (is_blocked(sizes, p.conv)) {
      Dims seen = plain_sizes(sizes);
      plain.back() = abstract_tensor_of({seen, contiguous_strides(seen), plain.back().dtype()});
    }
  }
  operands.assign(plain.begin(), plain.end());
  rule(operands);
}

template <auto rule>
void infer(Operands inputs, const BlockedConvParams& p, Meta* out) {
  through_blocks(inputs, p, [&](Operands plain) { rule(plain, p.conv, out); });
  if (p.blocked) out[0].sizes = kernels::block_sizes(out[0].sizes);
}

// Demands of graphs that come as text.
bool has_blocks(const Dims& sizes) {
  return sizes.size() >= 4 && sizes.size() <= 6 && sizes.back() == kernels::channel_block();
}
bool can_have_blocks(const Dims& sizes) {
  return sizes.size() >= 3 && sizes[1] % Dim(kernels::channel_block()) == 0;
}
template <auto rule, auto required>
void require(Operands inputs, const BlockedConvParams& p) {
  for (const Operand& input : inputs) {
    bool blocked = input->defined() && is_blocked(input->sizes(), p.conv);
    demand(!blocked || has_blocks(input->sizes()), "a blocked convolution", "blocks of channels");
  }
  through_blocks(inputs, p, [&](Operands plain) {
    required(plain, p.conv);
    Meta out;
    rule(plain, p.conv, &out);
    demand(!p.blocked || can_have_blocks(out.sizes), "a blocked convolution", "whole blocks");
  });
}

// ---- kernels

// Operands as the kernels of the convolve kind want them, and the result that they write.
struct Images {
  Tensor x, w, bias, y;
};

Tensor plain_of(const Tensor& image, const ConvParams& p, bool filled) {
  if (!is_blocked(image.sizes(), p)) return image;
  Tensor plain = empty_tensor(plain_sizes(image.sizes()), image.dtype());
  if (filled) kernels::from_channel_blocks(image, plain);
  return plain;
}
void* data_of(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

void run_plain(ConvDirection direction, const Images& images, const ConvParams& p,
               const kernels::ConvGeometry& g) {
  const bool to_x = direction == ConvDirection::input, to_y = direction == ConvDirection::forward;
  Tensor x = plain_of(images.x, p, !to_x), y = plain_of(images.y, p, !to_y);
  const void *w = images.w.data_ptr(), *bias = data_of(images.bias);
  DType dtype = x.dtype();
  if (to_y) kernels::convolve(dtype, g, x.data_ptr(), w, bias, y.data_ptr());
  if (to_x) kernels::convolve_input(dtype, g, y.data_ptr(), w, bias, x.data_ptr());
  if (!to_x && !to_y) {
    kernels::convolve_weight(dtype, g, y.data_ptr(), x.data_ptr(), images.w.data_ptr());
  }
  if (to_y && is_blocked(images.y.sizes(), p)) kernels::to_channel_blocks(y, images.y);
  if (to_x && is_blocked(images.x.sizes(), p)) kernels::to_channel_blocks(x, images.x);
}

void run(ConvDirection direction, Images images, const ConvParams& p) {
  const Dims x = plain_sizes(images.x.sizes(), p), y = plain_sizes(images.y.sizes(), p);
  const auto g = geometry(x, images.w.sizes(), y, p);
  if (x[0] == 0) return run_plain(direction, images, p, g);
  const ConvBlocks blocks{is_blocked(images.x.sizes(), p), is_blocked(images.y.sizes(), p)};
  const ConvBlocks served = kernels::onednn_blocks(direction, g, images.bias.defined());
  const bool direct = images.x.dtype() == kFloat32 && served.x >= blocks.x && served.y >= blocks.y;
  auto floats = [](const Tensor& tensor) { return static_cast<float*>(data_of(tensor)); };
  if (direct && kernels::convolve_onednn(direction, g, floats(images.x), floats(images.w),
                                         floats(images.bias), floats(images.y), blocks)) {
    return;
  }
  run_plain(direction, images, p, g);
}

Tensor dense(const Operand& operand) {
  return operand->defined() ? kernels::as_contiguous(*operand) : Tensor();
}

Tensor unblocked(const Tensor& image);
const Registered block_p =
    plain_primitive<NoParams,
                    [](Operands in, const NoParams&, Meta* out) {
                      out[0] = {kernels::block_sizes(in[0]->sizes()), in[0]->dtype()};
                    },
                    [](Operands in, const NoParams&, Tensor* out) {
                      kernels::to_channel_blocks(dense(in[0]), out[0]);
                    }>("block_channels", Kind::extern_call, "t")
        .requiring<[](Operands in, const NoParams&) {
          demand(can_have_blocks(in[0]->sizes()), "block_channels", "whole blocks of channels");
        }>()
        .vjp("BlockChannelsBackward0",
             wrt(0, saves::nothing, [](const Vjp& v) { return unblocked(v.grad()); }));
const Registered unblock_p =
    plain_primitive<NoParams,
                    [](Operands in, const NoParams&, Meta* out) {
                      out[0] = {plain_sizes(in[0]->sizes()), in[0]->dtype()};
                    },
                    [](Operands in, const NoParams&, Tensor* out) {
                      kernels::from_channel_blocks(dense(in[0]), out[0]);
                    }>("unblock_channels", Kind::extern_call, "t")
        .requiring<[](Operands in, const NoParams&) {
          demand(has_blocks(in[0]->sizes()), "unblock_channels", "blocks of channels");
        }>()
        .vjp("UnblockChannelsBackward0",
             wrt(0, saves::nothing, [](const Vjp& v) { return block_p(v.grad()); }));
Tensor unblocked(const Tensor& image) { return unblock_p(image); }

// ---- gradients: those of the convolve kind, with each image in the form that it had

BlockedConvParams as_image(const BlockedConvParams& p, const Dims& sizes) {
  return {resized(p.conv, plain_sizes(sizes, p.conv)), is_blocked(sizes, p.conv)};
}
BlockedConvParams as_weight(const BlockedConvParams& p, const Dims& sizes) {
  return {resized(p.conv, sizes), false};
}
Tensor blocked_forward(const BlockedConvParams& p, const Tensor& x, const Tensor& w);
Tensor blocked_input(const BlockedConvParams& p, const Tensor& y, const Tensor& w);
Tensor blocked_weight(const BlockedConvParams& p, const Tensor& y, const Tensor& x);
constexpr auto of_bias = wrt(2, saves::nothing, [](const Vjp& v, const BlockedConvParams& p) {
  return channel_sum(p.blocked ? unblocked(v.grad()) : v.grad());
});

const Registered forward_p =
    plain_primitive<BlockedConvParams, infer<infer_convolve>,
                    [](Operands in, const BlockedConvParams& p, Tensor* out) {
                      run(ConvDirection::forward,
                          {dense(in[0]), dense(in[1]), dense(in[2]), out[0]}, p.conv);
                    }>("convolve_blocked", Kind::convolve, "tto")
        .requiring<require<infer_convolve, require_convolve>>()
        .vjp("ConvolutionBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const BlockedConvParams& p) {
                   return blocked_input(as_image(p, v.sizes(0)), v.grad(), v.in(1));
                 }),
             wrt(1, saves::in(0) | saves::shape(1),
                 [](const Vjp& v, const BlockedConvParams& p) {
                   return blocked_weight(as_weight(p, v.sizes(1)), v.grad(), v.in(0));
                 }),
             of_bias);
const Registered input_p =
    plain_primitive<BlockedConvParams, infer<infer_convolve_input>,
                    [](Operands in, const BlockedConvParams& p, Tensor* out) {
                      run(ConvDirection::input, {out[0], dense(in[1]), dense(in[2]), dense(in[0])},
                          p.conv);
                    }>("convolve_input_blocked", Kind::convolve, "tto")
        .requiring<require<infer_convolve_input, require_convolve_input>>()
        .vjp("ConvolutionBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const BlockedConvParams& p) {
                   return blocked_forward(as_image(p, v.sizes(0)), v.grad(), v.in(1));
                 }),
             wrt(1, saves::in(0) | saves::shape(1),
                 [](const Vjp& v, const BlockedConvParams& p) {
                   return blocked_weight(as_weight(p, v.sizes(1)), v.in(0), v.grad());
                 }),
             of_bias);
const Registered weight_p =
    plain_primitive<BlockedConvParams, infer<infer_convolve_weight>,
                    [](Operands in, const BlockedConvParams& p, Tensor* out) {
                      run(ConvDirection::weight, {dense(in[1]), out[0], {}, dense(in[0])}, p.conv);
                    }>("convolve_weight_blocked", Kind::convolve, "tt")
        .requiring<require<infer_convolve_weight, require_convolve_weight>>()
        .vjp("ConvolutionBackwardBackward0",
             wrt(0, saves::in(1) | saves::shape(0),
                 [](const Vjp& v, const BlockedConvParams& p) {
                   return blocked_forward(as_image(p, v.sizes(0)), v.in(1), v.grad());
                 }),
             wrt(1, saves::in(0) | saves::shape(1), [](const Vjp& v, const BlockedConvParams& p) {
               return blocked_input(as_image(p, v.sizes(1)), v.in(0), v.grad());
             }));
Tensor blocked_forward(const BlockedConvParams& p, const Tensor& x, const Tensor& w) {
  return forward_p.with(p, x, w, Tensor());
}
Tensor blocked_input(const BlockedConvParams& p, const Tensor& y, const Tensor& w) {
  return input_p.with(p, y, w, Tensor());
}
Tensor blocked_weight(const BlockedConvParams& p, const Tensor& y, const Tensor& x) {
  return weight_p.with(p, y, x);
}

}  // namespace

BlockedForm blocked_form(const PrimitiveInfo& convolution, const void* params,
                         std::span<const Dims> operands, const Dims& result, bool bias) {
  const auto& p = *static_cast<const ConvParams*>(params);
  auto ask = [&](ConvDirection direction, const Dims& x, const Dims& w, const Dims& y) {
    return kernels::onednn_blocks(direction, geometry(x, w, y, p), bias);
  };
  if (convolution.name == "convolve") {
    ConvBlocks blocks = ask(ConvDirection::forward, operands[0], operands[1], result);
    return {&forward_p, blocks.x, false, blocks.y};
  }
  if (convolution.name == "convolve_input") {
    ConvBlocks blocks = ask(ConvDirection::input, result, operands[1], operands[0]);
    return {&input_p, blocks.y, false, blocks.x};
  }
  if (convolution.name == "convolve_weight") {
    ConvBlocks blocks = ask(ConvDirection::weight, operands[1], result, operands[0]);
    return {&weight_p, blocks.y, blocks.x, false};
  }
  return {};
}

const PrimitiveInfo& block_channels() { return block_p; }
const PrimitiveInfo& unblock_channels() { return unblock_p; }
Dims blocked_sizes(const Dims& plain) { return kernels::block_sizes(plain); }

}  // namespace fg::ops
