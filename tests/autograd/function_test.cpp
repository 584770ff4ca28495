// Custom functions in C++: saving, marking, wrapping of outputs, errors of backward.
#include "autograd/function.h"

#include "tests/autograd/graph_checks.h"

namespace fg {

using autograd::AutogradContext;
using autograd::Function;

struct Square : Function<Square> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    EXPECT_FALSE(is_grad_enabled());
    ctx->save_for_backward({x});
    return x * x;
  }
  static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

TEST(Function, IsOneNodeNamedAfterIt) {
  Tensor x = leaf({3.});
  Tensor y = Square::apply(x);
  EXPECT_EQ(y.grad_fn()->name(), "SquareBackward");
  y.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{6}));
  EXPECT_HAS(error_of([&] { y.backward(); }), "a second time");
}

TEST(Function, RecordsNothingWithoutNeed) {
  EXPECT_FALSE(Square::apply(tensor({3.})).requires_grad());
  NoGradGuard no_grad;
  EXPECT_FALSE(Square::apply(leaf({3.})).requires_grad());
}

TEST(Function, DifferentiatesTwice) {
  Tensor x = leaf({3.});
  Tensor first = autograd::grad({Square::apply(x)}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(autograd::grad({first}, {x})[0]), (Numbers{2}));
}

struct Scale : Function<Scale> {
  static Tensors forward(AutogradContext* ctx, const Tensors& list, double factor,
                         const Tensor& x) {
    ctx->saved_data["factor"] = factor;
    EXPECT_TRUE(list.size() == 2);
    return {list[0] * factor, list[1] * factor, x * factor};
  }
  static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
    double factor = std::any_cast<double>(ctx->saved_data["factor"]);
    EXPECT_FALSE(ctx->needs_input_grad(1));
    return {grads[0] * factor, {}, {}, grads[2] * factor};
  }
};

TEST(Function, TakesListsAndOtherArguments) {
  Tensor a = leaf({1.}), b = tensor({2.}, kFloat64), x = leaf({3.});
  Tensors out = Scale::apply(Tensors{a, b}, 5.0, x);
  ASSERT_EQ(out.size(), 3u);
  out[0].backward();  // the gradients of the others are zeros
  EXPECT_EQ(numbers(a.grad()), (Numbers{5}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{0}));
}

struct AddOne : Function<AddOne> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    x.add_(1);
    ctx->mark_dirty({x});
    return x;
  }
  static Tensors backward(AutogradContext*, const Tensors& grads) { return {grads[0] * 10}; }
};

TEST(Function, MayModifyItsInput) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 1;
  Tensor z = AddOne::apply(y);
  EXPECT_TRUE(z.is_same(y));
  EXPECT_EQ(y._version(), 2u);  // the write, and the mark
  EXPECT_EQ(y.grad_fn()->name(), "AddOneBackward");
  y.sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{10, 10}));
  Tensor base = x * 1;
  AddOne::apply(base.select(0, 1));  // through a view
  base.sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{11, 20}));
  EXPECT_HAS(error_of([] { AddOne::apply(leaf({1.}).detach().requires_grad_()); }), "leaf");
}

struct Identity : Function<Identity> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return x; }
  static Tensors backward(AutogradContext*, const Tensors& grads) { return {grads[0] * 3}; }
};

TEST(Function, ReturnsAnUnchangedInputAsAView) {
  Tensor x = leaf({1.});
  Tensor y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_EQ(y.data_ptr(), x.data_ptr());
  y.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{3}));
  Tensor z = Identity::apply(x * 1);
  EXPECT_HAS(error_of([&] { z.add_(1); }), "returned by a custom Function");
}

struct WithMask : Function<WithMask> {
  static Tensors forward(AutogradContext* ctx, const Tensor& x) {
    Tensor mask = x * 0;
    ctx->mark_non_differentiable({mask});
    ctx->set_materialize_grads(false);
    return {x * 2, mask};
  }
  static Tensors backward(AutogradContext*, const Tensors& grads) {
    EXPECT_FALSE(grads[1].defined());
    return {grads[0] * 2};
  }
};

TEST(Function, MarksOutputsWithoutGradient) {
  Tensor x = leaf({1.});
  Tensors out = WithMask::apply(x);
  EXPECT_FALSE(out[1].requires_grad());
  out[0].backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{2}));
}

struct Wrong : Function<Wrong> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int kind) {
    ctx->saved_data["kind"] = kind;
    if (kind == 2) ctx->mark_dirty({x});
    return x * 1;
  }
  static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
    if (std::any_cast<int>(ctx->saved_data["kind"]) == 0) return {grads[0]};
    return {grads[0], grads[0]};
  }
};

TEST(Function, ErrorsSayWhatIsExpected) {
  Tensor x = leaf({1.});
  EXPECT_EQ(error_of([&] { Wrong::apply(x, 0).backward(); }),
            "WrongBackward: backward returned 1 gradients but forward has 2 arguments; return one "
            "for each");
  EXPECT_EQ(error_of([&] { Wrong::apply(x, 1).backward(); }),
            "WrongBackward: backward returned a gradient for argument 1, which is no tensor");
  EXPECT_HAS(error_of([&] { Wrong::apply(x * 1, 2); }), "must return every input");
}

struct SavesOutput : Function<SavesOutput> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    Tensor y = x * x;
    ctx->save_for_backward({y});
    return y;
  }
  static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
    Tensor y = ctx->get_saved_variables()[0];
    EXPECT_EQ(y.grad_fn()->name(), "SavesOutputBackward");
    return {grads[0] * y};
  }
};

TEST(Function, MaySaveItsOutputWithoutACycle) {
  Tensor x = leaf({2.});
  Ref<Storage> memory;
  {
    Tensor y = SavesOutput::apply(x);
    memory = y.impl()->storage;
    y.backward();
  }
  EXPECT_EQ(numbers(x.grad()), (Numbers{4}));
  EXPECT_EQ(memory->use_count(), 1u);
}

}  // namespace fg
