// Margins between the score of each target class and all other classes.
#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/entry.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/kernels/strided.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/scan.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;
using ops::check_reduction;

namespace {

void check_scores(const char* who, const Tensor& self, const Tensor& target) {
  if (self.dim() > 2 || (self.dim() > 0 && self.sizes().back() == 0)) {
    fail("{}: the input has sizes {}; expected [C] or [N, C] with at least one class", who,
         text(self.sizes()));
  }
  if (self.dtype() != kFloat32 && self.dtype() != kFloat64) {
    fail(ErrorKind::not_implemented, "{}: not implemented for {}; convert to a floating dtype", who,
         name(self.dtype()));
  }
  if (target.dtype() != kInt64) {
    fail("{}: the target is {}; expected class indices of dtype int64", who, name(target.dtype()));
  }
}
// A matrix of scores, [N, C].
Tensor matrix(const Tensor& self) {
  if (self.dim() == 2) return self;
  return reshape(self, {1, self.dim() == 0 ? Dim(1) : self.sizes()[0]});
}
Tensor class_numbers(Dim classes) { return ops::numbered({classes}) - 1; }

// The gradient of each sample's loss as a column.
Tensor column(const Tensor& grad, const std::string& reduction, Dim rows) {
  Tensor each = ops::spread(grad, reduction, {rows});
  return expand(reshape(each, {each.dim() == 0 ? Dim(1) : product(each.sizes()), 1}), {rows, 1});
}
// Losses of rows, reduced; unreduced they have the sizes that PyTorch gives them.
Tensor result_of(const Tensor& losses, const std::string& reduction, const Dims& sizes) {
  return reduction == "none" ? reshape(losses, sizes) : ops::reduced(losses, reduction);
}

// ---- one class per sample

void check_target(const Tensor& self, const Tensor& target, const Tensor& weight) {
  check_scores("multi_margin_loss", self, target);
  Dim rows = self.dim() == 2 ? self.sizes()[0] : Dim(1);
  if (target.dim() > 1 || !(product(target.sizes()) == rows)) {
    fail("multi_margin_loss: the target has sizes {}; expected one class for each of {} samples",
         text(target.sizes()), rows.text());
  }
  Dim classes = self.dim() == 0 ? Dim(1) : self.sizes().back();
  if (weight.defined() && !(weight.sizes() == Dims{classes})) {
    fail("multi_margin_loss: the weight has sizes {}; expected one number for each of {} classes",
         text(weight.sizes()), classes.text());
  }
}

// How far each score comes too near to that of the target: x - x[target] + margin.
struct Excess {
  Excess(const Tensor& self, const Tensor& target, const Tensor& weight, double margin) {
    Tensor x = matrix(self), index = reshape(target, {x.sizes()[0], 1});
    classes = x.sizes()[1];
    is_target = class_numbers(classes) == index;
    value = x - gather(x, 1, index) + margin;
    if (!weight.defined()) return;
    scale = reshape(index_select(to(weight, self.dtype()), 0, flatten(index)), index.sizes());
  }
  Tensor weighted(const Tensor& losses) const {
    return (scale.defined() ? losses * scale : losses) / ops::number_of(classes);
  }
  Dim classes = 0;
  Tensor value, is_target, scale;
};

bool is_square(const Scalar& p) {
  double power = p.to_double();
  if (power != 1 && power != 2) {
    fail(ErrorKind::value, "multi_margin_loss: p is {}; expected 1 or 2", p.text());
  }
  return power == 2;
}

const auto multi_margin_entry =
    define(multi_margin_loss,
           "The mean over other classes of max(0, margin - self[target] + self[class])^p.",
           [](const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
              const Tensor& weight, const std::string& reduction) {
             check_reduction("multi_margin_loss", reduction);
             bool square = is_square(p);
             check_target(self, target, weight);
             Excess excess(self, target, weight, margin.to_double());
             Tensor over = where(excess.is_target, 0, clamp_min(excess.value, 0));
             Tensor losses = sum(excess.weighted(square ? over * over : over), Dims{1});
             return result_of(losses, reduction, target.sizes());
           })
        .shown(Shown::in_nn)
        .vjp("MultiMarginLossBackward0",
             wrt(0, saves::in(0) | saves::in(1) | saves::in(2),
                 [](const Vjp& v, const Scalar& p, const Scalar& margin,
                    const std::string& reduction) {
                   Tensor x = v.in(0);
                   Excess excess(x, v.in(1), v.in(2), margin.to_double());
                   Tensor slope = is_square(p) ? excess.value * 2 : ones_like(excess.value);
                   Tensor over = logical_and(excess.value > 0, logical_not(excess.is_target));
                   Tensor grad = excess.weighted(where(over, slope, 0)) *
                                 column(v.grad(), reduction, slope.sizes()[0]);
                   Tensor to_target = where(excess.is_target, -sum(grad, Dims{1}, true), 0);
                   return reshape(grad + to_target, x.sizes());
                 }),
             wrt(2, saves::nothing,
                 [](const Vjp&, const Scalar&, const Scalar&, const std::string&) {
                   return ops::not_differentiable("multi_margin_loss", "weight");
                 }))
        .out()
        .samples([] {
          Samples all;
          for (const char* reduction : {"none", "mean", "sum"}) {
            all.push_back({{sample({4, 3}), sample_indices({4}, 3), Scalar(1), Scalar(0.9),
                            ir::Value(), std::string(reduction)},
                           reduction});
          }
          all.push_back(
              {{sample({4, 3}), sample_indices({4}, 3), Scalar(2), Scalar(1), sample({3}, 0.5, 2)},
               "squares and weights",
               false});
          all.push_back({{sample({4, 3}), sample_indices({4}, 3), Scalar(2)}, "squares"});
          all.push_back({{sample({3}), sample_indices({}, 3), Scalar(1), Scalar(0.9)}, "one"});
          return all;
        });

// ---- several classes per sample

void check_labels(const Tensor& target, Dim classes) {
  Tensor dense = kernels::as_contiguous(target, kInt64);
  const int64_t* first = dense.data_ptr<int64_t>();
  for (int64_t i = 0; i < dense.numel(); i++) {
    if (first[i] >= -1 && first[i] < classes.value()) continue;
    fail("multilabel_margin_loss: target {} is none of {} classes, and not -1", first[i],
         classes.text());
  }
}
struct LabelParams {
  Dim classes;
  bool operator==(const LabelParams&) const = default;
};
const Registered checked_labels_p =
    ops::checked<LabelParams, [](const Tensor& target, const LabelParams& p) {
      check_labels(target, p.classes);
    }>("checked_labels");

// The classes of each sample, and which pairs of a target and another class count.
struct Labels {
  Labels(const Tensor& x, const Tensor& target) {
    Tensor given = matrix(target);
    Tensor valid = cumprod(to(given >= 0, kInt64), 1) > 0;
    index = where(valid, given, 0);
    Tensor none = zeros(x.sizes(), kInt64);
    Tensor member = scatter_add(none, 1, index, to(valid, kInt64)) > 0;
    pairs = logical_and(unsqueeze(valid, 2), logical_not(unsqueeze(member, 1)));
    value = 1 - unsqueeze(gather(x, 1, index), 2) + unsqueeze(x, 1);
  }
  Tensor index;         // [N, targets]
  Tensor pairs, value;  // [N, targets, classes]: 1 - x[target] + x[class]
};

const auto multilabel_margin_entry =
    define(multilabel_margin_loss,
           "The sum over targets and other classes of max(0, 1 - self[target] + self[class]) / C.",
           [](const Tensor& self, const Tensor& target, const std::string& reduction) {
             check_reduction("multilabel_margin_loss", reduction);
             check_scores("multilabel_margin_loss", self, target);
             if (!(self.sizes() == target.sizes())) {
               fail(
                   "multilabel_margin_loss: the target has sizes {} and the input {}; expected "
                   "the same",
                   text(target.sizes()), text(self.sizes()));
             }
             Tensor x = matrix(self), checked = target;
             if (target.is_known()) {
               check_labels(target, x.sizes()[1]);
             } else {
               checked = checked_labels_p.with({x.sizes()[1]}, target);
             }
             Labels labels(x, checked);
             Tensor over = where(labels.pairs, clamp_min(labels.value, 0), 0);
             Tensor losses = sum(over, Dims{1, 2}) / ops::number_of(x.sizes()[1]);
             return result_of(losses, reduction, self.dim() == 2 ? Dims{self.sizes()[0]} : Dims{});
           })
        .shown(Shown::in_nn)
        .vjp("MultilabelMarginLossBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const std::string& reduction) {
                   Tensor x = matrix(v.in(0));
                   Labels labels(x, v.in(1));
                   Tensor over = logical_and(labels.pairs, labels.value > 0);
                   Tensor share =
                       column(v.grad(), reduction, x.sizes()[0]) / ops::number_of(x.sizes()[1]);
                   Tensor grad = to(over, x.dtype()) * unsqueeze(share, 2);
                   Tensor result =
                       scatter_add(sum(grad, Dims{1}), 1, labels.index, -sum(grad, Dims{2}));
                   return reshape(result, v.in(0).sizes());
                 }))
        .out()
        .samples([] {
          Tensor target = tensor(std::vector<int64_t>{2, 0, -1, 1, 3, -1, 0, 0}, kInt64);
          Samples all;
          for (const char* reduction : {"none", "mean", "sum"}) {
            all.push_back(
                {{sample({2, 4}), reshape(target, {2, 4}), std::string(reduction)}, reduction});
          }
          all.push_back({{sample({4}), slice(target, 0, Dim(0), Dim(4))}, "one sample"});
          return all;
        });

}  // namespace
}  // namespace fg
