// Primitives for functionalised code, not for users: parts of a value by sizes, strides and an
// offset, counted from the first element of the value itself and not of its storage.
#pragma once

#include "ir/primitive.h"

namespace fg::ops {

struct WindowParams {
  Dims size, stride;
  Dim offset;
  bool operator==(const WindowParams&) const = default;
};
struct RestrideParams {
  Dims stride;
  bool operator==(const RestrideParams&) const = default;
};

const ir::PrimitiveInfo& window();      // (value): a view of it
const ir::PrimitiveInfo& put_window();  // (value, part): the value with the part written into it
const ir::PrimitiveInfo& restride();    // (value): the same elements with these strides

}  // namespace fg::ops
