// The bilinear form of two vectors: one product with the weight, one with the second vector.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

void check_bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                    const Tensor& bias) {
  bool usable = weight.dim() == 3 && input1.dim() == input2.dim() && input1.dim() > 0 &&
                input1.dim_size(-1) == weight.sizes()[1] &&
                input2.dim_size(-1) == weight.sizes()[2];
  for (int64_t i = 0; usable && i + 1 < input1.dim(); i++) {
    usable = input1.sizes()[i] == input2.sizes()[i];
  }
  if (!usable) {
    fail(
        "bilinear: got inputs of sizes {} and {} and a weight of sizes {}; expected [..., i], "
        "[..., j] and [o, i, j]",
        text(input1.sizes()), text(input2.sizes()), text(weight.sizes()));
  }
  if (bias.defined() && !(bias.sizes() == Dims{weight.sizes()[0]})) {
    fail("bilinear: the bias has sizes {}; expected one number for each of {} outputs",
         text(bias.sizes()), weight.sizes()[0].text());
  }
}

const auto bilinear_entry =
    define(
        bilinear, "The bilinear form of two vectors, one for each output.",
        [](const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
          check_bilinear(input1, input2, weight, bias);
          Dim outputs = weight.sizes()[0], in1 = weight.sizes()[1], in2 = weight.sizes()[2];
          Dims leading = input1.sizes();
          leading.pop_back();
          Dim rows = product(leading);
          Tensor table = reshape(permute(weight, {1, 0, 2}), {in1, outputs * in2});
          Tensor half = reshape(mm(reshape(input1, {rows, in1}), table), {rows, outputs, in2});
          Tensor result = bmm(half, reshape(input2, {rows, in2, 1}));
          leading.push_back(outputs);
          result = reshape(result, leading);
          return bias.defined() ? result + bias : result;
        })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{
              {{sample({2, 3}), sample({2, 2}, -1, 3), sample({4, 3, 2})}},
              {{sample({2, 1, 3}), sample({2, 1, 2}, -1, 3), sample({4, 3, 2}), sample({4})},
               "bias"}};
        });

}  // namespace
}  // namespace fg
