// Small programs over the graph, written once: `lib` is fg or torch, whose C++ is spelled the same.
// Each prints one line; tests/oracle/graphs compares the lines of both.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using lib::Tensor;

template <class F>
void scene(const char* name, F f) {
  std::printf("%s:", name);
  try {
    f();
  } catch (const std::exception&) {
    std::printf(" error");
  }
  std::printf("\n");
}

// Values, whether it requires grad, whether it is a leaf.
void show(const Tensor& t) {
  if (!t.defined()) {
    std::printf(" undefined");
    return;
  }
  Tensor c = t.detach().contiguous().to(lib::kDouble).reshape({-1});
  std::printf(" [");
  for (int64_t i = 0; i < c.numel(); i++) std::printf(" %g", c.select(0, i).item<double>());
  std::printf(" ]%s%s", t.requires_grad() ? "g" : "", t.is_leaf() ? "l" : "");
}
void show_node(const Tensor& t) {
  auto node = t.grad_fn();
  std::printf(" %s", node ? std::string(node->name()).c_str() : "none");
}
void show(bool x) { std::printf(" %d", static_cast<int>(x)); }
