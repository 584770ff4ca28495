#include "ops/create.h"

#include <cstring>

#include "ir/define.h"
#include "ops/view_kind.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct FullParams {
  Dims size;
  Scalar value;
  DType dtype;
  bool operator==(const FullParams&) const = default;
};
const Registered full_p =
    plain_primitive<FullParams,
                    [](Operands, const FullParams& p, Meta* out) {
                      out[0].sizes = p.size;
                      out[0].dtype = p.dtype;
                    },
                    [](Operands, const FullParams& p, Tensor* out) {
                      visit(p.dtype, [&](auto zero) {
                        using T = decltype(zero);
                        T* data = reinterpret_cast<T*>(out[0].data_ptr());
                        std::fill(data, data + out[0].numel(), p.value.to<T>());
                      });
                    }>("full", Kind::create);

Tensor filled(const Dims& size, const Scalar& value, DType dtype) {
  product(size);  // refuses negative and overflowing sizes first
  return full_p.with({size, value, dtype});
}

DType natural_dtype(const Scalar& value) {
  return value.is_floating() ? default_dtype() : value.dtype();
}

const auto full_entry =
    define(full, "A tensor of one value.",
           [](const Dims& size, const Scalar& value, OptDType dtype) {
             return filled(size, value, dtype.value_or(natural_dtype(value)));
           })
        .samples(
            [] { return Samples{{{Dims{2, 3}, Scalar(1.5)}}, {{Dims{0}, Scalar(1)}, "empty"}}; });
const auto zeros_entry = define(zeros, "A tensor of zeros.", [](const Dims& size, OptDType dtype) {
                           return filled(size, 0, dtype.value_or(default_dtype()));
                         }).samples([] { return Samples{{{Dims{2, 3}}}}; });
const auto ones_entry = define(ones, "A tensor of ones.", [](const Dims& size, OptDType dtype) {
                          return filled(size, 1, dtype.value_or(default_dtype()));
                        }).samples([] { return Samples{{{Dims{2, 3}}}}; });
const auto zeros_like_entry = define(zeros_like, "Zeros of the sizes and dtype of self.",
                                     [](const Tensor& self, OptDType dtype) {
                                       return filled(self.sizes(), 0, dtype.value_or(self.dtype()));
                                     })
                                  .samples([] { return Samples{{{sample({2})}}}; });
const auto ones_like_entry = define(ones_like, "Ones of the sizes and dtype of self.",
                                    [](const Tensor& self, OptDType dtype) {
                                      return filled(self.sizes(), 1, dtype.value_or(self.dtype()));
                                    })
                                 .samples([] { return Samples{{{sample({2})}}}; });
const auto full_like_entry =
    define(full_like, "One value with the sizes and dtype of self.",
           [](const Tensor& self, const Scalar& value, OptDType dtype) {
             return filled(self.sizes(), value, dtype.value_or(self.dtype()));
           })
        .samples([] { return Samples{{{sample({2}), Scalar(3)}}}; });

}  // namespace
}  // namespace fg
