// Losses that ask for a margin between scores, distances or cosines; those of many classes at once
// are in loss_multi_margin.cpp.
#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/loss/distance.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ops::check_reduction;
using ops::reduced;

namespace {

// Targets of a sample: 1 and -1.
Tensor signs(const Dims& sizes) { return to(sample_mask(sizes), kFloat64) * 2 - 1; }

// The samples of a loss with every reduction; `with` makes the arguments of one.
template <class F>
Samples each_reduction(F with) {
  Samples all;
  for (const char* reduction : {"none", "mean", "sum"}) {
    all.push_back({with(std::string(reduction)), reduction});
  }
  return all;
}

const auto margin_ranking_entry =
    define(margin_ranking_loss, "max(0, -target * (input1 - input2) + margin).",
           [](const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
              const std::string& reduction) {
             check_reduction("margin_ranking_loss", reduction);
             if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
               fail("margin_ranking_loss: got sizes {}, {} and {}; expected as many dimensions",
                    text(input1.sizes()), text(input2.sizes()), text(target.sizes()));
             }
             return reduced(clamp_min(-target * (input1 - input2) + margin, 0), reduction);
           })
        .shown(Shown::as_function)
        .samples([] {
          return each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({2, 3}), sample({2, 3}, -1, 3), signs({2, 3}), Scalar(0.5), reduction};
          });
        });

const auto hinge_embedding_entry =
    define(
        hinge_embedding_loss, "Self where the target is 1, max(0, margin - self) where -1.",
        [](const Tensor& self, const Tensor& target, double margin, const std::string& reduction) {
          check_reduction("hinge_embedding_loss", reduction);
          Tensor away = where(target != 1, clamp_min(margin - self, 0), 0);
          // Integers stay integers, as in PyTorch.
          return reduced(to(away + where(target != -1, self, 0), self.dtype()), reduction);
        })
        .shown(Shown::as_function)
        .samples([] {
          return each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({2, 3}), signs({2, 3}), Scalar(0.5), reduction};
          });
        });

// ---- cosine_embedding_loss

void check_cosine_target(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  if (target.dim() > 1) {
    fail("cosine_embedding_loss: the target has sizes {}; expected one number per pair",
         text(target.sizes()));
  }
  if (input1.dim() == target.dim() + 1 && input2.dim() == target.dim() + 1) return;
  fail("cosine_embedding_loss: inputs of sizes {} and {} with a target of sizes {}; expected {}",
       text(input1.sizes()), text(input2.sizes()), text(target.sizes()),
       target.dim() == 1 ? "matrices of rows" : "two vectors");
}
const auto cosine_embedding_entry =
    define(cosine_embedding_loss,
           "1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.",
           [](const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
              const std::string& reduction) {
             check_reduction("cosine_embedding_loss", reduction);
             check_cosine_target(input1, input2, target);
             constexpr double kTiny = 1e-12;
             int64_t dim = target.dim();
             Tensor square1 = sum(input1 * input1, Dims{dim}) + kTiny;
             Tensor square2 = sum(input2 * input2, Dims{dim}) + kTiny;
             Tensor cosine = sum(input1 * input2, Dims{dim}) / sqrt(square1 * square2);
             Tensor alike = where(target == 1, 1 - cosine, 0);
             Tensor apart = where(target == -1, clamp_min(cosine - margin, 0), 0);
             return reduced(alike + apart, reduction);
           })
        .shown(Shown::as_function)
        .samples([] {
          return each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({3, 2}), sample({3, 2}, -1, 3), signs({3}), Scalar(0.1), reduction};
          });
        });

// ---- triplet_margin_loss

const auto triplet_margin_entry =
    define(triplet_margin_loss,
           "max(0, margin + distance to the positive - distance to the negative).",
           [](const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin,
              double p, double eps, bool swap, const std::string& reduction) {
             check_reduction("triplet_margin_loss", reduction);
             if (anchor.dim() != positive.dim() || anchor.dim() != negative.dim()) {
               fail("triplet_margin_loss: got sizes {}, {} and {}; expected as many dimensions",
                    text(anchor.sizes()), text(positive.sizes()), text(negative.sizes()));
             }
             Tensor near = pairwise_distance(anchor, positive, p, eps);
             Tensor far = pairwise_distance(anchor, negative, p, eps);
             if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps));
             return reduced(clamp_min(near - far + margin, 0), reduction);
           })
        .shown(Shown::as_function)
        .samples([] {
          auto all = each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({3, 2}), sample({3, 2}, -1, 3), sample({3, 2}, -3, 1), Scalar(1.0),
                    Scalar(2.0),    Scalar(1e-6),          Scalar(false),         reduction};
          });
          all.push_back({{sample({3, 2}), sample({3, 2}, -1, 3), sample({3, 2}, -3, 1), Scalar(2.0),
                          Scalar(3.0), Scalar(0.01), Scalar(true)},
                         "swap"});
          return all;
        });

// ---- soft margins: logistic losses

const auto soft_margin_entry =
    define(soft_margin_loss, "log(1 + exp(-target * self)).",
           [](const Tensor& self, const Tensor& target, const std::string& reduction) {
             check_reduction("soft_margin_loss", reduction);
             if (!is_floating(self.dtype())) {
               fail("soft_margin_loss: got {}; convert to a floating dtype", name(self.dtype()));
             }
             return reduced(log1p(exp(-target * self)), reduction);
           })
        .shown(Shown::in_nn)
        .vjp("SoftMarginLossBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = v.in(0), y = v.in(1);
                   Dims sizes = broadcast(x.sizes(), y.sizes(), "soft_margin_loss");
                   return ops::spread(v.grad(), reduction, sizes) * (-y * sigmoid(-y * x));
                 }),
             wrt(1, saves::nothing,
                 [](const Vjp&, const std::string&) {
                   return ops::not_differentiable("soft_margin_loss", "target");
                 }))
        .out()
        .samples([] {
          return each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({2, 3}), signs({2, 3}), reduction};
          });
        });

const auto multilabel_soft_margin_entry =
    define(multilabel_soft_margin_loss, "The mean over the classes of the logistic losses of each.",
           [](const Tensor& input, const Tensor& target, const Tensor& weight,
              const std::string& reduction) {
             check_reduction("multilabel_soft_margin_loss", reduction);
             Tensor losses = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input));
             if (weight.defined()) losses = losses * weight;
             Tensor classes = ops::number_of(input.dim_size(-1));
             return reduced(sum(losses, Dims{-1}) / classes, reduction);
           })
        .shown(Shown::in_nn)
        .samples([] {
          auto all = each_reduction([](std::string reduction) -> std::vector<ir::Value> {
            return {sample({2, 3}), sample({2, 3}, 0, 1), ir::Value(), reduction};
          });
          all.push_back({{sample({2, 3}), sample({2, 3}, 0, 1), sample({3}, 0.5, 2)}, "weight"});
          return all;
        });

}  // namespace
}  // namespace fg
