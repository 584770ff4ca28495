#include "autograd/gradcheck.h"

#include "ir/define.h"
#include "ops/create/create.h"
#include "tests/autograd/graph_checks.h"

namespace fg::autograd {
namespace {

// x * x whose rule forgets the factor 2.
inline constexpr ir::Function<"half_wrong(Tensor self) -> Tensor"> half_wrong;
const auto half_wrong_entry =
    ir::define(half_wrong, "A function with a wrong gradient.", [](const Tensor& self) {
      return self * self;
    }).vjp("HalfWrongBackward0", ir::wrt(0, ir::saves::in(0), [](const ir::Vjp& v) {
             return v.grad() * v.in(0);
           }));

Tensor input(DType dtype = kFloat64) {
  return ir::sample({2, 3}, 0.5, 2).to(dtype).requires_grad_();
}

std::string report_of(const TensorFunction& f, const Tensors& inputs,
                      const GradcheckOptions& options = {}) {
  return error_of([&] { gradcheck(f, inputs, options); });
}

TEST(Gradcheck, a_right_gradient_passes) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * in[1], in[0] / in[1]}; };
  EXPECT_TRUE(gradcheck(f, {input(), input()}));
  EXPECT_TRUE(gradgradcheck(f, {input(), input()}));
}

TEST(Gradcheck, a_wrong_gradient_is_reported_with_both_jacobians) {
  auto f = [](const Tensors& in) { return Tensors{in[0] + in[1], half_wrong(in[1])}; };
  std::string report = report_of(f, {input(), input()});
  EXPECT_HAS(report, "output 1 with respect to input 1 is wrong");
  EXPECT_HAS(report, "numerical:\ntensor([[");
  EXPECT_HAS(report, "analytical:\ntensor([[");
  EXPECT_HAS(report, "at input element ");
}

TEST(Gradcheck, a_gradient_cut_off_by_detach_is_wrong) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * in[0].detach()}; };
  EXPECT_FALSE(gradcheck(f, {input()}, {.raise_exception = false}));
}

TEST(Gradcheck, a_wrong_second_gradient_is_found) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * in[0] * in[0]}; };
  EXPECT_TRUE(gradgradcheck(f, {input()}));
  auto wrong = [](const Tensors& in) { return Tensors{half_wrong(in[0]) * in[0]}; };
  EXPECT_FALSE(gradgradcheck(wrong, {input()}, {}, {.raise_exception = false}));
}

TEST(Gradcheck, narrow_inputs_get_a_hint) {
  std::string report =
      report_of([](const Tensors& in) { return Tensors{half_wrong(in[0])}; }, {input(kFloat32)});
  EXPECT_HAS(report, "input 0 is float32: finite differences need float64");
}

TEST(Gradcheck, inputs_are_put_back) {
  Tensor x = input();
  auto before = x.to_vector<double>();
  uint32_t version = x._version();
  gradcheck([](const Tensors& in) { return Tensors{in[0] * in[0]}; }, {x});
  EXPECT_EQ(x.to_vector<double>(), before);
  EXPECT_EQ(x._version(), version);
}

TEST(Gradcheck, outputs_that_are_not_floating_do_not_count) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * in[0], zeros({2}, kInt64)}; };
  EXPECT_TRUE(gradcheck(f, {input()}));
}

TEST(Gradcheck, views_and_transposed_inputs_work) {
  Tensor x = transpose(input().detach(), 0, 1).requires_grad_();
  auto f = [](const Tensors& in) { return Tensors{transpose(in[0], 0, 1)}; };
  EXPECT_TRUE(gradcheck(f, {x}));
}

TEST(Gradcheck, inputs_that_cannot_be_checked_are_refused) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * in[0]}; };
  EXPECT_HAS(report_of(f, {input().detach()}), "requires grad");
  Tensor expanded = expand(ir::sample({1}), {3}).requires_grad_();
  EXPECT_HAS(report_of(f, {expanded}), "is expanded (stride 0)");
}

TEST(Gradcheck, an_undefined_gradient_must_act_as_zeros) {
  // Two outputs of one node: the check runs with only one of them having a gradient.
  auto f = [](const Tensors& in) { return unbind(in[0], 0); };
  EXPECT_TRUE(gradcheck(f, {input()}));
  EXPECT_TRUE(gradgradcheck(f, {input()}));
}

}  // namespace
}  // namespace fg::autograd
