// Sorting: NaN counts as the greatest number; equal elements keep their order.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
    "(Tensor values, Tensor indices)">
    sort;
// A flag in the second place is `stable`, a number a dimension.
template <Text... S>
struct ArgsortFunction : ir::Function<S...> {
  using ir::Function<S...>::operator();
  template <std::same_as<bool> Flag>
  Tensor operator()(const Tensor& self, Flag stable, int64_t dim = -1,
                    bool descending = false) const {
    return (*this)(self, OptBool(stable), dim, descending);
  }
};
FG_FUNCTION ArgsortFunction<
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    "argsort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> Tensor">
    argsort;
FG_FUNCTION ir::Function<
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
    "(Tensor values, Tensor indices)">
    topk;
FG_FUNCTION ir::Function<"msort(Tensor self) -> Tensor"> msort;

}  // namespace fg
