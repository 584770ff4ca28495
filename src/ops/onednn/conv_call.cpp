// Convolutions of oneDNN in its own (blocked) layouts, which are several times faster than what it
// does on plain ones. x and y that come plain are reordered piece by piece, while they are in a
// cache.
#include "ops/convolution/conv_call.h"

#include <sys/auxv.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>

// <omp.h> comes with a compiler, and not with each.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

namespace fg::kernels {

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Desc = memory::desc;

int64_t channel_block = 0;  // of the level; set by the first call

// oneDNN asks OpenMP how many threads to use, when it makes a primitive and when it runs it. The
// threads of the process have their own answer, which they get back.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

const dnnl::engine& engine() {
  // Never destroyed: workers may outlive main().
  static const dnnl::engine* one = [] {
    using Isa = dnnl::cpu_isa;
    dnnl::set_max_cpu_isa(channel_block == 16 ? Isa::avx512_core : Isa::avx2);  // before all else
    dnnl::set_primitive_cache_capacity(0);  // calls are kept by their users
    if (getauxval(AT_SECURE)) {             // variables of the environment make it write files
      dnnl::set_verbose(0);
      dnnl::set_jit_dump(0);
      dnnl::set_jit_profiling_flags(0);
    }
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return *one;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

memory at(const Desc& desc, const void* data) {
  return memory(desc, engine(), const_cast<void*>(data));
}

// ---- a piece in the terms of oneDNN

struct Operands {
  Desc x, w, y, bias;
};

// The same sizes in the layout that oneDNN likes best.
Desc any(const Desc& desc) {
  return Desc(desc.dims(), memory::data_type::f32, memory::format_tag::any);
}

// Dimensions in front that are 1 everywhere are left out, down to two: oneDNN is made for those.
size_t skipped_dimensions(const ConvGeometry& g) {
  return g.input[0] == 1 && g.kernel[0] == 1 && g.output[0] == 1 && g.padding[0] == 0;
}

Dims spatial(const ConvGeometry& g, const Spatial& sizes, int64_t less = 0) {
  Dims result;
  for (size_t i = skipped_dimensions(g); i < 3; i++) result.push_back(sizes[i] - less);
  return result;
}

// Contiguous but for the stride of the dimension `outer`.
Desc plain(Dims dims, size_t outer, int64_t stride) {
  Dims strides(dims.size());
  int64_t next = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = i == outer ? stride : next;
    next = strides[i] * dims[i];
  }
  return Desc(dims, memory::data_type::f32, strides);
}

Desc plain_images(const ConvGeometry& g, int64_t channels, const Spatial& sizes, int64_t stride) {
  Dims dims{g.batch, channels};
  for (int64_t size : spatial(g, sizes)) dims.push_back(size);
  return plain(dims, 0, stride);
}

// [batch, channels / block, spatial, block], without gaps.
bool is_in_blocks(const Desc& desc) {
  using Tag = memory::format_tag;
  constexpr Tag kEight[] = {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c};
  constexpr Tag kSixteen[] = {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c};
  const Dims dims = desc.dims();
  if (dims[1] % channel_block != 0) return false;
  const Tag* tags = channel_block == 16 ? kSixteen : kEight;
  return desc == Desc(dims, memory::data_type::f32, tags[dims.size() - 3]);
}

Operands operands(const ConvPiece& p) {
  const ConvGeometry& g = p.g;
  Dims w;
  if (g.groups > 1) w.push_back(g.groups);
  const size_t outer = w.size();
  w.push_back(g.out_channels);
  w.push_back(g.in_channels);
  for (int64_t size : spatial(g, g.kernel)) w.push_back(size);
  Operands result{plain_images(g, g.groups * g.in_channels, g.input, p.x_image),
                  plain(w, outer, p.w_channel),
                  plain_images(g, g.groups * g.out_channels, g.output, p.y_image),
                  {}};
  if (p.bias) result.bias = plain({g.groups * g.out_channels}, 0, 1);
  return result;
}

// ---- the call

class Call final : public ConvCall {
 public:
  explicit Call(const ConvPiece& piece) : direction_(piece.direction), user_(operands(piece)) {
    switch (direction_) {
      case ConvDirection::forward:
        make_forward(piece.g);
        break;
      case ConvDirection::input:
        make_input(piece.g);
        break;
      case ConvDirection::weight:
        make_weight(piece.g);
        break;
    }
    if (served_) make_reorders(piece);
  }

  bool served() const { return served_; }

  void pack(const float* w, void* packed) const override {
    OneThread one;
    dnnl::stream stream(engine());
    memory from = at(user_.w, w), to = at(own_.w, packed);
    w_.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }
  void unpack(void* packed, float* w) const override {
    OneThread one;
    dnnl::stream stream(engine());
    memory from = at(own_.w, packed), to = at(user_.w, w);
    w_.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void run(const Data& data) const override {
    OneThread one;
    dnnl::stream stream(engine());
    auto* scratch = static_cast<char*>(data.scratch);
    Image x(x_, data.x_in_blocks, data.x, scratch), y(y_, data.y_in_blocks, data.y, scratch);
    memory w = at(own_.w, data.packed), work = at(scratchpad_, scratch);
    if (direction_ != ConvDirection::input) x.enter(stream);
    if (direction_ != ConvDirection::forward) y.enter(stream);
    switch (direction_) {
      case ConvDirection::forward: {
        std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, x.own},
                                                  {DNNL_ARG_WEIGHTS, w},
                                                  {DNNL_ARG_DST, y.own},
                                                  {DNNL_ARG_SCRATCHPAD, work}};
        if (data.bias) arguments.insert({DNNL_ARG_BIAS, at(user_.bias, data.bias)});
        convolution_.execute(stream, arguments);
        return y.leave(stream);
      }
      case ConvDirection::input:
        convolution_.execute(stream, {{DNNL_ARG_DIFF_SRC, x.own},
                                      {DNNL_ARG_WEIGHTS, w},
                                      {DNNL_ARG_DIFF_DST, y.own},
                                      {DNNL_ARG_SCRATCHPAD, work}});
        return x.leave(stream);
      case ConvDirection::weight:
        return convolution_.execute(stream, {{DNNL_ARG_SRC, x.own},
                                             {DNNL_ARG_DIFF_WEIGHTS, w},
                                             {DNNL_ARG_DIFF_DST, y.own},
                                             {DNNL_ARG_SCRATCHPAD, work}});
    }
  }

 private:
  // How x or y comes: its layout, and from there to oneDNN's or back; no reorder if it is that.
  struct Form {
    Desc layout;
    dnnl::reorder reorder;
  };
  struct Side {
    Form plain, blocks;
    Desc own;
  };
  // x or y of one run.
  struct Image {
    Image(const Side& side, bool in_blocks, float* data, char*& scratch)
        : form(in_blocks ? side.blocks : side.plain), user(at(form.layout, data)) {
      own = form.reorder ? at(side.own, scratch) : user;
      if (form.reorder) scratch += aligned(side.own.get_size());
    }
    void enter(const dnnl::stream& stream) { move(stream, user, own); }
    void leave(const dnnl::stream& stream) { move(stream, own, user); }
    void move(const dnnl::stream& stream, const memory& from, const memory& to) {
      if (form.reorder) form.reorder.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    }
    const Form& form;
    memory user, own;
  };

  using Forward = dnnl::convolution_forward;
  using Input = dnnl::convolution_backward_data;
  using Weight = dnnl::convolution_backward_weights;
  static constexpr auto kDirect = dnnl::algorithm::convolution_direct;

  Forward::primitive_desc describe_forward(const ConvGeometry& g) const {
    Dims stride = spatial(g, g.stride), padding = spatial(g, g.padding);
    Dims dilation = spatial(g, g.dilation, 1);
    Desc x = any(user_.x), w = any(user_.w), y = any(user_.y);
    constexpr auto kind = dnnl::prop_kind::forward_training;
    if (user_.bias.data.ndims == 0) {
      return {{kind, kDirect, x, w, y, stride, dilation, padding, padding}, attributes(), engine()};
    }
    return {{kind, kDirect, x, w, user_.bias, y, stride, dilation, padding, padding},
            attributes(),
            engine()};
  }
  void make_forward(const ConvGeometry& g) {
    auto made = describe_forward(g);
    own_ = {made.src_desc(), made.weights_desc(), made.dst_desc(), {}};
    keep<Forward>(made);
  }
  void make_input(const ConvGeometry& g) {
    Input::desc desc(kDirect, any(user_.x), any(user_.w), any(user_.y), spatial(g, g.stride),
                     spatial(g, g.dilation, 1), spatial(g, g.padding), spatial(g, g.padding));
    Input::primitive_desc made(desc, attributes(), engine(), describe_forward(g));
    own_ = {made.diff_src_desc(), made.weights_desc(), made.diff_dst_desc(), {}};
    keep<Input>(made);
  }
  void make_weight(const ConvGeometry& g) {
    Weight::desc desc(kDirect, any(user_.x), any(user_.w), any(user_.y), spatial(g, g.stride),
                      spatial(g, g.dilation, 1), spatial(g, g.padding), spatial(g, g.padding));
    Weight::primitive_desc made(desc, attributes(), engine(), describe_forward(g));
    own_ = {made.src_desc(), made.diff_weights_desc(), made.diff_dst_desc(), {}};
    keep<Weight>(made);
  }

  // Products on plain layouts are no faster than ours, and its reference code is slow.
  template <class Primitive, class Description>
  void keep(const Description& made) {
    served_ = std::string_view(made.impl_info_str()).starts_with("jit");
    if (!served_) return;
    scratchpad_ = made.scratchpad_desc();
    convolution_ = Primitive(made);
  }

  static dnnl::reorder reorder(const Desc& from, const Desc& to) {
    return dnnl::reorder({engine(), from, engine(), to});
  }
  static Form form(const Desc& user, const Desc& own, bool result) {
    if (user == own) return {user, {}};
    return {user, result ? reorder(own, user) : reorder(user, own)};
  }
  static Side side(const Desc& user, const Desc& own, bool result, int64_t image_stride) {
    Side made{form(user, own, result), {}, own};
    if (!is_in_blocks(own)) return made;
    Desc blocks = own;  // whole images, of which a piece may have some channels only
    if (own.dims()[0] > 1) blocks.data.format_desc.blocking.strides[0] = image_stride;
    made.blocks = form(blocks, own, result);
    return made;
  }
  void make_reorders(const ConvPiece& piece) {
    x_ = side(user_.x, own_.x, direction_ == ConvDirection::input, piece.x_image);
    y_ = side(user_.y, own_.y, direction_ == ConvDirection::forward, piece.y_image);
    const bool to_w = direction_ == ConvDirection::weight;
    w_ = to_w ? reorder(own_.w, user_.w) : reorder(user_.w, own_.w);
    x_has_blocks = is_in_blocks(own_.x);
    y_has_blocks = is_in_blocks(own_.y);
    packed_bytes = own_.w.get_size();
    scratch_bytes = aligned(scratchpad_.get_size());
    if (x_.plain.reorder) scratch_bytes += aligned(own_.x.get_size());
    if (y_.plain.reorder) scratch_bytes += aligned(own_.y.get_size());
  }

  ConvDirection direction_;
  Operands user_, own_;
  Desc scratchpad_;
  bool served_ = false;
  dnnl::primitive convolution_;
  Side x_, y_;
  dnnl::reorder w_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) ConvCall* foregrad_make_conv_call(
    const ConvPiece* piece, int64_t block) {
  OneThread one;
  static const bool set = (channel_block = block, true);
  (void)set;
  try {
    auto call = std::make_unique<Call>(*piece);
    return call->served() ? call.release() : nullptr;
  } catch (const dnnl::error&) {  // not implemented, or taken for a mistake
    return nullptr;
  }
}

}  // namespace fg::kernels
