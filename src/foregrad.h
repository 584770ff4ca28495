// The one header of the library's users.
#pragma once

#if __cplusplus < 202002L
#error "foregrad needs C++20: compile with -std=c++20 or later"
#else

// Names that the C library has for numbers are declared beside those of tensors (see
// ops/elementwise/unary.h).
#include <cmath>
#include <cstdlib>

// Symbols that the library shares with a program stay shared where the program hides its own.
#pragma GCC visibility push(default)

#include "autograd/active_hooks.h"
#include "autograd/autograd.h"
#include "autograd/function.h"
#include "autograd/gradcheck.h"
#include "base/error.h"
#include "base/level.h"
#include "base/pool.h"
#include "base/version.h"
#include "cache/cache.h"
#include "compile/compile.h"
#include "nn/containers.h"
#include "nn/init.h"
#include "nn/layers.h"
#include "nn/optimizer.h"
#include "nn/safetensors.h"
#include "ops/attention/attention.h"
#include "ops/convolution/convolution.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/index/index.h"
#include "ops/index/indexing.h"
#include "ops/loss/loss.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/norm.h"
#include "ops/norm/softmax.h"
#include "ops/pooling/pooling.h"
#include "ops/random/dropout.h"
#include "ops/random/random.h"
#include "ops/rearrange/join.h"
#include "ops/rearrange/rearrange.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_order.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/reduce/scan.h"
#include "ops/sort/sort.h"
#include "ops/view/views.h"
#include "optim/step.h"
#include "tensor/allocator.h"
#include "tensor/tensor.h"

#pragma GCC visibility pop

#endif
