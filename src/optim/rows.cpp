#include "optim/rows.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir/primitive.h"
#include "ops/create/create.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/row_call.h"

namespace fg::optim {

namespace {

constexpr int64_t kBlock = 512;
constexpr size_t kMostItem = 8;
// The first row of numbers, while inner rows are still counted.
constexpr int kNumbers = 1000;

std::vector<char> repeated(const Scalar& number, DType dtype) {
  std::vector<char> row(static_cast<size_t>(kBlock) * kMostItem);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(reinterpret_cast<T*>(row.data()), kBlock, number.to<T>());
  });
  return row;
}

}  // namespace

// Writes down which kernels a formula calls. Memory stands for a row: the next tensor in the place
// of one that is gone takes its row.
class RowRecorder : public ir::Interpreter {
 public:
  explicit RowRecorder(RowProgram& program) : program_(program) {}

  void add_outside(const Tensor& tensor) { rows_[tensor.impl()->data] = program_.outside_++; }
  // -1: no row is known.
  int row_of(const Tensor& tensor) const {
    auto found = rows_.find(tensor.impl()->data);
    return found == rows_.end() ? -1 : found->second;
  }
  bool complete() const { return complete_; }

  void call(ir::Call& call) override {
    if (!call.primitive) return call.run();
    ops::RowCall made;
    {
      ops::WatchRowCall watch(made);
      call.run();
    }
    if (!made.kernel) return void(complete_ = false);
    add_step(call, made);
  }
  bool write(const Tensor&, const Tensor&) override {
    complete_ = false;
    return false;
  }

 private:
  void add_step(const ir::Call& call, const ops::RowCall& made) {
    RowProgram::Step step{made.kernel, {}, 0, made.info->arity, {}};
    if (!call.primitive->params->empty) step.params = call.primitive->params->share(call.params);
    for (int i = 0; i < step.arity; i++) {
      const Tensor& input = *call.inputs[static_cast<size_t>(i)];
      DType wanted = made.info->dtype_of_input(i, made.compute);
      step.input[i] =
          input.impl()->wrapped_number ? row_of_number(input.item(), wanted) : row_of(input);
      complete_ &= step.input[i] >= 0 && (input.impl()->wrapped_number || input.dtype() == wanted);
    }
    auto [place, fresh] = rows_.try_emplace(call.outputs[0].impl()->data, next_row());
    program_.inside_ += fresh;
    complete_ &= place->second >= program_.outside_;
    step.output = place->second;
    program_.steps_.push_back(std::move(step));
  }
  int next_row() const { return program_.outside_ + program_.inside_; }

  int row_of_number(const Scalar& number, DType dtype) {
    program_.same_.push_back(repeated(number, dtype));
    return kNumbers + static_cast<int>(program_.same_.size()) - 1;
  }

  RowProgram& program_;
  std::unordered_map<const void*, int> rows_;
  bool complete_ = true;
};

std::optional<RowProgram> RowProgram::record(const Formula& formula, DType dtype, size_t states) {
  RowProgram program;
  program.item_ = item_size(dtype);
  RowRecorder recorder(program);
  Tensor parameter = zeros({1}, dtype), gradient = zeros({1}, dtype);
  Tensors state, before{parameter};
  for (size_t i = 0; i < states; i++) state.push_back(zeros({1}, dtype));
  before.insert(before.end(), state.begin(), state.end());
  before.push_back(gradient);
  for (const Tensor& each : before) recorder.add_outside(each);
  {
    ir::Interpreting guard(recorder);
    formula.update(parameter, state, gradient);
  }
  std::vector<int> results{recorder.row_of(parameter)};
  for (const Tensor& each : state) results.push_back(recorder.row_of(each));
  bool fits = parameter.dtype() == dtype;
  for (const Tensor& each : state) fits &= each.dtype() == dtype;
  if (!fits || !recorder.complete() || !program.finish(results)) return std::nullopt;
  return program;
}

// Lets the step that computes a result write it to its place at once, if the value from before is
// not read any more.
void RowProgram::redirect(int result, int place) {
  size_t last = steps_.size();
  while (last > 0 && steps_[last - 1].output != result) last--;
  if (last == 0) return void(copies_.push_back({result, place}));
  for (size_t i = last; i < steps_.size(); i++) {
    for (int k = 0; k < steps_[i].arity; k++) {
      if (steps_[i].input[k] == place) return void(copies_.push_back({result, place}));
    }
  }
  steps_[last - 1].output = place;
  for (size_t i = last; i < steps_.size(); i++) {
    for (int k = 0; k < steps_[i].arity; k++) {
      if (steps_[i].input[k] == result) steps_[i].input[k] = place;
    }
  }
}

// `results`: the rows of the next parameter and state.
bool RowProgram::finish(std::span<const int> results) {
  for (size_t i = 0; i < results.size(); i++) {
    int result = results[i], place = static_cast<int>(i);
    if (result < 0) return false;
    if (result == place) continue;
    // A value for two places, or one that came from outside, is copied in the end.
    bool shared = std::count(results.begin(), results.end(), result) > 1;
    bool from_state = result < outside_ - 1;
    if (from_state) return false;
    if (shared || result < outside_)
      copies_.push_back({result, place});
    else
      redirect(result, place);
  }
  int rows = outside_ + inside_;
  for (Step& step : steps_) {
    for (int k = 0; k < step.arity; k++) {
      if (step.input[k] >= kNumbers) step.input[k] += rows - kNumbers;
    }
  }
  return outside_ <= static_cast<int>(std::tuple_size_v<decltype(Elements::rows)>);
}

void RowProgram::run_block(char* const* row, int64_t count) const {
  for (const Step& step : steps_) {
    const void* in[4];
    for (int k = 0; k < step.arity; k++) in[k] = row[step.input[k]];
    step.kernel(count, row[step.output], in, step.params.get());
  }
  for (Copy copy : copies_) {
    std::memcpy(row[copy.to], row[copy.from], static_cast<size_t>(count) * item_);
  }
}

void RowProgram::run(std::span<const Elements> all) const {
  constexpr size_t kRow = static_cast<size_t>(kBlock) * kMostItem;
  std::vector<char> inner(static_cast<size_t>(inside_) * kRow);
  std::vector<char*> row(static_cast<size_t>(outside_));
  for (size_t i = 0; i < static_cast<size_t>(inside_); i++) row.push_back(&inner[i * kRow]);
  for (const auto& number : same_) row.push_back(const_cast<char*>(number.data()));
  for (const Elements& each : all) {
    for (int64_t begin = 0; begin < each.count; begin += kBlock) {
      for (size_t i = 0; i < static_cast<size_t>(outside_); i++) {
        row[i] = each.rows[i] + static_cast<size_t>(begin) * item_;
      }
      run_block(row.data(), std::min(kBlock, each.count - begin));
    }
  }
}

}  // namespace fg::optim
