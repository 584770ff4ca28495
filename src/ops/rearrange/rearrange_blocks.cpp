// Blocks of planes as channels, channels as blocks, channels of groups in turn.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/contiguous_copy.h"
#include "ops/rearrange/rearrange.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

struct Planes {
  Dims leading;
  Dim channels, height, width;

  Planes(const char* who, const Tensor& self, int64_t factor) {
    if (self.dim() < 3) {
      fail("{}: the input has sizes {}; expected at least [channels, height, width]", who,
           text(self.sizes()));
    }
    if (factor < 1) fail("{}: the factor must be positive, but is {}", who, factor);
    leading = self.sizes();
    width = leading.back(), leading.pop_back();
    height = leading.back(), leading.pop_back();
    channels = leading.back(), leading.pop_back();
  }
  Dims with(std::initializer_list<Dim> sizes) const {
    Dims result = leading;
    for (Dim size : sizes) result.push_back(size);
    return result;
  }
  // The dimensions after the leading ones in another order.
  Dims order(std::initializer_list<int64_t> last) const {
    Dims result;
    auto rank = static_cast<int64_t>(leading.size());
    for (int64_t i = 0; i < rank; i++) result.push_back(i);
    for (int64_t i : last) result.push_back(rank + i);
    return result;
  }
};

const auto pixel_shuffle_entry =
    define(pixel_shuffle, "Groups of r * r channels as blocks of r x r elements: larger planes.",
           [](const Tensor& self, int64_t r) {
             Planes p("pixel_shuffle", self, r);
             Dim block = Dim(r) * r;
             if (!(p.channels % block == 0)) {
               fail("pixel_shuffle: {} channels are no multiple of {}, the square of the factor",
                    p.channels.text(), block.text());
             }
             Dim channels = p.channels / block;
             Tensor parts = reshape(self, p.with({channels, r, r, p.height, p.width}));
             Tensor placed = permute(parts, p.order({0, 3, 1, 4, 2}));
             return reshape(ops::contiguous_copy(placed),
                            p.with({channels, p.height * r, p.width * r}));
           })
        .shown(Shown::as_function)
        .vjp("PixelShuffleBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, int64_t r) { return pixel_unshuffle(v.grad(), r); }))
        .samples([] {
          return Samples{{{sample({1, 4, 2, 3}), Scalar(2)}},
                         {{sample({9, 1, 2}), Scalar(3)}, "no batch"}};
        });

const auto pixel_unshuffle_entry =
    define(pixel_unshuffle, "Blocks of r x r elements as channels: smaller planes.",
           [](const Tensor& self, int64_t r) {
             Planes p("pixel_unshuffle", self, r);
             if (!(p.height % r == 0) || !(p.width % r == 0)) {
               fail("pixel_unshuffle: planes of {} x {} cannot be cut into blocks of {} x {}",
                    p.height.text(), p.width.text(), r, r);
             }
             Dim height = p.height / r, width = p.width / r;
             Tensor parts = reshape(self, p.with({p.channels, height, r, width, r}));
             Tensor placed = permute(parts, p.order({0, 2, 4, 1, 3}));
             return reshape(ops::contiguous_copy(placed),
                            p.with({p.channels * r * r, height, width}));
           })
        .shown(Shown::as_function)
        .vjp("PixelUnshuffleBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, int64_t r) { return pixel_shuffle(v.grad(), r); }))
        .samples([] {
          return Samples{{{sample({1, 1, 4, 6}), Scalar(2)}},
                         {{sample({2, 3, 3}), Scalar(3)}, "no batch"}};
        });

// A channel of each group in turn.
Tensor in_turn(const Tensor& self, Dim groups) {
  Dims sizes = self.sizes(), split = sizes;
  split[1] = groups;
  split.insert(2, sizes[1] / groups);
  return reshape(ops::contiguous_copy(transpose(reshape(self, split), 1, 2)), sizes);
}
const auto channel_shuffle_entry =
    define(channel_shuffle, "The channels of several groups in turn: the first of each, and so on.",
           [](const Tensor& self, int64_t groups) {
             if (self.dim() < 3) {
               fail("channel_shuffle: the input has sizes {}; expected more than 2 dimensions",
                    text(self.sizes()));
             }
             if (groups < 1) fail("channel_shuffle: groups must be positive, but is {}", groups);
             if (!(self.sizes()[1] % groups == 0)) {
               fail("channel_shuffle: {} channels cannot be cut into {} groups",
                    self.sizes()[1].text(), groups);
             }
             return in_turn(self, groups);
           })
        .shown(Shown::as_function)
        .also_named({"native_channel_shuffle"})
        .vjp("ChannelShuffleBackward0", wrt(0, saves::shape(0),
                                            [](const Vjp& v, int64_t groups) {
                                              return in_turn(v.grad(), v.sizes(0)[1] / Dim(groups));
                                            }))
        .samples([] { return Samples{{{sample({2, 6, 2, 1}), Scalar(3)}}}; });

}  // namespace
}  // namespace fg
