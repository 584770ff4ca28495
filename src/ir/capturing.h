// The capture that runs on this thread, as ops and autograd see it: questions that no other
// interpreter is asked. `is_capturing()` (tensor/modes.h) says whether there is one.
#pragma once

#include "tensor/tensor.h"

namespace fg::ir {

class Capturing {
 public:
  // The tensor of the graph that stands for one from outside.
  virtual Tensor stand_in(const Tensor& tensor) = 0;
  // A program asks for a property of `tensor`, not for its elements: refuses where the answer may
  // be another one at the next call.
  virtual void asked(const Tensor& tensor, const char* what) = 0;
  // Numbers of unknown value: the symbol for the element that a tensor will hold, the tensor that
  // stands for a symbol, and the refusal of a question for the value.
  virtual Scalar symbol_of(const Tensor& number) = 0;
  virtual Tensor symbol_tensor(uint32_t symbol) = 0;
  virtual void symbol_asked(uint32_t symbol) = 0;
  // A tensor is about to take the layout of a view of itself: t_(), squeeze_().
  virtual void reshaping(const Tensor& self, const Tensor& view) = 0;
  // A backward reads a value that was saved for it.
  virtual void unpacked(const Tensor& saved) = 0;

 protected:
  ~Capturing() = default;
};

}  // namespace fg::ir
