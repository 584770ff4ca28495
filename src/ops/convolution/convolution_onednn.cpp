#include "ops/convolution/convolution_onednn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/level.h"
#include "base/library.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/pool.h"
#include "ops/convolution/channel_blocks.h"
#include "ops/kernels/block.h"

namespace fg::kernels {

namespace {

// Multiplications and additions. A piece takes some 100 us, many times what a call costs; a whole
// convolution below kLeastWork is over before oneDNN has begun.
constexpr double kPieceWork = 3 << 20, kLeastWork = 1 << 17;
constexpr double kMoveWork = 12;      // of an element that changes its layout
constexpr int64_t kMaxSlices = 8;     // sums of weight gradients that are made side by side
constexpr int64_t kSliceDepth = 512;  // least positions of a slice, or adding slices takes longer
constexpr int64_t kFewPieces = 8;     // fewer than this: channels are cut too
constexpr int64_t kPartChannels = 32;
constexpr int64_t kMaxElements = int64_t{1} << 28;  // of an operand: oneDNN counts bytes in int
constexpr int64_t kMaxStep = 1 << 16;  // of strides, paddings and dilations, for the same reason
constexpr size_t kMaxPlans = 256;

int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

int64_t elements_x(const ConvGeometry& g) { return g.groups * g.in_channels * volume(g.input); }
int64_t elements_y(const ConvGeometry& g) { return g.groups * g.out_channels * g.positions(); }

// ---- the pieces

// `slices` of `images` images (the last may have fewer), by `parts` of equally many channels: those
// of the result, or the output channels of the weights.
struct Grid {
  int64_t images, slices, parts;
};

int64_t& cut_channels(ConvDirection direction, ConvGeometry& g) {
  return direction == ConvDirection::input ? g.in_channels : g.out_channels;
}

int64_t channel_parts(ConvDirection direction, ConvGeometry g, int64_t most) {
  const int64_t channels = cut_channels(direction, g);
  if (g.groups > 1) return 1;
  int64_t count = std::max<int64_t>(1, std::min(most, channels / kPartChannels));
  while (channels % (count * channel_block()) != 0 && count > 1) count--;
  return count;
}

Grid grid(ConvDirection direction, const ConvGeometry& g) {
  const double moved = static_cast<double>(elements_x(g) + elements_y(g));
  const double image_work = 1.0 * elements_y(g) * g.depth() + kMoveWork * moved;
  int64_t images = static_cast<int64_t>(kPieceWork / image_work) + 1;
  if (direction == ConvDirection::weight) {
    images = std::max({images, parts(kSliceDepth, g.positions()), parts(g.batch, kMaxSlices)});
  }
  const int64_t slices = parts(g.batch, images);
  images = parts(g.batch, slices);  // about equally many in each
  const double slice_work = image_work * static_cast<double>(images);
  const int64_t most = std::min(kFewPieces / slices, static_cast<int64_t>(slice_work / kPieceWork));
  return {images, parts(g.batch, images), channel_parts(direction, g, most)};
}

struct Plan {
  Grid grid{};
  std::unique_ptr<ConvCall> call, last;  // of the last slice, if it is shorter
  bool served = false;
  ConvBlocks blocks{};

  const ConvCall& of_slice(int64_t slice) const {
    return last && slice == grid.slices - 1 ? *last : *call;
  }
  size_t packed_stride() const { return (call->packed_bytes + 63) / 64 * 64 / sizeof(float); }
};

// ---- the library and its calls

// Nullptr if it was not built.
MakeConvCall load() {
  if (level() < Level::v3) return nullptr;
  std::string path = beside_this_library("libforegrad-onednn.so");
  if (access(path.c_str(), F_OK) != 0) return nullptr;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    logging::warn_once<"convolutions are slow, for oneDNN cannot be loaded: {}">(dlerror());
    return nullptr;
  }
  return reinterpret_cast<MakeConvCall>(dlsym(handle, kMakeConvCall));
}

// Measured: these are faster as products, for oneDNN pads channels to 8.
bool better_as_product(ConvDirection direction, const ConvGeometry& g) {
  const double work = static_cast<double>(g.batch) * elements_y(g) * g.depth();
  if (work < kLeastWork) return true;
  switch (direction) {
    case ConvDirection::forward:
      return g.is_pointwise();
    case ConvDirection::input:
      return g.is_pointwise() || (g.groups == 1 && g.in_channels < 8);
    case ConvDirection::weight:
      return g.groups == 1 && g.in_channels == 1;
  }
  return true;
}

bool is_in_range(const ConvGeometry& g) {
  auto is_small = [](const Spatial& steps) {
    return std::ranges::all_of(steps, [](int64_t step) { return step < kMaxStep; });
  };
  return is_small(g.stride) && is_small(g.padding) && is_small(g.dilation) && g.batch > 0 &&
         g.in_channels > 0 && g.out_channels > 0 && volume(g.input) > 0 && g.positions() > 0 &&
         elements_x(g) < kMaxElements && elements_y(g) < kMaxElements &&
         g.groups * g.out_channels * g.depth() < kMaxElements;
}

ConvBlocks blocks_of(const ConvCall& call, const ConvCall& last) {
  return {call.x_has_blocks && last.x_has_blocks, call.y_has_blocks && last.y_has_blocks};
}

Plan make_plan(ConvDirection direction, bool bias, const ConvGeometry& g) {
  Plan plan;
  static const MakeConvCall make = load();
  if (!make || !is_in_range(g) || better_as_product(direction, g)) return plan;
  plan.grid = grid(direction, g);
  ConvPiece piece{direction, bias, g, elements_x(g), elements_y(g), g.depth()};
  cut_channels(direction, piece.g) /= plan.grid.parts;
  piece.g.batch = plan.grid.images;
  plan.call.reset(make(&piece, channel_block()));
  const int64_t rest = g.batch % plan.grid.images;
  if (rest > 0) {
    piece.g.batch = rest;
    plan.last.reset(make(&piece, channel_block()));
  }
  // Weights are packed once for all slices.
  plan.served =
      plan.call && (rest == 0 || (plan.last && plan.last->packed_bytes == plan.call->packed_bytes));
  if (plan.served) plan.blocks = blocks_of(*plan.call, rest > 0 ? *plan.last : *plan.call);
  return plan;
}

struct PlanKey {
  ConvDirection direction;
  int64_t bias;
  ConvGeometry g;
  bool operator==(const PlanKey&) const = default;
};
static_assert(std::has_unique_object_representations_v<PlanKey>);  // hashed as bytes
struct PlanHash {
  size_t operator()(const PlanKey& key) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&key), sizeof(key)});
  }
};

// Making a call generates code, which takes up to milliseconds: plans are kept, those that were
// used last. A fork waits for the lock, so that a child finds neither it nor oneDNN's own taken.
class Plans {
 public:
  Plans() {
    pthread_atfork([] { plans().lock_.lock(); }, [] { plans().lock_.unlock(); },
                   [] { plans().lock_.unlock(); });
  }
  static Plans& plans() {
    static Plans* const one = new Plans;  // workers may outlive main()
    return *one;
  }

  std::shared_ptr<const Plan> find(const PlanKey& key) {
    Locked locked(lock_);
    auto found = places_.find(key);
    if (found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    auto plan = std::make_shared<const Plan>(make_plan(key.direction, key.bias != 0, key.g));
    order_.emplace_front(key, plan);
    places_[key] = order_.begin();
    if (order_.size() > kMaxPlans) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return plan;
  }

 private:
  using Order = std::list<std::pair<PlanKey, std::shared_ptr<const Plan>>>;
  Lock lock_;
  Order order_;  // the last used first
  std::unordered_map<PlanKey, Order::iterator, PlanHash> places_;
};

// ---- running

struct Run {
  const Plan& plan;
  ConvDirection direction;
  const ConvGeometry& g;
  float *x, *w, *y;
  const float* bias;
  float* packed;  // one per part, and per slice if weights are what is computed
  ConvBlocks blocks;

  bool is_input() const { return direction == ConvDirection::input; }
  int64_t part_channels() const {
    return (is_input() ? g.in_channels : g.out_channels) / plan.grid.parts;
  }
  float* part_of_w(int64_t part) const {
    return w + part * part_channels() * (is_input() ? volume(g.kernel) : g.depth());
  }

  // The gradient of the input has no bias in oneDNN.
  void add_bias(float* to, int64_t images, int64_t first) const {
    const int64_t channels = plan.grid.parts > 1 ? part_channels() : g.groups * g.in_channels;
    for (int64_t n = 0; n < images; n++, to += elements_x(g)) {
      for (int64_t c = 0; c < channels; c++) {
        float* row = to + c * volume(g.input);
        for (int64_t i = 0; i < volume(g.input); i++) row[i] += bias[first + c];
      }
    }
  }

  void piece(int64_t slice, int64_t part, void* scratch) const {
    const int64_t first = slice * plan.grid.images, channel = part * part_channels();
    float* from_x = x + first * elements_x(g) + (is_input() ? channel * volume(g.input) : 0);
    float* from_y = y + first * elements_y(g) + (is_input() ? 0 : channel * g.positions());
    const int64_t weights =
        direction == ConvDirection::weight ? slice * plan.grid.parts + part : part;
    plan.of_slice(slice).run({from_x, packed + weights * plan.packed_stride(),
                              bias ? bias + channel : nullptr, from_y, scratch, blocks.x,
                              blocks.y});
    if (bias && is_input()) {
      add_bias(from_x, std::min(plan.grid.images, g.batch - first), channel);
    }
  }

  void all_pieces() const {
    const int64_t count = plan.grid.parts;
    pool::parallel_for(plan.grid.slices * count, 1, [&](int64_t begin, int64_t end) {
      Block<char> scratch(plan.call->scratch_bytes);
      for (int64_t i = begin; i < end; i++) piece(i / count, i % count, scratch.get());
    });
  }

  void pack() const {
    pool::parallel_for(plan.grid.parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; part++) {
        plan.call->pack(part_of_w(part), packed + part * plan.packed_stride());
      }
    });
  }

  // All slices are added to the first, in order.
  void add_slices() const {
    constexpr int64_t kUnit = 16;
    const int64_t size = plan.packed_stride() * plan.grid.parts;
    pool::parallel_for(size / kUnit, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        float* sum = packed + i * kUnit;
        for (int64_t slice = 1; slice < plan.grid.slices; slice++) {
          const float* from = sum + slice * size;
          for (int64_t j = 0; j < kUnit; j++) sum[j] += from[j];
        }
      }
    });
  }
};

}  // namespace

ConvBlocks onednn_blocks(ConvDirection direction, const ConvGeometry& g, bool bias) {
  const bool to_input = direction == ConvDirection::input;
  if (to_input && bias) return {};  // add_bias knows plain images only
  return Plans::plans().find({direction, bias, g})->blocks;
}

bool convolve_onednn(ConvDirection direction, const ConvGeometry& g, float* x, float* w,
                     const float* bias, float* y, ConvBlocks blocks) {
  const auto plan =
      Plans::plans().find({direction, bias && direction == ConvDirection::forward, g});
  if (!plan->served) return false;
  const bool to_weights = direction == ConvDirection::weight;
  const int64_t copies = plan->grid.parts * (to_weights ? plan->grid.slices : 1);
  Block<float> packed(static_cast<size_t>(copies) * plan->packed_stride());
  const Run run{*plan, direction, g, x, w, y, bias, packed.get(), blocks};
  if (!to_weights) run.pack();
  run.all_pieces();
  if (to_weights) {
    run.add_slices();
    for (int64_t part = 0; part < plan->grid.parts; part++) {
      plan->call->unpack(packed.get() + part * plan->packed_stride(), run.part_of_w(part));
    }
  }
  return true;
}

}  // namespace fg::kernels
