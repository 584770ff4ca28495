#include "ops/convolution/channel_blocks.h"

#include "base/level.h"
#include "base/pool.h"
#include "ir/lanes.h"
#include "ops/kernels/strided.h"
#include "tensor/geometry.h"

namespace fg::kernels {

namespace {

constexpr int64_t kSide = 8;       // of a square
constexpr int64_t kGrain = 16384;  // elements that are worth a thread
using Row = ir::Vector<uint32_t, 32>::type;
using UnalignedRow = ir::Vector<uint32_t, 32>::unaligned;

// Swaps the upper right with the lower left quarter of every square of 2 * half rows.
template <int half, int... I>
FG_INLINE void swap_quarters(Row* rows, std::integer_sequence<int, I...>) {
#pragma GCC unroll 8
  for (int i = 0; i < kSide; i++) {
    if (i & half) continue;
    Row a = rows[i], b = rows[i + half];
    rows[i] = __builtin_shufflevector(a, b, ((I & half) ? kSide + I - half : I)...);
    rows[i + half] = __builtin_shufflevector(a, b, ((I & half) ? kSide + I : I + half)...);
  }
}

// `count` squares of eight rows; from one to the next, and from one row to the next.
FG_KERNEL_V3 void transpose_squares(const uint32_t* from, int64_t from_square, int64_t from_row,
                                    uint32_t* to, int64_t to_square, int64_t to_row,
                                    int64_t count) {
  constexpr auto kAll = std::make_integer_sequence<int, kSide>();
  for (int64_t k = 0; k < count; k++, from += from_square, to += to_square) {
    Row rows[kSide];
#pragma GCC unroll 8
    for (int i = 0; i < kSide; i++)
      rows[i] = *reinterpret_cast<const UnalignedRow*>(from + i * from_row);
    swap_quarters<4>(rows, kAll);
    swap_quarters<2>(rows, kAll);
    swap_quarters<1>(rows, kAll);
#pragma GCC unroll 8
    for (int i = 0; i < kSide; i++) *reinterpret_cast<UnalignedRow*>(to + i * to_row) = rows[i];
  }
}

Tensor as_blocks(const Tensor& plain) {
  return alias(plain, block_sizes(plain.sizes()), block_strides(plain.sizes()),
               plain.impl()->offset);
}

// Four bytes per element, whole squares, and registers that hold a row.
bool is_made_of_squares(const Tensor& plain, int64_t positions) {
  return level() >= Level::v3 && item_size(plain.dtype()) == 4 && positions % kSide == 0;
}

int64_t positions_of(const Tensor& plain) {
  return plain.numel() / (plain.sizes()[0] * plain.sizes()[1]).value();
}

// Calls f(place in plain and in blocks) for every block of channels of every image.
template <class F>
void each_block(const Tensor& plain, int64_t positions, F f) {
  int64_t size = channel_block() * positions;
  pool::parallel_for(plain.numel() / size, kGrain / size + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i * size);
  });
}

}  // namespace

Dims block_sizes(const Dims& plain) {
  Dims sizes = plain;
  sizes[1] = plain[1] / Dim(channel_block());
  sizes.push_back(channel_block());
  return sizes;
}

Dims block_strides(const Dims& plain) {
  Dims strides = contiguous_strides(plain);
  Dim channel = strides[1];
  strides[1] = channel * channel_block();
  strides.push_back(channel);
  return strides;
}

void to_channel_blocks(const Tensor& plain, const Tensor& blocks) {
  if (plain.numel() == 0) return;
  int64_t positions = positions_of(plain), block = channel_block();
  if (!is_made_of_squares(plain, positions)) return copy_elements(blocks, as_blocks(plain));
  auto* from = static_cast<const uint32_t*>(plain.data_ptr());
  auto* to = static_cast<uint32_t*>(blocks.data_ptr());
  each_block(plain, positions, [&](int64_t at) {
    for (int64_t i = 0; i < block; i += kSide) {
      transpose_squares(from + at + i * positions, kSide, positions, to + at + i, kSide * block,
                        block, positions / kSide);
    }
  });
}

void from_channel_blocks(const Tensor& blocks, const Tensor& plain) {
  if (plain.numel() == 0) return;
  int64_t positions = positions_of(plain), block = channel_block();
  if (!is_made_of_squares(plain, positions)) return copy_elements(as_blocks(plain), blocks);
  auto* from = static_cast<const uint32_t*>(blocks.data_ptr());
  auto* to = static_cast<uint32_t*>(plain.data_ptr());
  each_block(plain, positions, [&](int64_t at) {
    for (int64_t i = 0; i < block; i += kSide) {
      transpose_squares(from + at + i, kSide * block, block, to + at + i * positions, kSide,
                        positions, positions / kSide);
    }
  });
}

}  // namespace fg::kernels
