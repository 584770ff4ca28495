// Copies of a tensor with its elements repeated, moved, reversed, padded or cut along a diagonal.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"repeat(Tensor self, int[] repeats) -> Tensor"> repeat;
inline constexpr ir::Function<"tile(Tensor self, int[] dims) -> Tensor"> tile;
inline constexpr ir::Function<
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None) -> Tensor",
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None) -> Tensor">
    repeat_interleave;
inline constexpr ir::Function<"roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor"> roll;
inline constexpr ir::Function<"flip(Tensor self, int[] dims) -> Tensor"> flip;
inline constexpr ir::Function<"fliplr(Tensor self) -> Tensor"> fliplr;
inline constexpr ir::Function<"flipud(Tensor self) -> Tensor"> flipud;

// ---- channels and blocks of r x r elements of a plane, one for the other
inline constexpr ir::Function<"pixel_shuffle(Tensor self, int upscale_factor) -> Tensor">
    pixel_shuffle;
inline constexpr ir::Function<"pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor">
    pixel_unshuffle;
inline constexpr ir::Function<"channel_shuffle(Tensor self, int groups) -> Tensor"> channel_shuffle;

// Pads are pairs, the last dimension first; negative ones cut off.
inline constexpr ir::Function<"constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor">
    constant_pad_nd;
inline constexpr ir::Function<
    "pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor">
    pad;

inline constexpr ir::Function<"tril(Tensor self, int diagonal=0) -> Tensor"> tril;
inline constexpr ir::Function<"triu(Tensor self, int diagonal=0) -> Tensor"> triu;
inline constexpr ir::Function<
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor">
    diagonal_copy;
inline constexpr ir::Function<"diag(Tensor self, int diagonal=0) -> Tensor"> diag;
inline constexpr ir::Function<
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor">
    diag_embed;
inline constexpr ir::Function<"diagflat(Tensor self, int offset=0) -> Tensor"> diagflat;
inline constexpr ir::Function<"trace(Tensor self) -> Tensor"> trace;
inline constexpr ir::Inplace tril_{tril};
inline constexpr ir::Inplace triu_{triu};

}  // namespace fg
