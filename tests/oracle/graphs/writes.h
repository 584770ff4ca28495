// Views, in-place changes, modes.
#pragma once

#include "scenes.h"

void writes_through_views() {
  scene("detach then write base", [] {
    Tensor x = lib::ones({3}).requires_grad_();
    Tensor y = x * 2, d = y.detach();
    y.add_(lib::ones({3}));
    show(d);
    show(y);
    d.mul_(2);
    show(y);
    show_node(y);
    show_node(d);
  });
  scene("view write", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 2;
    Tensor v = y.view({2, 2});
    v.mul_(3);
    show(y);
    show_node(y);
    show_node(v);
    y.sum().backward();
    show(x.grad());
  });
  scene("select write", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 2;
    y.select(0, 1).mul_(5);
    y.select(0, 2).zero_();
    (y * y).sum().backward();
    show(x.grad());
    show_node(y);
  });
  scene("write base, use old view", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 2;
    Tensor v = y.view({2, 2});
    y.mul_(3);
    show_node(v);
    v.sum().backward();
    show(x.grad());
  });
  scene("view of view write", [] {
    Tensor x = lib::ones({2, 3}).requires_grad_();
    Tensor y = x * 2;
    Tensor v = y.t().select(0, 1);
    v.mul_(x.select(1, 0));
    y.sum().backward();
    show(x.grad());
    show_node(v);
  });
}

void refused_writes() {
  scene("leaf write", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    x.add_(1);
  });
  scene("leaf view write", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    x.select(0, 0).add_(1);
  });
  scene("leaf write no_grad", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    {
      lib::NoGradGuard g;
      x.add_(1);
    }
    show(x);
    show(x._version() == 1);
  });
  scene("saved modified", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    Tensor z = y * y;
    y.add_(1);
    z.sum().backward();
  });
  scene("saved output modified", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x.exp();
    y.add_(1);
    y.sum().backward();
  });
}

void views_of_several_outputs() {
  scene("add does not save", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x + 1;
    Tensor z = y + 2;
    y.mul_(2);
    z.sum().backward();
    show(x.grad());
  });
  scene("unbind write", [] {
    Tensor x = lib::ones({2, 2}).requires_grad_();
    Tensor y = x * 1;
    auto p = y.unbind(0);
    p[0].mul_(2);
  });
  scene("split write", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 1;
    auto p = y.split(2);
    p[0].mul_(2);
  });
  scene("no_grad view then write", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 1;
    Tensor v;
    {
      lib::NoGradGuard g;
      v = y.view({2, 2});
    }
    v.mul_(2);
  });
  scene("no_grad view write in no_grad", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 1;
    {
      lib::NoGradGuard g;
      y.view({2, 2}).mul_(2);
    }
    y.sum().backward();
    show(x.grad());
    show(y);
  });
}

void buffers_and_second_backwards() {
  scene("copy_ into buffer", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor buf = lib::zeros({4});
    buf.narrow(0, 1, 2).copy_(x * 3);
    show_node(buf);
    show(buf.requires_grad());
    (buf * buf).sum().backward();
    show(x.grad());
  });
  scene("index_put", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor buf = lib::zeros({3});
    buf.select(0, 2).copy_(x.sum());
    buf.sum().backward();
    show(x.grad());
  });
  scene("twice backward", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = (x * x).sum();
    y.backward();
    y.backward();
  });
  scene("twice backward nothing saved", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = (x + 1).sum();
    y.backward();
    y.backward();
    show(x.grad());
  });
  scene("retain graph", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = (x * x).sum();
    y.backward({}, true);
    y.backward();
    show(x.grad());
  });
}

void hooks_and_expansion() {
  scene("retain_grad in place", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.retain_grad();
    y.mul_(3);
    y.sum().backward();
    show(y.grad());
    show(x.grad());
  });
  scene("hook then in place", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.register_hook([](const Tensor& g) {
      std::printf(" hook");
      show(g);
      return g * 10;
    });
    y.mul_(3);
    y.sum().backward();
    show(x.grad());
  });
  scene("grad through expand", [] {
    Tensor x = lib::ones({1, 2}).requires_grad_();
    Tensor y = x.expand({3, 2});
    (y * y).sum().backward();
    show(x.grad());
  });
  scene("write into expand", [] {
    Tensor x = lib::ones({1, 2});
    Tensor y = x.expand({3, 2});
    y.add_(1);
  });
  scene("detach_ view", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor v = (x * 1).view({1, 2});
    v.detach_();
  });
}

void changing_what_requires_grad() {
  scene("detach_", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.detach_();
    show(y);
    y.requires_grad_();
    show(y);
  });
  scene("requires_grad_ false on non-leaf", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.requires_grad_(false);
  });
  scene("in-place requires", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = lib::zeros({2});
    y.add_(x);
    show(y);
    show_node(y);
    show(y.is_leaf());
  });
  scene("in-place on view of plain base", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor base = lib::zeros({2, 2});
    Tensor v = base.select(0, 0);
    v.add_(x);
    show(base.requires_grad());
    show_node(base);
    show_node(v);
    (base * base).sum().backward();
    show(x.grad());
  });
  scene("other view sees it", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor base = lib::zeros({2, 2});
    Tensor v = base.select(0, 0), w = base.select(1, 0);
    v.add_(x);
    show(w.requires_grad());
    show_node(w);
    w.sum().backward();
    show(x.grad());
  });
}

void set_data_and_higher_order() {
  scene("set data", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * x;
    x.set_data(lib::zeros({2}));
    y.sum().backward();
    show(x.grad());
  });
  scene("double backward", [] {
    Tensor x = (lib::ones({2}) * 2).requires_grad_();
    Tensor y = (x * x * x).sum();
    y.backward({}, true, true);
    Tensor g = x.grad();
    show(g);
    g.sum().backward();
    show(x.grad());
  });
  scene("grad accumulates across", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    for (int i = 0; i < 3; i++) (x * i).sum().backward();
    show(x.grad());
  });
  scene("shape mismatch", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    (x * 2).backward(lib::ones({3}));
  });
  scene("non scalar backward", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    (x * 2).backward();
  });
}

void modes_and_fills() {
  scene("inference", [] {
    Tensor x;
    {
      lib::InferenceMode g;
      x = lib::ones({2});
    }
    Tensor w = lib::ones({2}).requires_grad_();
    show(x.is_inference());
    Tensor y = x + w;
    show(y);
    Tensor z = x * w;
  });
  scene("inference write outside", [] {
    Tensor x;
    {
      lib::InferenceMode g;
      x = lib::ones({2});
    }
    x.add_(1);
  });
  scene("masked write", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    Tensor y = x * 2;
    y.masked_fill_(lib::arange(4) > 1, 0);
    (y * y).sum().backward();
    show(x.grad());
  });
  scene("zero_ drops", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.zero_();
    y.sum().backward();
    show(x.grad());
    show_node(y);
  });
  scene("fill_ drops", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.fill_(3);
    y.sum().backward();
    show(x.grad());
  });
}

void layouts() {
  scene("transpose write", [] {
    Tensor x = lib::ones({2, 3}).requires_grad_();
    Tensor y = x * 1;
    y.transpose(0, 1).narrow(0, 1, 2).mul_(4);
    (y * y).sum().backward();
    show(x.grad());
  });
  scene("diagonal write", [] {
    Tensor x = lib::ones({3, 3}).requires_grad_();
    Tensor y = x * 1;
    y.diagonal().mul_(4);
    y.sum().backward();
    show(x.grad());
  });
  scene("write twice through views", [] {
    Tensor x = lib::ones({3}).requires_grad_();
    Tensor y = x * 1;
    Tensor a = y.narrow(0, 0, 2), c = y.narrow(0, 1, 2);
    a.mul_(2);
    c.mul_(3);
    a.mul_(5);
    y.sum().backward();
    show(x.grad());
    show(a);
    show(c);
    show_node(a);
    show_node(c);
  });
  scene("chunk of leaf in no_grad", [] {
    Tensor x = lib::ones({4}).requires_grad_();
    {
      lib::NoGradGuard g;
      auto p = x.chunk(2);
      p[0].mul_(3);
    }
    show(x);
    x.sum().backward();
    show(x.grad());
  });
  scene("data write", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * x;
    x.data().mul_(5);
    y.sum().backward();
    show(x.grad());
  });
}

void data_and_dtypes() {
  scene("detach write breaks saved", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x * x;
    x.detach().mul_(5);
    y.sum().backward();
  });
  scene("integer views", [] {
    Tensor x = lib::arange(4);
    Tensor v = x.view({2, 2});
    v.add_(1);
    show(x);
    show(v.requires_grad());
  });
  scene("view dtype change", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x.to(lib::kDouble);
    y.mul_(2);
    y.sum().backward();
    show(x.grad());
  });
  scene("to same is same", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    Tensor y = x.to(lib::kFloat);
    show(y.is_same(x));
  });
  scene("contiguous same", [] {
    Tensor x = lib::ones({2}).requires_grad_();
    show(x.contiguous().is_same(x));
  });
}
