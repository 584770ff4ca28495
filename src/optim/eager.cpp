#include "optim/eager.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/call.h"
#include "ir/registry.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "optim/rows.h"
#include "tensor/geometry.h"

namespace fg::optim {

namespace {

// Elements that one task updates, about.
constexpr int64_t kTask = 16384;

void write(const Tensor& to, const Tensor& value) {
  static const ir::FunctionInfo& writer = *ir::find_function("copy");
  if (!to.is_same(value)) ir::write_inplace(writer, to, value);
}

void update_one(const Formula& formula, const Subject& subject) {
  NoGradGuard no_grad;
  Tensor parameter = subject.parameter;
  Tensors state = subject.state;
  formula.update(parameter, state, subject.gradient);
  write(subject.parameter, parameter);
  for (size_t i = 0; i < state.size(); i++) write(subject.state[i], state[i]);
}

// Whether memory is one stretch of elements in the order of `like`, and of its dtype.
bool lies_as(const Tensor& tensor, const Tensor& like) {
  return tensor.dtype() == like.dtype() && tensor.sizes() == like.sizes() &&
         tensor.strides() == like.strides();
}
bool has_rows(const Subject& subject) {
  const Tensor& parameter = subject.parameter;
  auto fits = [&](const Tensor& each) { return lies_as(each, parameter); };
  if (!fits(subject.gradient) || !std::all_of(subject.state.begin(), subject.state.end(), fits))
    return false;
  return parameter.is_contiguous() ||
         (!overlaps_itself(parameter.sizes(), parameter.strides()) &&
          reach(parameter.sizes(), parameter.strides()).value() == parameter.numel());
}

// Tasks in order; a large parameter is cut into several.
class Tasks {
 public:
  void add(const Subject& subject) {
    auto item = static_cast<int64_t>(item_size(subject.parameter.dtype()));
    int64_t count = subject.parameter.numel();
    for (int64_t begin = 0; begin < count; begin += kTask) {
      RowProgram::Elements part{{}, std::min(kTask, count - begin)};
      size_t row = 0;
      auto add_row = [&](const Tensor& tensor) {
        if (row == part.rows.size()) return;  // more than any program has
        part.rows[row++] = static_cast<char*>(tensor.impl()->data) + begin * item;
      };
      add_row(subject.parameter);
      for (const Tensor& each : subject.state) add_row(each);
      add_row(subject.gradient);
      if (filled_ == 0 || filled_ + part.count > kTask) {
        starts_.push_back(parts_.size());
        filled_ = 0;
      }
      filled_ += part.count;
      parts_.push_back(std::move(part));
    }
  }
  void run(const RowProgram& program) {
    starts_.push_back(parts_.size());
    pool::parallel_for(static_cast<int64_t>(starts_.size()) - 1, 1,
                       [&](int64_t begin, int64_t end) {
                         size_t first = starts_[static_cast<size_t>(begin)],
                                last = starts_[static_cast<size_t>(end)];
                         program.run(std::span(parts_).subspan(first, last - first));
                       });
  }

 private:
  std::vector<RowProgram::Elements> parts_;
  std::vector<size_t> starts_;
  int64_t filled_ = 0;
};

// A parameter that is given twice is updated twice, one after the other.
bool has_twins(std::span<const Subject> all) {
  std::vector<const void*> memory;
  for (const Subject& each : all) memory.push_back(each.parameter.impl()->data);
  std::sort(memory.begin(), memory.end());
  return std::adjacent_find(memory.begin(), memory.end()) != memory.end();
}

void mark_written(const Subject& subject) {
  subject.parameter.impl()->bump_version();
  for (const Tensor& each : subject.state) each.impl()->bump_version();
}

}  // namespace

void update_all(const Formula& formula, std::span<const Subject> all) {
  bool by_rows = formula.of.by_elements && !modes.interpreter && !has_twins(all);
  std::vector<DType> done;
  for (const Subject& first : all) {
    DType dtype = first.parameter.dtype();
    if (std::find(done.begin(), done.end(), dtype) != done.end()) continue;
    done.push_back(dtype);
    std::optional<RowProgram> program;
    if (by_rows) {
      NoGradGuard no_grad;
      program = RowProgram::record(formula, dtype, first.state.size());
    }
    Tasks tasks;
    for (const Subject& each : all) {
      if (each.parameter.dtype() != dtype) continue;
      if (program && has_rows(each))
        tasks.add(each);
      else
        update_one(formula, each);
    }
    if (!program) continue;
    tasks.run(*program);
    for (const Subject& each : all) {
      if (each.parameter.dtype() == dtype && has_rows(each)) mark_written(each);
    }
  }
}

void update_recorded(const Formula& formula, Subject& subject) {
  // The formula may keep it for a gradient, and it is written to.
  Tensor parameter = subject.parameter.clone();
  formula.update(parameter, subject.state, subject.gradient);
  subject.parameter.copy_(parameter);
}

std::vector<Number> numbers_of_rate(const OptimizerSettings& settings, int64_t step,
                                    const Memory& memory, const Tensor& rate) {
  const Description& of = description_of(settings);
  if (!of.linear_in_rate) {
    fail(ErrorKind::not_implemented,
         "{}: its numbers are no linear functions of lr, so gradients do not reach an lr that "
         "requires grad; detach it or give a number",
         of.name);
  }
  auto at = [&](double lr) {
    OptimizerSettings changed = settings;
    std::visit([&](auto& known) { known.lr = lr; }, changed);
    Memory kept = memory;
    return of.numbers(changed, step, kept);
  };
  Numbers start = at(0), end = at(1);
  std::vector<Number> result(start.begin(), start.end());
  for (size_t i = 0; i < start.size(); i++) {
    if (!start[i] || start[i]->to_double() == end[i]->to_double()) continue;
    double rise = end[i]->to_double() - start[i]->to_double();
    result[i] = rate * Scalar(rise) + Scalar(start[i]->to_double());
  }
  return result;
}

}  // namespace fg::optim
