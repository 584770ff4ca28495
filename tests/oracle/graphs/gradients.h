// Hooks, gradients at special points, grad().
#pragma once

#include "scenes.h"

void hooks_and_ties() {
  scene("hooks order", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.register_hook([](const Tensor& g) {
      std::printf(" a");
      return g * 2;
    });
    y.register_hook([](const Tensor& g) {
      std::printf(" b");
      return g + 1;
    });
    y.retain_grad();
    y.sum().backward();
    show(y.grad());
    show(x.grad());
  });
  scene("leaf hook", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    x.register_hook([](const Tensor& g) {
      std::printf(" leaf");
      return g * 3;
    });
    (x * 2).sum().backward();
    show(x.grad());
    (x + x).sum().backward();
    show(x.grad());
  });
  scene("max grads", [] {
    Tensor x = lib::tensor({1., 3., 3., 2.}).requires_grad_();
    x.max().backward();
    show(x.grad());
  });
  scene("amax grads", [] {
    Tensor x = lib::tensor({1., 3., 3., 2.}).requires_grad_();
    x.amax(0).backward();
    show(x.grad());
  });
  scene("norm at zero", [] {
    Tensor x = lib::zeros({3}).requires_grad_();
    x.norm().backward();
    show(x.grad());
  });
}

void bends() {
  scene("abs at zero", [] {
    Tensor x = lib::zeros({3}).requires_grad_();
    x.abs().sum().backward();
    show(x.grad());
  });
  scene("clamp", [] {
    Tensor x = lib::tensor({-1., 0., 0.5, 1., 2.}).requires_grad_();
    x.clamp(0., 1.).sum().backward();
    show(x.grad());
  });
  scene("where", [] {
    Tensor x = lib::tensor({-1., 0., 2.}).requires_grad_();
    lib::where(x > 0, x * x, x.exp()).sum().backward();
    show(x.grad());
  });
  scene("cumsum", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    (x.cumsum(0) * x).sum().backward();
    show(x.grad());
  });
  scene("prod zero", [] {
    Tensor x = lib::tensor({1., 0., 3.}).requires_grad_();
    x.prod().backward();
    show(x.grad());
  });
}

void reductions_and_products() {
  scene("prod two zeros", [] {
    Tensor x = lib::tensor({0., 0., 3.}).requires_grad_();
    x.prod().backward();
    show(x.grad());
  });
  scene("std", [] {
    Tensor x = lib::tensor({1., 2., 4.}).requires_grad_();
    x.std().backward();
    show(x.grad());
  });
  scene("matmul broadcast", [] {
    Tensor a = lib::ones({2, 1, 2, 3}).requires_grad_(), c = lib::ones({4, 3, 2}).requires_grad_();
    (lib::matmul(a, c) * 2).sum().backward();
    show(a.grad());
    show(c.grad());
  });
  scene("mv dot", [] {
    Tensor a = lib::ones({3}).requires_grad_(),
           m = lib::arange(6).to(lib::kFloat).reshape({2, 3}).requires_grad_();
    lib::matmul(m, a).dot(lib::ones({2})).backward();
    show(a.grad());
    show(m.grad());
  });
  scene("gather", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    x.gather(0, lib::tensor({0, 0, 2, 2, 2})).sum().backward();
    show(x.grad());
  });
}

void indexing() {
  scene("index_select", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    (x.index_select(0, lib::tensor({2, 2})) * lib::tensor({1., 5.})).sum().backward();
    show(x.grad());
  });
  scene("scatter_add", [] {
    Tensor x = lib::ones({3}).requires_grad_(), s = lib::ones({4}).requires_grad_();
    Tensor y = x.scatter_add(0, lib::tensor({0, 1, 1, 2}), s);
    (y * y).sum().backward();
    show(y);
    show(x.grad());
    show(s.grad());
  });
  scene("sort", [] {
    Tensor x = lib::tensor({3., 1., 2.}).requires_grad_();
    auto r = x.sort();
    (std::get<0>(r) * lib::tensor({1., 10., 100.})).sum().backward();
    show(x.grad());
    show(std::get<1>(r));
  });
  scene("topk", [] {
    Tensor x = lib::tensor({3., 1., 2.}).requires_grad_();
    auto r = x.topk(2);
    std::get<0>(r).sum().backward();
    show(x.grad());
  });
  scene("softmax", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    (x.softmax(0) * lib::tensor({1., 2., 4.})).sum().backward();
    show(x.grad());
  });
}

void powers_and_softmax() {
  scene("logsumexp", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    x.logsumexp({0}).backward();
    show(x.grad());
  });
  scene("pow", [] {
    Tensor x = lib::tensor({0., 2.}).requires_grad_(), p = lib::tensor({0., 3.}).requires_grad_();
    x.pow(p).sum().backward();
    show(x.grad());
    show(p.grad());
  });
  scene("sqrt zero", [] {
    Tensor x = lib::zeros({1}).requires_grad_();
    x.sqrt().sum().backward();
    show(x.grad());
  });
  scene("div", [] {
    Tensor x = lib::tensor({1., 2.}).requires_grad_(), y = lib::tensor({3., 4.}).requires_grad_();
    (x / y).sum().backward();
    show(x.grad());
    show(y.grad());
  });
  scene("stack cat", [] {
    Tensor x = lib::tensor({1., 2.}).requires_grad_();
    Tensor y = lib::cat({x, x * 2, lib::stack({x, x}).reshape({-1})});
    (y * y).sum().backward();
    show(x.grad());
  });
}

void joining_and_grad() {
  scene("promotion", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * lib::ones({2}, lib::kDouble);
    std::printf(" %d", y.dtype() == lib::kDouble);
    y.sum().backward();
    std::printf(" %d", x.grad().dtype() == lib::kFloat);
  });
  scene("grad third order", [] {
    Tensor x = (lib::ones({1}) * 2).requires_grad_();
    Tensor y = x.pow(4).sum();
    for (int i = 0; i < 3; i++) {
      y = lib::autograd::grad({y}, {x}, {}, GRAPH)[0].sum();
      show(y);
    }
  });
  scene("unused", [] {
    Tensor x = lib::ones({1}).requires_grad_(), z = lib::ones({1}).requires_grad_();
    auto g = lib::autograd::grad({x * 2}, {x, z}, {}, UNUSED);
    show(g[0]);
    show(g[1]);
  });
  scene("unused refused", [] {
    Tensor x = lib::ones({1}).requires_grad_(), z = lib::ones({1}).requires_grad_();
    lib::autograd::grad({x * 2}, {x, z});
  });
  scene("repeat", [] {
    Tensor x = lib::tensor({1., 2.}).requires_grad_();
    (x.repeat({2, 2}) * lib::arange(8).reshape({2, 4})).sum().backward();
    show(x.grad());
  });
}

void rearranging() {
  scene("flip roll", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    (x.flip({0}).roll(1, 0) * lib::tensor({1., 10., 100.})).sum().backward();
    show(x.grad());
  });
  scene("tril", [] {
    Tensor x = lib::ones({3, 3}).requires_grad_();
    x.tril(-1).sum().backward();
    show(x.grad());
  });
  scene("as_strided", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    x.as_strided({3, 2}, {1, 1}).sum().backward();
    show(x.grad());
  });
  scene("masked_select", [] {
    Tensor x = lib::tensor({1., 2., 3.}).requires_grad_();
    (x.masked_select(x > 1) * 3).sum().backward();
    show(x.grad());
  });
  scene("backward inputs", [] {
    Tensor x = lib::ones({1}).requires_grad_(), w = lib::ones({1}).requires_grad_();
    Tensor y = x * w;
    y.backward({}, {}, false, std::vector<Tensor>{x});
    show(x.grad());
    show(w.grad());
  });
}
