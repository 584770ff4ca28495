// Tensors as text, to the letter as PyTorch's repr, with `foregrad.` for `torch.`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace fg {

struct PrintOptions {
  int precision = 4;               // digits behind the point
  int64_t threshold = 1000;        // more elements than this are summarised
  int64_t edgeitems = 3;           // elements of a summary at each end of a dimension
  int linewidth = 80;              // characters per line
  std::optional<bool> sci_mode{};  // scientific notation; absent means where the values need it
};

// The options of tensors that print themselves.
PrintOptions print_options();
void set_print_options(const PrintOptions& options);

// Strides are in elements.
struct ArrayView {
  DType dtype;
  std::vector<int64_t> sizes, strides;
  const void* data;
};

// The text around the elements: `Name(elements, size=..., dtype=..., suffix, suffix)`.
struct PrintFrame {
  std::string name = "tensor";
  std::vector<std::string> suffixes{};  // such as "requires_grad=True", "grad_fn=<AddBackward0>"
};

std::string format_tensor(const ArrayView& array, const PrintOptions& options = {},
                          const PrintFrame& frame = {});

// The same frame around a text in place of elements, such as "..." for a tensor without data.
std::string format_frame(const std::string& elements, const PrintOptions& options,
                         const PrintFrame& frame);

// A Python tuple: "()", "(2,)", "(2, 3)".
std::string tuple_text(const std::vector<int64_t>& values);

}  // namespace fg
