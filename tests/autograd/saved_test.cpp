// Saved values and saved-tensor hooks.
#include <fstream>

#include "ops/elementwise/unary.h"
#include "tests/autograd/graph_checks.h"

namespace fg {

using autograd::DisableSavedTensorsHooks;
using autograd::SavedTensorsHooks;

std::any keep(const Tensor& tensor) { return tensor.clone(); }
Tensor give(const std::any& packed) { return std::any_cast<Tensor>(packed); }

TEST(SavedValue, KnowsThatItWasModified) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 1;
  Tensor z = y * y;
  y.add_(1);
  std::string error = error_of([&] { z.sum().backward(); });
  EXPECT_HAS(error,
             "modified by an inplace operation: [float64 [2]], which is output 0 of "
             "Add, is at version 1; expected version 0");
  EXPECT_HAS(error, "The gradient of Mul needs it as it was");
}

TEST(SavedValue, IsNotDisturbedByWhatWasNotSaved) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 1;
  Tensor z = y + 5;
  y.add_(1);
  z.sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{1, 1}));
}

TEST(SavedValue, OfAnInplaceFunctionIsTheValueBefore) {
  Tensor x = leaf({2., 3.}), w = leaf({5., 7.});
  Tensor y = x * 1;
  y.mul_(w);
  y.sum().backward();
  EXPECT_EQ(numbers(w.grad()), (Numbers{2, 3}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{5, 7}));
}

TEST(SavedValue, KnowsThatItWasDetached) {
  Tensor x = leaf({1., 2.});
  Tensor y = x * 1;
  Tensor z = y * y;
  y.detach_();
  EXPECT_HAS(error_of([&] { z.sum().backward(); }),
             "MulBackward0: a tensor that was saved for "
             "backward has been detached in place");
}

TEST(SavedValue, OfAViewWrittenInPlaceHasTheHistoryOfTheView) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  Tensor row = base.select(0, 0);
  row.exp_();
  Tensor first = autograd::grad({row}, {x}, {}, {.create_graph = true})[0];
  double e = tensor({1.}, kFloat64).exp().item<double>();
  EXPECT_EQ(numbers(first), (Numbers{e, 0}));
  Tensor second = autograd::grad({first.sum()}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(second), (Numbers{e, 0}));
}

TEST(SavedValue, OfAViewThatIsGoneHasTheHistoryOfItsWriter) {
  Tensor x = leaf({1., 2.});
  Tensor base = x * 1;
  base.select(0, 0).exp_();
  double e = tensor({1.}, kFloat64).exp().item<double>();
  Tensor first = autograd::grad({base.sum()}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(first), (Numbers{e, 1}));
  EXPECT_EQ(numbers(autograd::grad({first.sum()}, {x})[0]), (Numbers{e, 0}));
}

TEST(SavedHooks, PackAndUnpackEverySave) {
  Tensor x = leaf({2., 3.});
  int packs = 0, unpacks = 0;
  Tensor y;
  {
    SavedTensorsHooks hooks([&](const Tensor& t) { return packs++, std::any(t * 2); },
                            [&](const std::any& p) { return unpacks++, give(p); });
    y = x * x;
  }
  EXPECT_EQ(packs, 2);
  EXPECT_EQ(unpacks, 0);
  y.sum().backward();
  EXPECT_EQ(unpacks, 2);
  EXPECT_EQ(numbers(x.grad()), (Numbers{8, 12}));  // twice what it would be
}

TEST(SavedHooks, NestAndTheInnermostWins) {
  Tensor x = leaf({1.});
  std::string order;
  SavedTensorsHooks outer([&](const Tensor& t) { return order += 'o', keep(t); }, give);
  Tensor y = x * x;
  {
    SavedTensorsHooks inner([&](const Tensor& t) { return order += 'i', keep(t); }, give);
    y = y * y;
  }
  y = y * y;
  EXPECT_EQ(order, "ooiioo");
}

TEST(SavedHooks, KeepDoubleBackwardRight) {
  Tensor x = leaf({3.});
  SavedTensorsHooks hooks(keep, give);
  Tensor first = autograd::grad({x * x * x}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(numbers(autograd::grad({first}, {x})[0]), (Numbers{18}));
}

TEST(SavedHooks, DoNotCheckVersions) {
  Tensor x = leaf({2.});
  Tensor y = x * 1, z;
  {
    SavedTensorsHooks hooks(keep, give);
    z = y * y;
  }
  y.add_(1);
  z.backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{4}));
}

TEST(SavedHooks, SeeNoPlainNumbers) {
  Tensor x = leaf({2.});
  int packs = 0;
  SavedTensorsHooks hooks([&](const Tensor& t) { return packs++, keep(t); }, give);
  Tensor y = x * 3;
  EXPECT_EQ(packs, 0);
}

TEST(SavedHooks, PackRunsWithoutGrad) {
  Tensor x = leaf({2.});
  bool grad_mode = true;
  SavedTensorsHooks hooks([&](const Tensor& t) { return grad_mode = is_grad_enabled(), keep(t); },
                          give);
  Tensor y = x * x;
  EXPECT_FALSE(grad_mode);
}

TEST(SavedHooks, MustNotModifyTheirInput) {
  Tensor x = leaf({2.});
  SavedTensorsHooks hooks([](const Tensor& t) { return std::any(t.add_(1)); }, give);
  EXPECT_HAS(error_of([&] { x* x; }), "modified its input in place");
}

TEST(SavedHooks, MustUnpackATensor) {
  Tensor x = leaf({2.});
  Tensor y;
  {
    SavedTensorsHooks hooks(keep, [](const std::any&) { return Tensor(); });
    y = x * x;
  }
  EXPECT_HAS(error_of([&] { y.backward(); }), "unpack hook returned no tensor");
}

TEST(SavedHooks, MayKeepValuesOnDisk) {
  Tensor x = leaf({2., 3.});
  std::string path = testing::TempDir() + "foregrad_saved_on_disk";
  Tensor y;
  {
    SavedTensorsHooks hooks(
        [&](const Tensor& t) {
          std::ofstream(path, std::ios::binary).write(static_cast<const char*>(t.data_ptr()), 16);
          return std::any(path);
        },
        [](const std::any& packed) {
          Tensor read = empty_tensor({2}, kFloat64);
          std::ifstream(std::any_cast<std::string>(packed), std::ios::binary)
              .read(static_cast<char*>(read.data_ptr()), 16);
          return read;
        });
    y = x * x;
  }
  y.sum().backward();
  EXPECT_EQ(numbers(x.grad()), (Numbers{4, 6}));
}

TEST(DisabledHooks, RaiseTheMessage) {
  DisableSavedTensorsHooks outer("not in this region");
  EXPECT_HAS(error_of([] { SavedTensorsHooks hooks(keep, give); }), "not in this region");
  {
    DisableSavedTensorsHooks inner("not here either");
    EXPECT_HAS(error_of([] { SavedTensorsHooks hooks(keep, give); }), "not here either");
  }
  EXPECT_HAS(error_of([] { SavedTensorsHooks hooks(keep, give); }), "not in this region");
}

TEST(DisabledHooks, RefuseToStartWhileHooksAreActive) {
  SavedTensorsHooks hooks(keep, give);
  EXPECT_HAS(error_of([] { DisableSavedTensorsHooks disabled("no hooks, please"); }),
             "no hooks, please");
}

TEST(SavedValue, KeepsNoCycle) {
  Tensor x = leaf({2.});
  Ref<Storage> memory;
  {
    Tensor y = x.exp();  // saves its output
    memory = y.impl()->storage;
  }
  EXPECT_EQ(memory->use_count(), 1u);
}

}  // namespace fg
