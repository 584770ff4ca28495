// Losses of regression; those of classes are in loss_binary.cpp and loss_classes.cpp.
#include "ops/loss/loss.h"

#include "base/fail.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/loss/loss_reduction.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"

namespace fg {

namespace ops {

void check_reduction(const char* who, const std::string& reduction) {
  if (reduction == "none" || reduction == "mean" || reduction == "sum") return;
  fail(ErrorKind::value, "{}: '{}' is not a valid value for reduction; use 'none', 'mean' or 'sum'",
       who, reduction);
}

Tensor reduced(const Tensor& losses, const std::string& reduction) {
  if (reduction == "none") return losses;
  return reduction == "sum" ? sum(losses) : mean(losses);
}

Tensor spread(const Tensor& grad, const std::string& reduction, const Dims& sizes) {
  return reduction == "mean" ? grad / number_of(product(sizes)) : grad;
}

Tensor not_differentiable(const char* who, const char* argument) {
  fail("{} is not differentiable with respect to {}; detach it", who, argument);
}

}  // namespace ops

using namespace ops::entry;
using ops::check_reduction;
using ops::reduced;

namespace {

Tensor spread(const Tensor& grad, const std::string& reduction, const Tensor& a, const Tensor& b) {
  return ops::spread(grad, reduction, broadcast(a.sizes(), b.sizes(), "loss"));
}

constexpr auto kBoth = saves::in(0) | saves::in(1);
constexpr auto kAll = saves::in(0) | saves::in(1) | saves::in(2);
constexpr const char* kNone = "none";  // of the primitives: a loss per element

Samples reductions() {
  Samples all;
  for (const char* reduction : {"none", "mean", "sum"}) {
    all.push_back({{sample({2, 3}), sample({2, 3}, -1, 3), std::string(reduction)}, reduction});
  }
  all.push_back({{sample({2, 3}), sample({3}, -1, 3)}, "broadcast"});
  return all;
}
Samples backward_reductions() {
  return {{{sample({2, 3}), sample({2, 3}), sample({2, 3}, -1, 3), std::string("none")}},
          {{sample({}), sample({2, 3}), sample({2, 3}, -1, 3), std::string("mean")}, "mean"}};
}

// ---- squares

const Registered mse_p =
    elementwise<Types::floating_only, 2>("squared_error",
                                         [](auto x, auto y) FG_INLINED {
                                           auto d = x - y;
                                           return d * d;
                                         })
        .vjp("MseLossBackward0",
             wrt(0, kBoth,
                 [](const Vjp& v) { return mse_loss_backward(v.grad(), v.in(0), v.in(1), kNone); }),
             wrt(1, kBoth, [](const Vjp& v) {
               return mse_loss_backward(v.grad(), v.in(1), v.in(0), kNone);
             }));
Tensor mse_second(const Vjp& v, const std::string& reduction, double bend) {
  return ops::spread(v.grad() * v.in(0) * bend, reduction, v.grad().sizes());
}
const Registered mse_backward_p =
    elementwise<Types::floating_only, 3>("squared_error_backward",
                                         [](auto grad, auto x, auto y)
                                             FG_INLINED { return 2 * (x - y) * grad; })
        .linear_in({0}, {1, 2})
        .vjp("MseLossBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v) { return mse_loss_backward(v.grad(), v.in(1), v.in(2), kNone); }),
             wrt(1, saves::in(0), [](const Vjp& v) { return mse_second(v, kNone, 2); }),
             wrt(2, saves::in(0), [](const Vjp& v) { return mse_second(v, kNone, -2); }));

const auto mse_loss_entry =
    define(mse_loss, "The squared error.",
           [](const Tensor& self, const Tensor& target, const std::string& reduction) {
             check_reduction("mse_loss", reduction);
             return reduced(mse_p(self, target), reduction);
           })
        .shown(Shown::in_nn)
        .vjp("MseLossBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const std::string& reduction) {
                   return mse_loss_backward(v.grad(), v.in(0), v.in(1), reduction);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const std::string& reduction) {
                   return mse_loss_backward(v.grad(), v.in(1), v.in(0), reduction);
                 }))
        .out()
        .samples(reductions);
const auto mse_loss_backward_entry =
    define(mse_loss_backward, "The gradient of mse_loss.",
           [](const Tensor& grad, const Tensor& self, const Tensor& target,
              const std::string& reduction) {
             return mse_backward_p(spread(grad, reduction, self, target), self, target);
           })
        .shown(Shown::nowhere)
        .vjp("MseLossBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v, const std::string& reduction) {
                   return mse_loss_backward(v.grad(), v.in(1), v.in(2), reduction);
                 }),
             wrt(1, saves::in(0),
                 [](const Vjp& v, const std::string& reduction) {
                   return mse_second(v, reduction, 2);
                 }),
             wrt(2, saves::in(0),
                 [](const Vjp& v, const std::string& reduction) {
                   return mse_second(v, reduction, -2);
                 }))
        .samples(backward_reductions);

const auto l1_loss_entry =
    define(l1_loss, "The absolute error.",
           [](const Tensor& self, const Tensor& target, const std::string& reduction) {
             check_reduction("l1_loss", reduction);
             return reduced(abs(self - target), reduction);
           })
        .shown(Shown::in_nn)
        .samples(reductions);

// ---- huber, smooth_l1: z^2 / (2 divisor) for z = |x - y| < width, slope * (z - width / 2) beyond

struct Bowl {
  double width, slope, divisor;
  bool operator==(const Bowl&) const = default;
};
// The gradient of the gradient with respect to self.
Tensor bowl_bend(const Vjp& v, const std::string& reduction, const Bowl& p) {
  Tensor inside = abs(v.in(1) - v.in(2)) < p.width;
  Tensor bend = where(inside, v.grad() * v.in(0) / p.divisor, 0);
  return ops::spread(bend, reduction, bend.sizes());
}
Tensor bowl_gradient(const Bowl& p, const Tensor& grad, const Tensor& x, const Tensor& y);
const Registered bowl_p =
    elementwise<Types::floating_only, 2, Bowl>(
        "huber",
        [](auto x, auto y, const Bowl& p) FG_INLINED {
          auto z = ir::float_abs(x - y);
          return ir::select(z < p.width, 0.5 * z * z / p.divisor, p.slope * (z - 0.5 * p.width));
        })
        .vjp("HuberLossBackward0",
             wrt(0, kBoth,
                 [](const Vjp& v, const Bowl& p) {
                   return bowl_gradient(p, v.grad(), v.in(0), v.in(1));
                 }),
             wrt(1, kBoth, [](const Vjp& v, const Bowl& p) {
               return bowl_gradient(p, v.grad(), v.in(1), v.in(0));
             }));
const Registered bowl_backward_p =
    elementwise<Types::floating_only, 3, Bowl>(
        "huber_backward",
        [](auto grad, auto x, auto y, const Bowl& p) FG_INLINED {
          auto d = x - y;
          auto inside = ir::float_abs(d) < p.width;
          auto outside = ir::select(d == d, p.slope * ir::sign(d), d);  // NaN stays NaN
          return grad * ir::select(inside, d / p.divisor, outside);
        })
        .linear_in({0})
        .vjp("HuberLossBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v, const Bowl& p) {
                   return bowl_gradient(p, v.grad(), v.in(1), v.in(2));
                 }),
             wrt(1, kAll, [](const Vjp& v, const Bowl& p) { return bowl_bend(v, kNone, p); }),
             wrt(2, kAll, [](const Vjp& v, const Bowl& p) { return -bowl_bend(v, kNone, p); }));
Tensor bowl_gradient(const Bowl& p, const Tensor& grad, const Tensor& x, const Tensor& y) {
  return bowl_backward_p.with(p, grad, x, y);
}

Samples bowl_gradients() {
  return {
      {{sample({2, 3}), sample({2, 3}), sample({2, 3}, -1, 3), std::string("none"), Scalar(0.7)}},
      {{sample({}), sample({2, 3}), sample({2, 3}, -1, 3), std::string("mean"), Scalar(0.7)},
       "mean"}};
}

Bowl smooth_l1_bowl(double beta) { return {beta, 1, beta}; }
Bowl huber_bowl(double delta) { return {delta, delta, 1}; }

const auto smooth_l1_loss_entry =
    define(smooth_l1_loss, "Half the squared error over beta below beta, the absolute one above.",
           [](const Tensor& self, const Tensor& target, const std::string& reduction, double beta) {
             check_reduction("smooth_l1_loss", reduction);
             if (!(beta >= 0)) fail("smooth_l1_loss: beta must not be negative, but is {}", beta);
             return reduced(bowl_p.with(smooth_l1_bowl(beta), self, target), reduction);
           })
        .shown(Shown::in_nn)
        .vjp("SmoothL1LossBackward0",
             wrt(0, kBoth,
                 [](const Vjp& v, const std::string& reduction, double beta) {
                   return smooth_l1_loss_backward(v.grad(), v.in(0), v.in(1), reduction, beta);
                 }),
             wrt(1, kBoth,
                 [](const Vjp& v, const std::string& reduction, double beta) {
                   return smooth_l1_loss_backward(v.grad(), v.in(1), v.in(0), reduction, beta);
                 }))
        .out()
        .samples(reductions);
const auto smooth_l1_loss_backward_entry =
    define(smooth_l1_loss_backward, "The gradient of smooth_l1_loss.",
           [](const Tensor& grad, const Tensor& self, const Tensor& target,
              const std::string& reduction, double beta) {
             return bowl_backward_p.with(smooth_l1_bowl(beta),
                                         spread(grad, reduction, self, target), self, target);
           })
        .shown(Shown::nowhere)
        .vjp("SmoothL1LossBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v, const std::string& reduction, double beta) {
                   return smooth_l1_loss_backward(v.grad(), v.in(1), v.in(2), reduction, beta);
                 }),
             wrt(1, kAll,
                 [](const Vjp& v, const std::string& reduction, double beta) {
                   return bowl_bend(v, reduction, smooth_l1_bowl(beta));
                 }),
             wrt(2, kAll,
                 [](const Vjp& v, const std::string& reduction, double beta) {
                   return -bowl_bend(v, reduction, smooth_l1_bowl(beta));
                 }))
        .samples(bowl_gradients);
const auto huber_loss_entry =
    define(
        huber_loss, "Half the squared error below delta, straight with slope delta above.",
        [](const Tensor& self, const Tensor& target, const std::string& reduction, double delta) {
          check_reduction("huber_loss", reduction);
          if (!(delta > 0)) fail("huber_loss: delta must be positive, but is {}", delta);
          return reduced(bowl_p.with(huber_bowl(delta), self, target), reduction);
        })
        .shown(Shown::in_nn)
        .vjp("HuberLossBackward0",
             wrt(0, kBoth,
                 [](const Vjp& v, const std::string& reduction, double delta) {
                   return huber_loss_backward(v.grad(), v.in(0), v.in(1), reduction, delta);
                 }),
             wrt(1, kBoth,
                 [](const Vjp& v, const std::string& reduction, double delta) {
                   return huber_loss_backward(v.grad(), v.in(1), v.in(0), reduction, delta);
                 }))
        .out()
        .samples(reductions);
const auto huber_loss_backward_entry =
    define(huber_loss_backward, "The gradient of huber_loss.",
           [](const Tensor& grad, const Tensor& self, const Tensor& target,
              const std::string& reduction, double delta) {
             return bowl_backward_p.with(huber_bowl(delta), spread(grad, reduction, self, target),
                                         self, target);
           })
        .shown(Shown::nowhere)
        .vjp("HuberLossBackwardBackward0",
             wrt(0, saves::in(1) | saves::in(2),
                 [](const Vjp& v, const std::string& reduction, double delta) {
                   return huber_loss_backward(v.grad(), v.in(1), v.in(2), reduction, delta);
                 }),
             wrt(1, kAll,
                 [](const Vjp& v, const std::string& reduction, double delta) {
                   return bowl_bend(v, reduction, huber_bowl(delta));
                 }),
             wrt(2, kAll,
                 [](const Vjp& v, const std::string& reduction, double delta) {
                   return -bowl_bend(v, reduction, huber_bowl(delta));
                 }))
        .samples(bowl_gradients);

}  // namespace
}  // namespace fg
