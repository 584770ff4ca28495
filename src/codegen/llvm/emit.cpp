#include "codegen/llvm/emit.h"

#include <bit>

#include "codegen/llvm/lanes.h"
#include "ops/reduce/reduce_kernel.h"

namespace fg::codegen {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

namespace {

using Values = std::vector<Value*>;
const llvm::Align kScratchAlign(64);

class LoopEmitter {
 public:
  LoopEmitter(llvm::Function* function, const LoopKernel& kernel, Level level)
      : kernel_(kernel),
        function_(function),
        b_(BasicBlock::Create(function->getContext(), "entry", function)),
        lanes_(b_, function->getArg(3), level) {}

  void emit() {
    Values bases;
    for (size_t k = 0; k < kernel_.operands.size(); k++) {
      Value* slot = b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), k);
      bases.push_back(b_.CreateLoad(b_.getPtrTy(), slot));
    }
    Value *begin = function_->getArg(1), *end = function_->getArg(2);
    if (kernel_.is_flat()) {
      row(bases, begin, end, {});
    } else if (kernel_.reductions.empty()) {
      count(begin, end, 1, [&](Value* index) {
        row(row_starts(bases, index, inner()), number(0), number(kernel_.sizes.back()), {});
      });
    } else {
      count(begin, end, 1, [&](Value* index) { unit(bases, index); });
    }
    b_.CreateRetVoid();
  }

 private:
  size_t inner() const { return kernel_.sizes.size() - 1; }
  size_t elementwise() const { return kernel_.operands.size() - kernel_.reductions.size(); }
  int64_t inner_stride(size_t k) const { return kernel_.operands[k].strides[inner()]; }
  int64_t item(size_t k) const {
    return static_cast<int64_t>(item_size(kernel_.operands[k].dtype));
  }
  bool has_tail() const { return kernel_.is_flat() || kernel_.sizes.back() % kLanes != 0; }

  Value* number(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // for (i = begin; i < end; i += step) body(i)
  template <class Body>
  void count(Value* begin, Value* end, int64_t step, const Body& body) {
    carry(begin, end, step, {}, [&](Value* index, const Values&) {
      body(index);
      return Values{};
    });
  }
  // The same for values that each turn makes anew from what they were; their last ones.
  template <class Body>
  Values carry(Value* begin, Value* end, int64_t step, const Values& first, const Body& body) {
    auto& context = function_->getContext();
    BasicBlock* before = b_.GetInsertBlock();
    auto* head = BasicBlock::Create(context, "head", function_);
    auto* inside = BasicBlock::Create(context, "body", function_);
    auto* after = BasicBlock::Create(context, "after", function_);
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* index = b_.CreatePHI(b_.getInt64Ty(), 2);
    index->addIncoming(begin, before);
    Values carried;
    for (Value* value : first) {
      auto* phi = b_.CreatePHI(value->getType(), 2);
      phi->addIncoming(value, before);
      carried.push_back(phi);
    }
    b_.CreateCondBr(b_.CreateICmpSLT(index, end), inside, after);
    b_.SetInsertPoint(inside);
    Values next = body(index, carried);
    index->addIncoming(b_.CreateAdd(index, number(step)), b_.GetInsertBlock());
    for (size_t k = 0; k < next.size(); k++) {
      llvm::cast<llvm::PHINode>(carried[k])->addIncoming(next[k], b_.GetInsertBlock());
    }
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
    return carried;
  }
  template <class Then>
  void when(Value* condition, const Then& then) {
    auto& context = function_->getContext();
    auto* inside = BasicBlock::Create(context, "then", function_);
    auto* after = BasicBlock::Create(context, "next", function_);
    b_.CreateCondBr(condition, inside, after);
    b_.SetInsertPoint(inside);
    then();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  Value* advance(Value* pointer, Value* bytes) {
    return b_.CreateGEP(b_.getInt8Ty(), pointer, bytes);
  }
  Value* times(Value* index, int64_t factor) { return b_.CreateMul(index, number(factor)); }

  // Pointers to the first element of every operand at an index of the first `loops` loops.
  Values row_starts(Values pointers, Value* row, size_t loops) {
    for (size_t d = loops; d-- > 0;) {
      Value* at = row;
      if (d > 0) {
        Value* size = b_.getInt64(static_cast<uint64_t>(kernel_.sizes[d]));
        at = b_.CreateURem(row, size);
        row = b_.CreateUDiv(row, size);
      }
      advance_all(pointers, at, d);
    }
    return pointers;
  }
  void advance_all(Values& pointers, Value* turns, size_t loop) {
    for (size_t k = 0; k < elementwise(); k++) {
      int64_t stride = kernel_.operands[k].strides[loop] * item(k);
      if (stride != 0) pointers[k] = advance(pointers[k], times(turns, stride));
    }
  }

  // One block of the elements that are reduced, in the canonical order
  // (ops/reduce/reduce_lanes.h).
  void unit(const Values& bases, Value* index) {
    Value *row_index = index, *begin = number(0), *end = number(kernel_.sizes.back());
    if (kernel_.blocks > 1) {
      const int64_t block = kernels::kReduceBlock * kernel_.columns;
      row_index = b_.CreateUDiv(index, number(kernel_.blocks));
      begin = times(b_.CreateURem(index, number(kernel_.blocks)), block);
      Value* next = b_.CreateAdd(begin, number(block));
      end = b_.CreateSelect(b_.CreateICmpSLT(next, end), next, end);
    }
    Values sums = begin_sums();
    Values starts = row_starts(bases, row_index, kernel_.sizes.size() - kernel_.unit_loops);
    if (kernel_.unit_loops == 1) {
      sums = row(starts, begin, end, sums);
    } else {
      Value* rows = number(kernel_.sizes[inner() - 1]);
      sums = carry(number(0), rows, 1, sums, [&](Value* at, const Values& carried) {
        Values pointers = starts;
        advance_all(pointers, at, inner() - 1);
        return row(pointers, begin, end, carried);
      });
    }
    if (has_columns()) sums = fold_columns();
    for (size_t r = 0; r < sums.size(); r++) {
      Value* results = has_columns() ? sums[r] : fold(r, sums[r]);
      store_results(elementwise() + r, results, bases, index);
    }
  }
  bool has_columns() const { return kernel_.columns > 1; }

  // Partial results of the reductions: sixteen lanes in a register, which loops carry. With several
  // columns they are in memory: sixteen elements are then those of 16 / columns positions, and the
  // lanes of all columns are as many vectors as there are columns, of all reductions side by side.
  Values begin_sums() {
    Values sums;
    for (size_t r = 0; r < kernel_.reductions.size(); r++) sums.push_back(identity(r));
    if (!has_columns()) return sums;
    const int64_t bytes = column_bytes(sums.size()) * kernel_.columns;
    columns_ = lanes_.scratch(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(bytes)));
    count(number(0), number(kernel_.columns), 1, [&](Value* i) {
      Value* at = columns_at(i);
      for (size_t r = 0; r < sums.size(); r++) store_lanes(r, at, sums[r]);
    });
    return {};
  }
  // Bytes of one vector of each of the first reductions.
  int64_t column_bytes(size_t reductions) const {
    int64_t bytes = 0;
    for (size_t r = 0; r < reductions; r++) bytes += kLanes * item(elementwise() + r);
    return bytes;
  }
  Value* columns_at(Value* i) {
    return advance(columns_, times(i, column_bytes(kernel_.reductions.size())));
  }
  Value* load_lanes(size_t r, Value* at) {
    Type* vector = llvm::FixedVectorType::get(lanes_.memory_type(reduced_dtype(r)), kLanes);
    return b_.CreateAlignedLoad(vector, advance(at, number(column_bytes(r))), kScratchAlign);
  }
  void store_lanes(size_t r, Value* at, Value* lanes) {
    b_.CreateAlignedStore(lanes, advance(at, number(column_bytes(r))), kScratchAlign);
  }
  void add_to_columns(const Values& values, Value* index) {
    Value* i = b_.CreateURem(b_.CreateUDiv(index, number(kLanes)), number(kernel_.columns));
    Value* at = columns_at(i);
    for (size_t r = 0; r < values.size(); r++) {
      store_lanes(r, at, combine(r, load_lanes(r, at), values[r]));
    }
  }
  // Lane j with lane j + 8, then 4, 2, 1, of every column; the results are the first lanes.
  Values fold_columns() {
    const size_t reductions = kernel_.reductions.size();
    const int64_t steps = std::countr_zero(static_cast<uint64_t>(kernel_.columns));
    count(number(0), number(steps), 1, [&](Value* step) {
      Value* half = b_.CreateLShr(number(kernel_.columns / 2), step);
      count(number(0), half, 1, [&](Value* i) {
        Value *at = columns_at(i), *behind = columns_at(b_.CreateAdd(i, half));
        for (size_t r = 0; r < reductions; r++) {
          store_lanes(r, at, combine(r, load_lanes(r, at), load_lanes(r, behind)));
        }
      });
    });
    Values results;
    for (size_t r = 0; r < reductions; r++) {
      results.push_back(fold(r, load_lanes(r, columns_), static_cast<int>(kernel_.columns)));
    }
    return results;
  }
  // The results of block `index`, one per column, behind those of the blocks before it.
  void store_results(size_t k, Value* results, const Values& bases, Value* index) {
    if (!has_columns()) {
      b_.CreateStore(b_.CreateExtractElement(results, number(0)),
                     advance(bases[k], times(index, item(k))));
      return;
    }
    Value* units = number(kernel_.units);
    Value *rows = b_.CreateUDiv(index, units), *unit = b_.CreateURem(index, units);
    Value* place = b_.CreateAdd(times(rows, kernel_.columns * kernel_.units), unit);
    Value* lanes = lanes_.scratch(results->getType());
    b_.CreateAlignedStore(results, lanes, kScratchAlign);
    lanes_.call(Service::scatter,
                {advance(bases[k], times(place, item(k))), number(kernel_.units * item(k)), lanes,
                 number(item(k)), number(kernel_.columns)});
  }
  DType reduced_dtype(size_t r) const { return kernel_.operands[elementwise() + r].dtype; }
  Value* identity(size_t r) {
    ir::Program program(identity_of(kernel_.reductions[r], reduced_dtype(r)));
    return lanes_.emit(program, {})[0];
  }
  Value* combine(size_t r, Value* a, Value* b) {
    DType dtype = reduced_dtype(r);
    ir::Program program(
        combined(kernel_.reductions[r], ir::Expr::input(0, dtype), ir::Expr::input(1, dtype)));
    return lanes_.emit(program, {a, b})[0];
  }
  // Lane j with lane j + 8, then 4, 2, 1, down to `last`; the result is the first.
  Value* fold(size_t r, Value* lanes, int last = 1) {
    for (int half = kLanes / 2; half >= last; half /= 2) {
      std::vector<int> behind(kLanes);
      for (int i = 0; i < kLanes; i++) behind[static_cast<size_t>(i)] = (i + half) % kLanes;
      lanes = combine(r, lanes, b_.CreateShuffleVector(lanes, behind));
    }
    return lanes;
  }
  // Lanes behind the end of a row change nothing.
  Value* without_rest(size_t r, Value* value, Value* left) {
    llvm::SmallVector<llvm::Constant*> lanes;
    for (int i = 0; i < kLanes; i++) lanes.push_back(b_.getInt64(static_cast<uint64_t>(i)));
    Value* inside =
        b_.CreateICmpSLT(llvm::ConstantVector::get(lanes), b_.CreateVectorSplat(kLanes, left));
    return b_.CreateSelect(inside, value, identity(r));
  }

  // The elements from begin to end of a row; what was reduced so far, and then.
  Values row(const Values& pointers, Value* begin, Value* end, const Values& sums) {
    Values same(kernel_.inputs);
    for (size_t k = 0; k < kernel_.inputs; k++) {
      if (inner_stride(k) != 0) continue;
      same[k] = repeated(k, pointers[k]);
    }
    return carry(begin, end, kLanes, sums, [&](Value* index, const Values& carried) {
      return block(pointers, same, index, end, carried);
    });
  }

  // One element in all lanes, or a few again and again.
  Value* repeated(size_t k, Value* at) {
    const LoopOperand& operand = kernel_.operands[k];
    Type* lane = lanes_.memory_type(operand.dtype);
    if (operand.period == 0) {
      Value* one = b_.CreateLoad(lane, at);
      return lanes_.from_memory(b_.CreateVectorSplat(kLanes, one), operand.dtype);
    }
    std::vector<int> places(kLanes);
    for (int i = 0; i < kLanes; i++) {
      places[static_cast<size_t>(i)] = i % static_cast<int>(operand.period);
    }
    Type* few = llvm::FixedVectorType::get(lane, static_cast<unsigned>(operand.period));
    llvm::Align align(static_cast<uint64_t>(item(k)));
    Value* loaded = b_.CreateAlignedLoad(few, at, align);
    return lanes_.from_memory(b_.CreateShuffleVector(loaded, places), operand.dtype);
  }

  // Sixteen elements. The last ones of a row go through padded scratch, so that there is one body.
  Values block(const Values& pointers, const Values& same, Value* index, Value* end,
               const Values& sums) {
    Value *left = b_.CreateSub(end, index), *partial = nullptr;
    if (has_tail()) partial = b_.CreateICmpSLT(left, b_.getInt64(kLanes));
    Values at = addresses(pointers, index);
    if (partial) use_scratch(at, left, partial);
    Values inputs = same;
    for (size_t k = 0; k < kernel_.inputs; k++) {
      if (!inputs[k]) inputs[k] = load(k, at[k], left, partial);
    }
    Values results = lanes_.emit(kernel_.program, inputs);
    for (size_t k = kernel_.inputs; k < elementwise(); k++) {
      store(k, results[k - kernel_.inputs], at[k], left, partial);
    }
    Values next;
    for (size_t r = 0; r < kernel_.reductions.size(); r++) {
      Value* value = results[elementwise() - kernel_.inputs + r];
      if (partial) value = without_rest(r, value, left);
      next.push_back(has_columns() ? value : combine(r, sums[r], value));
    }
    if (has_columns()) add_to_columns(std::exchange(next, {}), index);
    if (partial) store_rest(pointers, at, index, left, partial);
    return next;
  }
  void store_rest(const Values& pointers, const Values& at, Value* index, Value* left,
                  Value* partial) {
    when(partial, [&] {
      for (size_t k = kernel_.inputs; k < elementwise(); k++) {
        if (inner_stride(k) == 1) {
          Value* to = advance(pointers[k], times(index, item(k)));
          lanes_.call(Service::copy, {to, at[k], times(left, item(k))});
        }
      }
    });
  }

  Values addresses(const Values& pointers, Value* index) {
    Values at = pointers;
    for (size_t k = 0; k < elementwise(); k++) {
      if (inner_stride(k) != 0) at[k] = advance(at[k], times(index, inner_stride(k) * item(k)));
    }
    return at;
  }

  void use_scratch(Values& at, Value* left, Value* partial) {
    BasicBlock* whole = b_.GetInsertBlock();
    Values padded(at.size());
    BasicBlock* copied = nullptr;
    when(partial, [&] {
      for (size_t k = 0; k < elementwise(); k++) {
        if (inner_stride(k) != 1) continue;
        Type* lane = lanes_.memory_type(kernel_.operands[k].dtype);
        Type* vector = llvm::FixedVectorType::get(lane, kLanes);
        padded[k] = lanes_.scratch(vector);
        if (k >= kernel_.inputs) continue;
        b_.CreateStore(llvm::Constant::getNullValue(vector), padded[k]);
        lanes_.call(Service::copy, {padded[k], at[k], times(left, item(k))});
      }
      copied = b_.GetInsertBlock();
    });
    for (size_t k = 0; k < at.size(); k++) {
      if (!padded[k]) continue;
      auto* chosen = b_.CreatePHI(b_.getPtrTy(), 2);
      chosen->addIncoming(at[k], whole);
      chosen->addIncoming(padded[k], copied);
      at[k] = chosen;
    }
  }

  Value* load(size_t k, Value* at, Value* left, Value* partial) {
    DType dtype = kernel_.operands[k].dtype;
    Type* lane = lanes_.memory_type(dtype);
    Type* vector = llvm::FixedVectorType::get(lane, kLanes);
    llvm::Align align(static_cast<uint64_t>(item(k)));
    if (inner_stride(k) == 1) {
      return lanes_.from_memory(b_.CreateAlignedLoad(vector, at, align), dtype);
    }
    Value* result = llvm::Constant::getNullValue(vector);
    for (int i = 0; i < kLanes; i++) {
      Value* place = b_.getInt64(static_cast<uint64_t>(i));
      if (partial) {  // lanes behind the end read the last element again
        Value* last = b_.CreateSub(left, b_.getInt64(1));
        place = b_.CreateSelect(b_.CreateICmpSLT(place, left), place, last);
      }
      Value* from = advance(at, times(place, inner_stride(k) * item(k)));
      result = b_.CreateInsertElement(result, b_.CreateAlignedLoad(lane, from, align), i);
    }
    return lanes_.from_memory(result, dtype);
  }

  void store(size_t k, Value* value, Value* at, Value* left, Value* partial) {
    DType dtype = kernel_.operands[k].dtype;
    Value* lanes = lanes_.to_memory(value, dtype);
    if (inner_stride(k) == 1) {
      b_.CreateAlignedStore(lanes, at, llvm::Align(static_cast<uint64_t>(item(k))));
      return;
    }
    Value* rows = lanes_.scratch(lanes->getType());
    b_.CreateStore(lanes, rows);
    Value *all = b_.getInt64(kLanes), *number = all;
    if (partial) number = b_.CreateSelect(partial, left, all);
    Value* stride = b_.getInt64(static_cast<uint64_t>(inner_stride(k) * item(k)));
    Value* size = b_.getInt64(static_cast<uint64_t>(item(k)));
    lanes_.call(Service::scatter, {at, stride, rows, size, number});
  }

  const LoopKernel& kernel_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  LaneEmitter lanes_;
  Value* columns_ = nullptr;  // partial results, where they are in memory
};

}  // namespace

void emit_loop(llvm::Module& module, const std::string& name, const LoopKernel& kernel,
               Level level) {
  auto& context = module.getContext();
  Type *pointer = llvm::PointerType::get(context, 0), *number = Type::getInt64Ty(context);
  auto* type =
      llvm::FunctionType::get(Type::getVoidTy(context), {pointer, number, number, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function->setDoesNotThrow();
  LoopEmitter(function, kernel, level).emit();
}

}  // namespace fg::codegen
