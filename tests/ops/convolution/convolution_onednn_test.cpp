// Convolutions on f32, which oneDNN computes where it can, against the same in f64, which are
// always products of matrices.
#include "ops/convolution/convolution_onednn.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <random>
#include <thread>

#include "base/pool.h"
#include "ops/convolution/convolution_kernel.h"
#include "tests/has_onednn.h"

namespace fg::kernels {
namespace {

using Direction = ConvDirection;
constexpr Direction kDirections[] = {Direction::forward, Direction::input, Direction::weight};

struct Numbers {
  std::vector<float> x, w, y, bias;
};

std::vector<float> random_numbers(std::mt19937& random, int64_t count) {
  std::vector<float> result(static_cast<size_t>(count));
  for (float& value : result) value = std::uniform_real_distribution<float>(-1, 1)(random);
  return result;
}

Numbers operands(std::mt19937& random, const ConvGeometry& g) {
  const int64_t in = g.groups * g.in_channels, out = g.groups * g.out_channels;
  return {random_numbers(random, g.batch * in * volume(g.input)),
          random_numbers(random, out * g.depth()),
          random_numbers(random, g.batch * out * g.positions()),
          random_numbers(random, std::max(in, out))};
}

ConvGeometry geometry(int64_t batch, int64_t groups, int64_t in, int64_t out, Spatial input,
                      Spatial kernel, Spatial stride, Spatial padding, Spatial dilation) {
  Spatial output;
  for (size_t i = 0; i < 3; i++) {
    output[i] = (input[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
  }
  return {batch, groups, in, out, input, kernel, output, stride, padding, dilation};
}

ConvGeometry planes(int64_t batch, int64_t in, int64_t out, int64_t size, int64_t kernel,
                    int64_t stride, int64_t padding) {
  return geometry(batch, 1, in, out, {1, size, size}, {1, kernel, kernel}, {1, stride, stride},
                  {0, padding, padding}, {1, 1, 1});
}

ConvGeometry random_geometry(std::mt19937& random) {
  auto up_to = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(random);
  };
  const size_t dimensions = up_to(8) == 1 ? 3 : up_to(4) == 1 ? 1 : 2;
  Spatial input{1, 1, 1}, kernel = input, stride = input, dilation = input, padding{};
  for (size_t i = 3 - dimensions; i < 3; i++) {
    kernel[i] = std::array<int64_t, 6>{1, 2, 3, 3, 4, 5}[static_cast<size_t>(up_to(6) - 1)];
    stride[i] = up_to(4) == 1 ? up_to(3) : 1;
    dilation[i] = up_to(4) == 1 ? 2 : 1;
    padding[i] = up_to(3) - 1;
    input[i] = dilation[i] * (kernel[i] - 1) + up_to(dimensions == 3 ? 8 : 20);
  }
  const int64_t kind = up_to(6);  // depthwise, groups, one channel, odd and even numbers
  const int64_t groups = kind == 1 ? 16 : kind == 2 ? up_to(3) : 1;
  const int64_t in = kind == 1 ? 1 : kind == 3 ? 3 : kind == 4 ? up_to(40) : up_to(5) * 8;
  const int64_t out = kind == 1 ? 1 : kind == 4 ? up_to(40) : up_to(5) * 8;
  return geometry(up_to(3) == 1 ? 1 : up_to(20), groups, in, out, input, kernel, stride, padding,
                  dilation);
}

template <class T>
std::vector<T> convolved(DType dtype, Direction direction, const ConvGeometry& g,
                         const std::vector<T>& x, const std::vector<T>& w, const std::vector<T>& y,
                         const T* bias) {
  std::vector<T> result(direction == Direction::forward ? y.size()
                        : direction == Direction::input ? x.size()
                                                        : w.size());
  switch (direction) {
    case Direction::forward:
      convolve(dtype, g, x.data(), w.data(), bias, result.data());
      break;
    case Direction::input:
      convolve_input(dtype, g, y.data(), w.data(), bias, result.data());
      break;
    case Direction::weight:
      convolve_weight(dtype, g, y.data(), x.data(), result.data());
      break;
  }
  return result;
}

std::vector<float> run(Direction direction, const ConvGeometry& g, const Numbers& n,
                       bool bias = true) {
  return convolved(kFloat32, direction, g, n.x, n.w, n.y, bias ? n.bias.data() : nullptr);
}

template <class F>
std::vector<double> doubles(const std::vector<float>& from, F f) {
  std::vector<double> result(from.size());
  for (size_t i = 0; i < from.size(); i++) result[i] = f(from[i]);
  return result;
}
template <class F>
std::vector<double> run_doubles(Direction direction, const ConvGeometry& g, const Numbers& n,
                                bool bias, F f) {
  auto biases = doubles(n.bias, f);
  return convolved(kFloat64, direction, g, doubles(n.x, f), doubles(n.w, f), doubles(n.y, f),
                   bias ? biases.data() : nullptr);
}

// Each sum of n terms is off by at most (8 + sqrt(n)) units of 2^-24 of the sum of their sizes.
void expect_right(Direction direction, const ConvGeometry& g, const Numbers& n, bool bias) {
  auto got = run(direction, g, n, bias);
  auto exact = run_doubles(direction, g, n, bias, [](double value) { return value; });
  auto sizes = run_doubles(direction, g, n, bias, [](double value) { return std::abs(value); });
  const double terms = direction == Direction::forward ? g.depth()
                       : direction == Direction::input ? g.out_channels * volume(g.kernel)
                                                       : g.batch * g.positions();
  const double bound = (8 + std::sqrt(terms)) * std::ldexp(1, -24);
  for (size_t i = 0; i < got.size(); i++) {
    ASSERT_LE(std::abs(got[i] - exact[i]), bound * sizes[i]) << "element " << i;
  }
}

std::string text(Direction direction, const ConvGeometry& g) {
  std::string result = "direction " + std::to_string(static_cast<int>(direction)) + ", geometry";
  for (int64_t n : {g.batch, g.groups, g.in_channels, g.out_channels}) {
    result += " " + std::to_string(n);
  }
  for (const Spatial& s : {g.input, g.kernel, g.stride, g.padding, g.dilation}) {
    for (int64_t n : s) result += " " + std::to_string(n);
  }
  return result;
}

TEST(ConvolutionOneDnn, values_agree_with_products_on_random_shapes) {
  std::mt19937 random(7);
  for (int i = 0; i < 150; i++) {  // more plans than are kept
    const ConvGeometry g = random_geometry(random);
    const Numbers n = operands(random, g);
    for (Direction direction : kDirections) {
      SCOPED_TRACE(text(direction, g));
      expect_right(direction, g, n, i % 2 == 0);
    }
  }
}

TEST(ConvolutionOneDnn, values_agree_on_the_shapes_of_networks) {
  std::mt19937 random(8);
  for (const ConvGeometry& g : {planes(5, 3, 16, 32, 3, 1, 1), planes(9, 16, 32, 32, 3, 2, 1),
                                planes(33, 64, 64, 8, 3, 1, 1), planes(3, 32, 64, 16, 1, 2, 0),
                                planes(1, 64, 96, 28, 3, 1, 1), planes(1, 3, 64, 64, 7, 2, 3),
                                planes(2, 128, 64, 14, 1, 1, 0)}) {
    const Numbers n = operands(random, g);
    for (Direction direction : kDirections) {
      SCOPED_TRACE(text(direction, g));
      expect_right(direction, g, n, true);
    }
  }
}

TEST(ConvolutionOneDnn, serves_what_networks_use) {
  std::mt19937 random(9);
  for (const ConvGeometry& g : {planes(4, 16, 16, 32, 3, 1, 1), planes(4, 64, 64, 8, 3, 2, 1),
                                planes(1, 64, 64, 56, 3, 1, 1), planes(4, 16, 32, 32, 1, 2, 0)}) {
    Numbers n = operands(random, g);
    for (Direction direction : kDirections) {
      EXPECT_EQ(convolve_onednn(direction, g, n.x.data(), n.w.data(), nullptr, n.y.data()),
                kHasOneDnn)
          << text(direction, g);
    }
  }
}

TEST(ConvolutionOneDnn, bits_are_the_same_on_any_number_of_threads) {
  std::mt19937 random(10);
  const int before = pool::num_threads();
  pool::force_grain(1);
  for (const ConvGeometry& g :
       {planes(13, 16, 16, 32, 3, 1, 1), planes(33, 32, 64, 16, 3, 2, 1),
        planes(1, 64, 64, 28, 3, 1, 1), planes(16, 16, 32, 32, 1, 2, 0), random_geometry(random),
        random_geometry(random), random_geometry(random)}) {
    const Numbers n = operands(random, g);
    for (Direction direction : kDirections) {
      SCOPED_TRACE(text(direction, g));
      pool::set_num_threads(1);
      const auto one = run(direction, g, n);
      for (int threads : {2, 3}) {
        pool::set_num_threads(threads);
        EXPECT_EQ(run(direction, g, n), one);
      }
    }
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

TEST(ConvolutionOneDnn, a_users_openmp_keeps_its_threads) {
  std::mt19937 random(11);
  const ConvGeometry g = planes(4, 16, 16, 16, 3, 1, 1);
  const Numbers n = operands(random, g);
  run(Direction::forward, g, n);
  void* openmp = dlopen("libgomp.so.1", RTLD_NOW);
  ASSERT_NE(openmp, nullptr) << dlerror();
  auto get = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_max_threads"));
  auto set = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  const int before = get();
  set(3);
  for (Direction direction : kDirections) run(direction, g, n);
  EXPECT_EQ(get(), 3);
  set(before);
}

TEST(ConvolutionOneDnn, threads_of_a_user_and_a_forked_child_may_convolve) {
  std::mt19937 random(12);
  const ConvGeometry g = planes(4, 24, 24, 12, 3, 1, 1), other = planes(4, 24, 40, 12, 3, 1, 1);
  const Numbers n = operands(random, g), m = operands(random, other);
  const auto expected = run(Direction::forward, g, n);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      EXPECT_EQ(run(Direction::forward, g, n), expected);
      for (Direction direction : kDirections) run(direction, other, m);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const pid_t child = fork();
  if (child == 0) {
    const bool same = run(Direction::forward, g, n) == expected;
    const ConvGeometry third = planes(4, 24, 48, 12, 3, 1, 1);
    run(Direction::weight, third, operands(random, third));
    _exit(same ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fg::kernels
