// Copies of a tensor with its elements repeated, moved, reversed, padded or cut along a diagonal.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"repeat(Tensor self, int[] repeats) -> Tensor"> repeat;
FG_FUNCTION ir::Function<"tile(Tensor self, int[] dims) -> Tensor"> tile;
FG_FUNCTION ir::Function<
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None) -> Tensor",
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None) -> Tensor">
    repeat_interleave;
FG_FUNCTION ir::Function<"roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor"> roll;
FG_FUNCTION ir::Function<"flip(Tensor self, int[] dims) -> Tensor"> flip;
FG_FUNCTION ir::Function<"fliplr(Tensor self) -> Tensor"> fliplr;
FG_FUNCTION ir::Function<"flipud(Tensor self) -> Tensor"> flipud;

// ---- channels and blocks of r x r elements of a plane, one for the other
FG_FUNCTION ir::Function<"pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"> pixel_shuffle;
FG_FUNCTION ir::Function<"pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor">
    pixel_unshuffle;
FG_FUNCTION ir::Function<"channel_shuffle(Tensor self, int groups) -> Tensor"> channel_shuffle;

// Pads are pairs, the last dimension first; negative ones cut off.
FG_FUNCTION ir::Function<"constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor">
    constant_pad_nd;
FG_FUNCTION
ir::Function<"pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> Tensor"> pad;

FG_FUNCTION ir::Function<"tril(Tensor self, int diagonal=0) -> Tensor"> tril;
FG_FUNCTION ir::Function<"triu(Tensor self, int diagonal=0) -> Tensor"> triu;
FG_FUNCTION
ir::Function<"diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor">
    diagonal_copy;
FG_FUNCTION ir::Function<"diag(Tensor self, int diagonal=0) -> Tensor"> diag;
FG_FUNCTION
ir::Function<"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor">
    diag_embed;
FG_FUNCTION ir::Function<"diagflat(Tensor self, int offset=0) -> Tensor"> diagflat;
FG_FUNCTION ir::Function<"trace(Tensor self) -> Tensor"> trace;
FG_FUNCTION ir::InplaceOf<decltype(tril)> tril_;
FG_FUNCTION ir::InplaceOf<decltype(triu)> triu_;

}  // namespace fg
