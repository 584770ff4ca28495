#include "ir/gradient.h"

#include "base/fail.h"

namespace fg::ir {

ShapeOf shape_of(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  bool transposed = impl.sizes.size() == 2 && !impl.contiguous && impl.strides[0] == 1;
  return {impl.sizes, impl.dtype, transposed};
}

// A rule that reads what it did not declare would work only when another rule happens to save it.
void Vjp::check(uint32_t allowed, int index, const char* what) const {
  if (allowed >> index & 1) return;
  fail(ErrorKind::internal, "{}: a gradient rule reads {} {} without declaring it in its saves",
       node_, what, index);
}

Tensor Vjp::in(int input) const {
  check(allowed_.in, input, "input");
  return source_.unpack_input(input, 0);
}

Tensors Vjp::list(int input) const {
  check(allowed_.in, input, "input");
  Tensors elements;
  for (int i = 0; i < source_.list_size(input); i++) {
    elements.push_back(source_.unpack_input(input, i));
  }
  return elements;
}

Tensor Vjp::out(int output) const {
  check(allowed_.out, output, "output");
  return source_.unpack_output(output);
}

const ShapeOf& Vjp::shape(int input, int element) const {
  check(allowed_.shapes, input, "the shape of input");
  return source_.shape(input, element);
}

}  // namespace fg::ir
