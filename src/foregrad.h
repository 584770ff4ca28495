// The one header of the library's users.
#pragma once

#if __cplusplus < 202002L
#error "foregrad needs C++20: compile with -std=c++20 or later"
#else

// The names of the C library for numbers are there beside those of tensors (see ops/unary.h).
#include <cmath>
#include <cstdlib>

// What the library shares with a program stays shared where the program hides its own symbols.
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
#include "compile/step.h"
#include "nn/containers.h"
#include "nn/init.h"
#include "nn/layers.h"
#include "nn/optimizer.h"
#include "nn/safetensors.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/attention.h"
#include "ops/choose.h"
#include "ops/compare.h"
#include "ops/convolution.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "ops/dropout.h"
#include "ops/index.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "ops/loss.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "ops/pooling.h"
#include "ops/random.h"
#include "ops/rearrange.h"
#include "ops/reduce.h"
#include "ops/reduce_order.h"
#include "ops/reduce_spread.h"
#include "ops/scan.h"
#include "ops/softmax.h"
#include "ops/sort.h"
#include "ops/unary.h"
#include "ops/views.h"
#include "tensor/allocator.h"
#include "tensor/tensor.h"

#pragma GCC visibility pop

#endif
