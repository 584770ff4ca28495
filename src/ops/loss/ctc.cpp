// The loss of sequences whose labels have no times: ctc_loss.
#include <cmath>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/loss/ctc_kernel.h"
#include "ops/loss/loss.h"
#include "ops/loss/loss_reduction.h"
#include "ops/norm/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace {

struct CtcParams {
  int64_t blank = 0;
  bool zero_infinity = false;
  bool operator==(const CtcParams&) const = default;
};

// The operands as numbers, after a look at them: what a kernel reads must be there.
struct Batch {
  Tensor log_probs, targets, times, labels;
  std::vector<int64_t> begin;  // of each target

  Batch(const Operands& inputs, size_t first)
      : log_probs(kernels::as_contiguous(*inputs[first])),
        targets(kernels::as_contiguous(*inputs[first + 1], kInt64)),
        times(kernels::as_contiguous(*inputs[first + 2], kInt64)),
        labels(kernels::as_contiguous(*inputs[first + 3], kInt64)) {
    int64_t at = 0;
    for (int64_t n = 0; n < size(); n++) {
      begin.push_back(at);
      at += targets.dim() == 2 ? targets.sizes()[1].value() : label_count(n);
      check(n, at);
    }
    if (targets.dim() == 1 && at != targets.numel()) {
      fail("ctc_loss: the target lengths sum to {} and there are {} targets; expected the same", at,
           targets.numel());
    }
  }
  int64_t size() const { return log_probs.sizes()[1].value(); }
  int64_t classes() const { return log_probs.sizes()[2].value(); }
  int64_t label_count(int64_t n) const { return labels.data_ptr<int64_t>()[n]; }
  int64_t time_count(int64_t n) const { return times.data_ptr<int64_t>()[n]; }

  void check(int64_t n, int64_t end) const {
    int64_t most = log_probs.sizes()[0].value();
    if (time_count(n) < 0 || time_count(n) > most) {
      fail("ctc_loss: input length {} of sample {} is not in 0 ... {}", time_count(n), n, most);
    }
    int64_t room = targets.dim() == 2 ? targets.sizes()[1].value() : targets.numel();
    if (label_count(n) < 0 || label_count(n) > room || end > targets.numel()) {
      fail("ctc_loss: target length {} of sample {} is more than the {} targets there are",
           label_count(n), n, room);
    }
    for (int64_t i = 0; i < label_count(n); i++) {
      int64_t label = targets.data_ptr<int64_t>()[begin[n] + i];
      if (label >= 0 && label < classes()) continue;
      fail("ctc_loss: target {} of sample {} is none of {} classes", label, n, classes());
    }
  }
  template <class T>
  kernels::CtcSample<T> sample(int64_t n, int64_t blank) const {
    return {log_probs.data_ptr<T>() + n * classes(),
            size() * classes(),
            time_count(n),
            classes(),
            blank,
            targets.data_ptr<int64_t>() + begin[n],
            label_count(n)};
  }
};

template <class F>
void each_sample(const Batch& batch, F f) {
  pool::parallel_for(batch.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; n++) f(n);
  });
}
template <class F>
void with_float(DType dtype, F f) {
  if (dtype == kFloat32)
    f(float{});
  else
    f(double{});
}

void evaluate_loss(Operands inputs, const CtcParams& p, Tensor* out) {
  Batch batch(inputs, 0);
  with_float(batch.log_probs.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_sample(batch, [&](int64_t n) {
      out[0].data_ptr<T>()[n] = kernels::ctc_loss(batch.sample<T>(n, p.blank));
    });
  });
}
void evaluate_gradient(Operands inputs, const CtcParams& p, Tensor* out) {
  Batch batch(inputs, 2);
  Tensor grad = kernels::as_contiguous(*inputs[0]), loss = kernels::as_contiguous(*inputs[1]);
  with_float(batch.log_probs.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(out[0].data_ptr<T>(), out[0].numel(), T(0));
    each_sample(batch, [&](int64_t n) {
      if (p.zero_infinity && std::isinf(loss.data_ptr<T>()[n])) return;
      kernels::ctc_gradient(batch.sample<T>(n, p.blank), grad.data_ptr<T>()[n],
                            out[0].data_ptr<T>() + n * batch.classes());
    });
  });
}

void require_batch(Operands inputs, size_t first, const CtcParams& p) {
  const Dims& sizes = inputs[first]->sizes();
  DType dtype = inputs[first]->dtype();
  bool usable = sizes.size() == 3 && (dtype == kFloat32 || dtype == kFloat64);
  usable = usable && p.blank >= 0 && p.blank < sizes[2];
  size_t rank = inputs[first + 1]->sizes().size();
  usable = usable && (rank == 1 || (rank == 2 && inputs[first + 1]->sizes()[0] == sizes[1]));
  for (size_t i = 1; i < 4; i++) usable = usable && is_integral(inputs[first + i]->dtype());
  for (size_t i = 2; usable && i < 4; i++) usable = inputs[first + i]->sizes() == Dims{sizes[1]};
  for (size_t i = 0; usable && i < first; i++) {
    usable = inputs[i]->sizes() == Dims{sizes[1]} && inputs[i]->dtype() == dtype;
  }
  ops::demand(usable, "ctc_loss", "[times, n, classes], targets and two lengths per sample");
}

const Registered ctc_backward_p =
    ops::plain_primitive<CtcParams,
                         [](Operands inputs, const CtcParams&, Meta* out) {
                           out[0] = {inputs[2]->sizes(), inputs[2]->dtype()};
                         },
                         evaluate_gradient>("ctc_loss_backward", Kind::extern_call, "tttttt")
        .requiring<[](Operands inputs, const CtcParams& p) { require_batch(inputs, 2, p); }>()
        .raising()
        .without_gradient("it is a second derivative, which PyTorch does not have either");
const Registered ctc_p =
    ops::plain_primitive<CtcParams,
                         [](Operands inputs, const CtcParams&, Meta* out) {
                           out[0] = {Dims{inputs[0]->sizes()[1]}, inputs[0]->dtype()};
                         },
                         evaluate_loss>("ctc_loss", Kind::extern_call, "tttt")
        .requiring<[](Operands inputs, const CtcParams& p) { require_batch(inputs, 0, p); }>()
        .raising()
        .vjp("CtcLossBackward0",
             wrt(0, saves::in(0) | saves::in(1) | saves::in(2) | saves::in(3) | saves::out(),
                 [](const Vjp& v, const CtcParams& p) {
                   return ctc_backward_p.with(p, v.grad(), v.out(), v.in(0), v.in(1), v.in(2),
                                              v.in(3));
                 }));

void check_arguments(const Tensor& log_probs, const Tensor& targets, const Tensors& lengths,
                     int64_t blank) {
  const Dims& sizes = log_probs.sizes();
  if (log_probs.dtype() != kFloat32 && log_probs.dtype() != kFloat64) {
    fail(ErrorKind::not_implemented, "ctc_loss: not implemented for {}; convert to float32",
         name(log_probs.dtype()));
  }
  for (const Tensor& each : {targets, lengths[0], lengths[1]}) {
    if (is_floating(each.dtype()) || each.dtype() == kBool) {
      fail("ctc_loss: targets and lengths must be integers, got {}", name(each.dtype()));
    }
  }
  if (blank < 0 || sizes[2] <= blank) {
    fail("ctc_loss: blank {} is none of {} classes", blank, sizes[2].text());
  }
  bool rows = targets.dim() == 2 && targets.sizes()[0] == sizes[1];
  if (!rows && targets.dim() != 1) {
    fail("ctc_loss: the targets have sizes {}; expected [{}, length], or all targets in one row",
         text(targets.sizes()), sizes[1].text());
  }
  for (const Tensor& length : lengths) {
    if (length.sizes() == Dims{sizes[1]}) continue;
    fail("ctc_loss: lengths have sizes {}; expected one for each of {} samples",
         text(length.sizes()), sizes[1].text());
  }
}

const auto ctc_loss_entry =
    define(ctc_loss,
           "-log of the probability that log_probs [times, n, classes] spell the targets.",
           [](const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
              const Tensor& target_lengths, int64_t blank, const std::string& reduction,
              bool zero_infinity) {
             ops::check_reduction("ctc_loss", reduction);
             bool single = log_probs.dim() == 2;
             if (!single && log_probs.dim() != 3) {
               fail("ctc_loss: log_probs have sizes {}; expected [times, n, classes]",
                    text(log_probs.sizes()));
             }
             Tensor x = single ? unsqueeze(log_probs, 1) : log_probs;
             Tensor times = single ? reshape(input_lengths, {-1}) : input_lengths;
             Tensor labels = single ? reshape(target_lengths, {-1}) : target_lengths;
             check_arguments(x, targets, {times, labels}, blank);
             Tensor losses = ctc_p.with({blank, zero_infinity}, x, to(targets, kInt64),
                                        to(times, kInt64), to(labels, kInt64));
             if (zero_infinity) losses = where(losses == __builtin_inf(), 0, losses);
             if (reduction == "mean") {
               return mean(losses / clamp_min(to(labels, losses.dtype()), 1));
             }
             if (reduction == "sum") return sum(losses);
             return single ? squeeze(losses, 0) : losses;
           })
        .shown(Shown::as_function)
        .samples([] {
          Tensor x = log_softmax(sample({6, 2, 4}), -1);
          Tensor targets = tensor(std::vector<int64_t>{1, 2, 3, 3, 1, 0}, kInt64);
          Tensor times = tensor(std::vector<int64_t>{6, 5}, kInt64);
          Tensor labels = tensor(std::vector<int64_t>{3, 2}, kInt64);
          Tensor twos = tensor(std::vector<int64_t>{2, 2}, kInt64);
          Samples all;
          for (const char* reduction : {"none", "mean", "sum"}) {
            all.push_back(
                {{x, reshape(targets, {2, 3}), times, labels, Scalar(0), std::string(reduction)},
                 reduction,
                 false,  // the gradient is that of log_softmax before it
                 false});
          }
          all.push_back({{x, slice(targets, 0, Dim(0), Dim(4)), times, twos, Scalar(0),
                          std::string("none"), Scalar(true)},
                         "in one row",
                         false,
                         false});
          return all;
        });

}  // namespace
}  // namespace fg
