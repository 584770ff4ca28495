// Distances and similarities of vectors.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION
ir::Function<"cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor">
    cosine_similarity;
FG_FUNCTION ir::Function<
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> "
    "Tensor">
    pairwise_distance;
// The distances of all pairs of rows: the upper triangle of their matrix, row by row.
FG_FUNCTION ir::Function<"pdist(Tensor self, float p=2.0) -> Tensor"> pdist;

}  // namespace fg
