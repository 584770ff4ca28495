// Losses of classes: nll_loss and cross_entropy.
#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/reroute.h"
#include "ops/entry.h"
#include "ops/index/index.h"
#include "ops/kernels/strided.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/norm/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ops::check_reduction;

namespace {

// Scores are [C], [N, C] or [N, C, d1, ...]; a target has the same sizes without C.
int64_t class_axis(const Tensor& scores) { return scores.dim() == 1 ? 0 : 1; }

void check_target(const Tensor& self, const Tensor& target, const Tensor& weight) {
  if (self.dim() == 0 || target.dim() != self.dim() - 1) {
    // As PyTorch, which looks at the number of rows first.
    bool rows = self.dim() > 0 && target.dim() > 0 && !(self.sizes()[0] == target.sizes()[0]);
    fail(self.dim() == 0 || rows ? ErrorKind::value : ErrorKind::runtime,
         "nll_loss: the input has sizes {} and the target {}; expected [C], [N, C] or [N, C, d1, "
         "...] and the same without C",
         text(self.sizes()), text(target.sizes()));
  }
  Dims expected = self.sizes();
  expected.erase(static_cast<size_t>(class_axis(self)));
  if (!(target.sizes() == expected)) {
    // As PyTorch: planes are checked by another function than rows.
    fail(self.dim() > 2 ? ErrorKind::runtime : ErrorKind::value,
         "nll_loss: the target has sizes {}; expected {} for an input of sizes {}",
         text(target.sizes()), text(expected), text(self.sizes()));
  }
  if (target.dtype() != kInt64 && target.dtype() != kUInt8) {
    fail("nll_loss: the target is {}; expected class indices of dtype int64", name(target.dtype()));
  }
  Dim classes = self.sizes()[static_cast<size_t>(class_axis(self))];
  if (weight.defined() && !(weight.sizes() == Dims{classes})) {
    fail("nll_loss: the weight has sizes {}; expected one number for each of {} classes",
         text(weight.sizes()), classes.text());
  }
}

void check_classes(const Tensor& target, Dim classes, int64_t ignored) {
  Tensor indices = kernels::as_contiguous(target, kInt64);
  const int64_t* first = indices.data_ptr<int64_t>();
  for (int64_t i = 0; i < indices.numel(); i++) {
    if (first[i] != ignored && (first[i] < 0 || first[i] >= classes.value())) {
      fail(ErrorKind::index, "nll_loss: target {} is out of bounds for {} classes", first[i],
           classes.text());
    }
  }
}

struct ClassParams {
  Dim classes;
  int64_t ignored;
  bool operator==(const ClassParams&) const = default;
};
const Registered checked_classes_p =
    ops::checked<ClassParams, [](const Tensor& target, const ClassParams& p) {
      check_classes(target, p.classes, p.ignored);
    }>("checked_classes");
Tensor checked_target(const Tensor& target, Dim classes, int64_t ignored) {
  if (!target.is_known()) return checked_classes_p.with({classes, ignored}, target);
  check_classes(target, classes, ignored);
  return target;
}

// What a target says, ready for arithmetic.
struct Targets {
  int64_t axis;
  Tensor index;   // with a dimension of size 1 for the classes; 0 where ignored
  Tensor weight;  // of each sample, 0 where ignored
};
Targets read_targets(const Dims& sizes, DType dtype, const Tensor& target, const Tensor& weight,
                     int64_t ignored) {
  int64_t axis = sizes.size() == 1 ? 0 : 1;
  Tensor counts = target != ignored;
  Tensor index = to(where(counts, target, 0), kInt64);
  Tensor weights = to(counts, dtype);
  if (weight.defined()) {
    Tensor chosen = reshape(index_select(to(weight, dtype), 0, flatten(index)), index.sizes());
    weights = where(counts, chosen, 0);
  }
  return {axis, unsqueeze(index, axis), weights};
}

Tensor negative_likelihood(const Tensor& self, const Tensor& target, const Tensor& weight,
                           int64_t ignored, const std::string& reduction) {
  check_reduction("nll_loss", reduction);
  check_target(self, target, weight);
  Tensor checked = checked_target(target, self.dim_size(class_axis(self)), ignored);
  Targets t = read_targets(self.sizes(), self.dtype(), checked, weight, ignored);
  Tensor scores = squeeze(gather(self, t.axis, t.index), t.axis);
  // An ignored sample counts nothing even if its score is infinite.
  Tensor losses = where(t.weight == 0, 0, -scores * t.weight);
  if (reduction == "none") return losses;
  return reduction == "sum" ? sum(losses) : sum(losses) / sum(t.weight);
}
Tensor likelihood_gradient(const Vjp& v, int64_t ignored, const std::string& reduction) {
  Targets t = read_targets(v.sizes(0), v.dtype(0), v.in(1), v.in(2), ignored);
  Tensor slope = -t.weight * v.grad();
  if (reduction == "mean") slope = slope / sum(t.weight);
  // Nothing reaches an ignored sample, not even the NaN of a mean of nothing.
  slope = where(t.weight == 0, 0, slope);
  return gather_backward(unsqueeze(slope, t.axis), v.sizes(0), t.axis, t.index);
}

Samples classes() {
  Samples all;
  for (const char* reduction : {"none", "mean", "sum"}) {
    all.push_back({{sample({4, 3}), sample_indices({4}, 3), ir::Value(), Scalar(-100),
                    std::string(reduction)},
                   reduction});
  }
  all.push_back({{sample({3}), sample_indices({}, 3)}, "one sample"});
  all.push_back({{sample({4, 3}), sample_indices({4}, 3), sample({3}, 0.5, 2), Scalar(1)},
                 "weight and ignore_index",
                 false});
  all.push_back({{sample({2, 3, 2}), sample_indices({2, 2}, 3)}, "further dimensions"});
  return all;
}

constexpr Function<
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
    "reduction='mean') -> Tensor">
    nll_loss2d;
template <Text S>
auto define_likelihood(Function<S> function, const char* documentation, const char* node) {
  return define(function, documentation,
                [](const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignored,
                   const std::string& reduction) {
                  return negative_likelihood(self, target, weight, ignored, reduction);
                })
      .vjp(node,
           wrt(0, saves::shape(0) | saves::in(1) | saves::in(2),
               [](const Vjp& v, int64_t ignored, const std::string& reduction) {
                 return likelihood_gradient(v, ignored, reduction);
               }),
           wrt(2, saves::nothing,
               [](const Vjp&, int64_t, const std::string&) {
                 return ops::not_differentiable("nll_loss", "weight");
               }))
      .out();
}
const auto nll_loss_entry =
    define_likelihood(nll_loss, "The negative log-probability of the target classes.",
                      "NllLossBackward0")
        .shown(Shown::in_nn)
        .samples(classes);
const auto nll_loss2d_entry =
    define_likelihood(nll_loss2d, "As nll_loss, for scores with further dimensions.",
                      "NllLoss2DBackward0")
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({2, 3, 2}), sample_indices({2, 2}, 3)}}}; });
using NllArguments =
    std::tuple<const Tensor&, const Tensor&, const Tensor&, int64_t, const std::string&>;
const bool nll_route =
    ops::reroute(nll_loss, nll_loss2d,
                 [](const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignored,
                    const std::string& reduction) -> std::optional<NllArguments> {
                   if (self.dim() < 3) return std::nullopt;
                   return NllArguments(self, target, weight, ignored, reduction);
                 });

// ---- cross_entropy

Tensor along_classes(const Tensor& weight, const Tensor& scores) {
  Dims sizes(scores.sizes().size(), 1);
  sizes[static_cast<size_t>(class_axis(scores))] = weight.sizes()[0];
  return view(weight, sizes);
}

// Targets are probabilities of the sizes of the scores.
Tensor entropy_of_probabilities(const Tensor& self, Tensor target, const Tensor& weight,
                                const std::string& reduction, double smoothing) {
  int64_t axis = class_axis(self);
  Dim class_count = self.dim_size(axis);
  if (smoothing > 0) {
    Tensor share = full_like(target, smoothing) / ops::number_of(class_count);
    target = target * (1 - smoothing) + share;
  }
  Tensor likelihoods = log_softmax(self, axis) * target;
  if (weight.defined()) likelihoods = likelihoods * along_classes(weight, self);
  if (reduction == "none") return -sum(likelihoods, axis);
  Tensor total = -sum(likelihoods);
  if (reduction == "sum") return total;
  return total / ops::number_of(product(self.sizes()) / class_count);
}

// What label smoothing adds: the loss of equal probabilities.
Tensor smooth_part(const Tensor& scores, const Tensor& target, const Tensor& weight,
                   int64_t ignored, const std::string& reduction) {
  int64_t axis = class_axis(scores);
  Tensor all = weight.defined() ? scores * along_classes(weight, scores) : scores;
  Tensor losses = masked_fill(-sum(all, axis), target == ignored, 0);
  if (reduction == "none") return losses;
  if (reduction == "sum") return sum(losses);
  Targets t = read_targets(scores.sizes(), scores.dtype(), target, weight, ignored);
  return sum(losses) / sum(t.weight);
}
Tensor entropy_of_classes(const Tensor& self, const Tensor& target, const Tensor& weight,
                          int64_t ignored, const std::string& reduction, double smoothing) {
  int64_t axis = class_axis(self);
  Tensor scores = log_softmax(self, axis);
  Tensor loss = nll_loss(scores, target, weight, ignored, reduction);
  if (!(smoothing > 0)) return loss;
  Tensor smooth = smooth_part(scores, target, weight, ignored, reduction);
  return loss * (1 - smoothing) + smooth * smoothing / ops::number_of(self.dim_size(axis));
}

const auto cross_entropy_entry =
    define(cross_entropy,
           "log_softmax over the classes, then nll_loss; targets may be probabilities.",
           [](const Tensor& self, const Tensor& target, const Tensor& weight, int64_t ignored,
              const std::string& reduction, double smoothing) {
             check_reduction("cross_entropy", reduction);
             if (smoothing < 0 || smoothing > 1) {
               fail("cross_entropy: label_smoothing must be between 0 and 1, but is {}", smoothing);
             }
             if (self.sizes() == target.sizes() && target.is_floating_point()) {
               if (ignored >= 0) {
                 fail(
                     "cross_entropy: ignore_index is {}, which probabilities as targets do not "
                     "have; leave it out",
                     ignored);
               }
               return entropy_of_probabilities(self, target, weight, reduction, smoothing);
             }
             return entropy_of_classes(self, target, weight, ignored, reduction, smoothing);
           })
        .shown(Shown::in_nn)
        .samples([] {
          Samples all = classes();
          all.push_back({{sample({4, 3}), sample_indices({4}, 3), sample({3}, 0.5, 2), Scalar(1),
                          std::string("mean"), Scalar(0.2)},
                         "label smoothing",
                         false});
          all.push_back({{sample({4, 3}), sample({4, 3}, 0.1, 0.6), ir::Value(), Scalar(-100),
                          std::string("mean"), Scalar(0.2)},
                         "probabilities"});
          return all;
        });

}  // namespace
}  // namespace fg
