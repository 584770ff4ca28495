#include "base/callback.h"

#include "base/fail.h"

namespace fg {

void fail_empty_callback() {
  fail("a callback that holds no function was called; give it a function or a lambda");
}

}  // namespace fg
