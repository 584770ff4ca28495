// Connectionist temporal classification: the probability that a sequence of distributions spells a
// target, over all ways to place its labels with blanks between and repeats around them.
#pragma once

#include <cstdint>

namespace fg::kernels {

// One sample. log_probs[t * step + c] with c below `classes`; target[0 ... labels).
template <class T>
struct CtcSample {
  const T* log_probs;
  int64_t step, times, classes, blank;
  const int64_t* target;
  int64_t labels;
};

// -log of the probability; infinite where no placement fits.
template <class T>
T ctc_loss(const CtcSample<T>& sample);
// out[t * step + c] = grad * derivative, for log_probs that come from log_softmax as in PyTorch: it
// adds their own exp, which sums to the same in every row.
template <class T>
void ctc_gradient(const CtcSample<T>& sample, T grad, T* out);

}  // namespace fg::kernels
