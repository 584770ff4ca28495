#include "autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "base/fail.h"
#include "ir/registry.h"
#include "ops/create/create.h"

namespace fg::autograd {
namespace {

// d output / d input: one row per input element, one column per output element.
struct Jacobian {
  int64_t rows, columns;
  std::vector<double> values;

  Jacobian(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  double& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
  std::string text() const {
    return alias(tensor(values, kFloat64), {rows, columns}, {columns, 1}, 0).text();
  }
};
using Jacobians = std::vector<Jacobian>;  // one per checked input

// One element in logical order, read and written without autograd or the version taking notice.
class Element {
 public:
  Element(const Tensor& tensor, int64_t index) : dtype_(tensor.dtype()) {
    int64_t offset = 0;
    for (size_t d = tensor.sizes().size(); d-- > 0;) {
      int64_t size = tensor.sizes()[d].value();
      offset += index % size * tensor.strides()[d].value();
      index /= size;
    }
    place_ = static_cast<char*>(tensor.data_ptr()) +
             offset * static_cast<int64_t>(item_size(tensor.dtype()));
  }
  double get() const {
    return visit(dtype_, [&](auto zero) {
      return static_cast<double>(*reinterpret_cast<decltype(zero)*>(place_));
    });
  }
  void set(double value) const {
    visit(dtype_, [&](auto zero) {
      using T = decltype(zero);
      *reinterpret_cast<T*>(place_) = Scalar(value).to<T>();
    });
  }

 private:
  DType dtype_;
  char* place_;
};

// Moves an element for as long as the object lives.
class Moved {
 public:
  Moved(const Element& element, double step) : element_(element), original_(element.get()) {
    element.set(original_ + step);
  }
  ~Moved() { element_.set(original_); }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

 private:
  Element element_;
  double original_;
};

bool is_checked(const Tensor& input) {
  return input.defined() && input.requires_grad() && is_differentiable(input.dtype());
}

Tensors floating(const Tensors& outputs) {
  Tensors result;
  for (const Tensor& output : outputs) {
    if (output.defined() && is_differentiable(output.dtype())) result.push_back(output);
  }
  return result;
}

// A gradient in memory of its own for an output: the same values every time, none special.
Tensor made_up_gradient(const Tensor& output) {
  return ir::sample(output.sizes(), -1, 1).to(output.dtype());
}

class Check {
 public:
  Check(const TensorFunction& f, const Tensors& inputs, const GradcheckOptions& options)
      : f_(f), inputs_(inputs), options_(options) {
    for (size_t i = 0; i < inputs.size(); i++) {
      if (!is_checked(inputs[i])) continue;
      refuse_expanded(i);
      checked_.push_back(i);
    }
    if (checked_.empty()) {
      fail(ErrorKind::value,
           "gradcheck: none of the {} inputs is a floating tensor that requires grad; call "
           "requires_grad_() on one",
           inputs.size());
    }
    outputs_ = floating(f_(inputs_));
  }

  // The report of the first mismatch; empty: the gradients are right.
  std::string run() const {
    std::vector<Jacobians> numerical = numerical_jacobians();
    for (size_t k = 0; k < outputs_.size(); k++) {
      Jacobians analytical = analytical_jacobians(k);
      std::string report = compare(k, numerical[k], analytical);
      if (report.empty()) report = check_repeatable(k);
      if (report.empty() && options_.check_undefined_grad) report = check_undefined(k);
      if (!report.empty()) return report;
    }
    return {};
  }

 private:
  void refuse_expanded(size_t i) const {
    const Tensor& input = inputs_[i];
    for (size_t d = 0; d < input.sizes().size(); d++) {
      if (input.sizes()[d] > 1 && input.strides()[d] == 0) {
        fail(
            "gradcheck: dimension {} of input {} is expanded (stride 0), so its elements cannot "
            "move one by one; give a contiguous copy",
            d, i);
      }
    }
  }

  Jacobians zero_jacobians(size_t k) const {
    Jacobians result;
    for (size_t i : checked_) result.emplace_back(inputs_[i].numel(), outputs_[k].numel());
    return result;
  }

  std::vector<Jacobians> numerical_jacobians() const {
    std::vector<Jacobians> result;
    for (size_t k = 0; k < outputs_.size(); k++) result.push_back(zero_jacobians(k));
    for (size_t i = 0; i < checked_.size(); i++) {
      const Tensor& input = inputs_[checked_[i]];
      for (int64_t row = 0; row < input.numel(); row++) {
        Element element(input, row);
        auto up = values_with(element, options_.eps), down = values_with(element, -options_.eps);
        for (size_t k = 0; k < outputs_.size(); k++) {
          for (size_t m = 0; m < up[k].size(); m++) {
            result[k][i].at(row, static_cast<int64_t>(m)) =
                (up[k][m] - down[k][m]) / (2 * options_.eps);
          }
        }
      }
    }
    return result;
  }
  // The outputs with one element moved; copied before it moves back, as they may be views of it.
  std::vector<std::vector<double>> values_with(const Element& element, double step) const {
    Moved moved(element, step);
    Tensors outputs = floating(f_(inputs_));
    bool same = outputs.size() == outputs_.size();
    for (size_t k = 0; same && k < outputs.size(); k++) {
      same = outputs[k].sizes() == outputs_[k].sizes();
    }
    if (!same) {
      fail(
          "gradcheck: f returned other outputs for a slightly moved input; expected the same "
          "number and sizes each time");
    }
    std::vector<std::vector<double>> values;
    for (const Tensor& output : outputs) values.push_back(output.to_vector<double>());
    return values;
  }

  Tensors gradients(const GraphPoints& outputs, const Tensors& grad_outputs) const {
    GraphPoints points;
    for (size_t i : checked_) points.emplace_back(inputs_[i]);
    return grad(outputs, points, grad_outputs,
                {.retain_graph = true, .allow_unused = true, .materialize_grads = true});
  }

  Jacobians analytical_jacobians(size_t k) const {
    const Tensor& output = outputs_[k];
    Jacobians result = zero_jacobians(k);
    if (!output.requires_grad()) return result;
    for (int64_t column = 0; column < output.numel(); column++) {
      Tensor one_hot = zeros(output.sizes(), output.dtype());
      Element(one_hot, column).set(1);
      Tensors grads = gradients({output}, {one_hot});
      for (size_t i = 0; i < grads.size(); i++) {
        std::vector<double> values = grads[i].to_vector<double>();
        for (size_t row = 0; row < values.size(); row++) {
          result[i].at(static_cast<int64_t>(row), column) = values[row];
        }
      }
    }
    return result;
  }

  std::string compare(size_t k, const Jacobians& numerical, const Jacobians& analytical) const {
    for (size_t i = 0; i < checked_.size(); i++) {
      const Jacobian &expected = numerical[i], &got = analytical[i];
      double worst = -1;
      int64_t row = 0, column = 0;
      for (int64_t r = 0; r < got.rows; r++) {
        for (int64_t c = 0; c < got.columns; c++) {
          double n = expected.at(r, c), difference = std::abs(got.at(r, c) - n);
          if (difference <= options_.atol + options_.rtol * std::abs(n)) continue;
          if (std::isnan(difference)) difference = HUGE_VAL;  // worse than any number
          if (difference <= worst) continue;
          worst = difference;
          row = r;
          column = c;
        }
      }
      if (worst >= 0) return mismatch(k, i, row, column, expected, got);
    }
    return {};
  }

  std::string mismatch(size_t k, size_t i, int64_t row, int64_t column, const Jacobian& numerical,
                       const Jacobian& analytical) const {
    const Tensor& input = inputs_[checked_[i]];
    double n = numerical.at(row, column), a = analytical.at(row, column);
    std::string report = fmt::format(
        "gradcheck: the gradient of output {} with respect to input {} is wrong: at input element "
        "{}, output element {} the difference is {:.3g} (numerical {:.9g}, analytical {:.9g}; "
        "allowed {:.3g})\nnumerical:\n{}\nanalytical:\n{}",
        k, checked_[i], row, column, std::abs(a - n), n, a,
        options_.atol + options_.rtol * std::abs(n), numerical.text(), analytical.text());
    if (input.dtype() != kFloat64) {
      report +=
          fmt::format("\ninput {} is {}: finite differences need float64, convert the inputs first",
                      checked_[i], name(input.dtype()));
    }
    return report;
  }

  std::string check_repeatable(size_t k) const {
    if (!outputs_[k].requires_grad()) return {};
    Tensor gradient = made_up_gradient(outputs_[k]);
    Tensors first = gradients({outputs_[k]}, {gradient});
    double apart = distance(first, gradients({outputs_[k]}, {gradient}));
    if (apart <= options_.nondet_tol) return {};
    return fmt::format(
        "gradcheck: backward of output {} is not repeatable: two runs differ by {:.3g}; if random "
        "numbers are meant to be drawn there, allow it with nondet_tol",
        k, apart);
  }

  // The other outputs have no gradient, then zeros.
  std::string check_undefined(size_t k) const {
    if (outputs_.size() == 1 || !outputs_[k].requires_grad()) return {};
    Tensor gradient = made_up_gradient(outputs_[k]);
    GraphPoints all;
    Tensors grads;
    for (size_t other = 0; other < outputs_.size(); other++) {
      if (!outputs_[other].requires_grad()) continue;
      all.emplace_back(outputs_[other]);
      grads.push_back(other == k ? gradient : zeros_like(outputs_[other]));
    }
    double apart = distance(gradients({outputs_[k]}, {gradient}), gradients(all, grads));
    if (apart <= std::max(options_.atol, options_.nondet_tol)) return {};
    return fmt::format(
        "gradcheck: the gradient of output {} changes by {:.3g} when the other outputs have "
        "gradients of zeros instead of none; a rule must take an undefined gradient for zeros",
        k, apart);
  }

  static double distance(const Tensors& a, const Tensors& b) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); i++) {
      std::vector<double> x = a[i].to_vector<double>(), y = b[i].to_vector<double>();
      for (size_t j = 0; j < x.size(); j++) {
        bool both_nan = std::isnan(x[j]) && std::isnan(y[j]);
        if (!both_nan && x[j] != y[j]) largest = std::fmax(largest, std::abs(x[j] - y[j]));
        if (std::isnan(x[j]) != std::isnan(y[j])) largest = HUGE_VAL;
      }
    }
    return largest;
  }

  const TensorFunction& f_;
  const Tensors& inputs_;
  const GradcheckOptions& options_;
  std::vector<size_t> checked_;
  Tensors outputs_;
};

}  // namespace

bool gradcheck(const TensorFunction& f, const Tensors& inputs, const GradcheckOptions& options) {
  EnableGradGuard recording;
  std::string report = Check(f, inputs, options).run();
  if (report.empty()) return true;
  if (options.raise_exception) fail("{}", report);
  return false;
}

bool gradgradcheck(const TensorFunction& f, const Tensors& inputs, const Tensors& grad_outputs,
                   const GradcheckOptions& options) {
  EnableGradGuard recording;
  auto differentiable = [&](const Tensors& outputs) {
    Tensors result;
    for (const Tensor& output : floating(outputs)) {
      if (output.requires_grad()) result.push_back(output);
    }
    return result;
  };
  Tensors all = inputs;
  Tensors outputs = differentiable(f(inputs));
  if (outputs.empty()) return true;
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) {
    fail("gradgradcheck: got {} grad_outputs for {} outputs that require grad", grad_outputs.size(),
         outputs.size());
  }
  for (size_t k = 0; k < outputs.size(); k++) {
    all.push_back(grad_outputs.empty() ? made_up_gradient(outputs[k]).requires_grad_()
                                       : grad_outputs[k]);
  }
  auto gradient = [&](const Tensors& arguments) {
    Tensors own(arguments.begin(), arguments.begin() + static_cast<int64_t>(inputs.size()));
    Tensors grads(arguments.begin() + static_cast<int64_t>(inputs.size()), arguments.end());
    Tensors results = differentiable(f(own));
    GraphPoints from(results.begin(), results.end()), to;
    for (const Tensor& input : own) {
      if (is_checked(input)) to.emplace_back(input);
    }
    return grad(from, to, grads, {.create_graph = true, .allow_unused = true});
  };
  return gradcheck(gradient, all, options);
}

}  // namespace fg::autograd
