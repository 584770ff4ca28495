// The cases of bench/eager, written once: `lib` is the namespace of the contender, whose spelling
// is the same. Prints one JSON line per case: {"case": ..., "unit": ..., "value": ...}.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace bench {

using lib::Tensor;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best of several short runs: the cost of the code without interruptions.
template <class F>
double time_of(F f, double at_least = 0.02, int runs = 5) {
  f();
  int64_t count = 1;
  for (double spent = 0; spent < at_least; count *= 2) {
    double start = seconds();
    for (int64_t i = 0; i < count; i++) f();
    spent = seconds() - start;
  }
  count /= 2;
  double best = 1e9;
  for (int run = 0; run < runs; run++) {
    double start = seconds();
    for (int64_t i = 0; i < count; i++) f();
    best = std::min(best, (seconds() - start) / double(count));
  }
  return best;
}

void report(const std::string& name, const char* unit, double value) {
  std::printf("{\"case\": \"%s\", \"unit\": \"%s\", \"value\": %.6g}\n", name.c_str(), unit, value);
  std::fflush(stdout);
}

void small_ops(bool recording) {
  for (int n : {1, 64}) {
    Tensor a = lib::rand({n}), b = lib::rand({n}), c = lib::rand({n});
    int side = n == 1 ? 1 : 8;
    Tensor m = lib::rand({side, side}), k = lib::rand({side, side});
    if (recording) {
      a.requires_grad_();
      m.requires_grad_();
    }
    std::string suffix = " " + std::to_string(n) + (recording ? " recording" : " plain");
    auto ns = [&](const char* name, auto f) { report(name + suffix, "ns", 1e9 * time_of(f)); };
    ns("a+b", [&] { Tensor r = a + b; });
    ns("a*b+c", [&] { Tensor r = a * b + c; });
    ns("view", [&] { Tensor r = a.view({1, n}); });
    ns("sum", [&] { Tensor r = a.sum(); });
    ns("matmul", [&] { Tensor r = lib::matmul(m, k); });
  }
}

void chain() {
  constexpr int kNodes = 10000;
  Tensor x = lib::rand({1}), w = lib::rand({1});
  x.requires_grad_();
  double best = 1e9;
  for (int run = 0; run < 20; run++) {
    Tensor y = x;
    for (int i = 0; i < kNodes; i++) y = y + w;
    double start = seconds();
    y.backward();
    best = std::min(best, (seconds() - start) / kNodes);
  }
  report("chain backward", "ns", 1e9 * best);
}

void large_ops(const std::string& suffix) {
  Tensor a = lib::rand({1 << 20}), b = lib::rand({1 << 20});
  Tensor m = lib::randn({1024, 1024}), w = lib::rand({1024}), v = lib::rand({1024});
  auto us = [&](const char* name, auto f) { report(name + suffix, "us", 1e6 * time_of(f, 0.05)); };
  us("1M exp", [&] { Tensor r = lib::exp(a); });
  us("1M tanh", [&] { Tensor r = lib::tanh(a); });
  us("1024x1024 softmax", [&] { Tensor r = lib::softmax(m, 1); });
  us("1M a+b", [&] { Tensor r = a + b; });
  us("1M sum", [&] { Tensor r = a.sum(); });
  us("1024x1024 layer_norm", [&] { Tensor r = lib::layer_norm(m, {1024}, w, v); });
  us("1024x1024 sum axis 0", [&] { Tensor r = m.sum({0}); });
}

void products(const std::string& suffix) {
  struct Shape {
    const char* name;
    int64_t m, n, k;
  };
  for (Shape s : {Shape{"mm 1024^3", 1024, 1024, 1024},
                  {"mm 64x512x512", 64, 512, 512},
                  {"mm 1024x384x1536", 1024, 384, 1536},
                  {"mm 32^3", 32, 32, 32}}) {
    Tensor a = lib::rand({s.m, s.k}), b = lib::rand({s.k, s.n});
    report(s.name + suffix, "us", 1e6 * time_of([&] { Tensor r = lib::mm(a, b); }, 0.05));
  }
}

// Small cases run on one thread; large ones on one and on two.
void run_all(void (*set_threads)(int)) {
  set_threads(1);
  small_ops(false);
  small_ops(true);
  chain();
  for (int threads : {1, 2}) {
    set_threads(threads);
    large_ops(threads == 1 ? " 1 thread" : "");
    products(threads == 1 ? " 1 thread" : " 2 threads");
  }
}

}  // namespace bench
