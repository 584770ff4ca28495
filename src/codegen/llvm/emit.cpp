#include "codegen/llvm/emit.h"

#include "codegen/llvm/lanes.h"

namespace fg::codegen {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

namespace {

class LoopEmitter {
 public:
  LoopEmitter(llvm::Function* function, const LoopKernel& kernel, Level level)
      : kernel_(kernel),
        function_(function),
        b_(BasicBlock::Create(function->getContext(), "entry", function)),
        lanes_(b_, function->getArg(3), level) {}

  void emit() {
    std::vector<Value*> bases;
    for (size_t k = 0; k < kernel_.operands.size(); k++) {
      Value* slot = b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), k);
      bases.push_back(b_.CreateLoad(b_.getPtrTy(), slot));
    }
    Value *begin = function_->getArg(1), *end = function_->getArg(2);
    if (kernel_.is_flat()) {
      row(bases, begin, end);
    } else {
      count(begin, end, 1, [&](Value* index) {
        row(row_starts(bases, index), b_.getInt64(0), b_.getInt64(kernel_.sizes.back()));
      });
    }
    b_.CreateRetVoid();
  }

 private:
  size_t inner() const { return kernel_.sizes.size() - 1; }
  int64_t inner_stride(size_t k) const { return kernel_.operands[k].strides[inner()]; }
  int64_t item(size_t k) const {
    return static_cast<int64_t>(item_size(kernel_.operands[k].dtype));
  }
  bool has_tail() const { return kernel_.is_flat() || kernel_.sizes.back() % kLanes != 0; }

  // for (i = begin; i < end; i += step) body(i)
  template <class Body>
  void count(Value* begin, Value* end, int64_t step, const Body& body) {
    auto& context = function_->getContext();
    BasicBlock* before = b_.GetInsertBlock();
    auto* head = BasicBlock::Create(context, "head", function_);
    auto* inside = BasicBlock::Create(context, "body", function_);
    auto* after = BasicBlock::Create(context, "after", function_);
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* index = b_.CreatePHI(b_.getInt64Ty(), 2);
    index->addIncoming(begin, before);
    b_.CreateCondBr(b_.CreateICmpSLT(index, end), inside, after);
    b_.SetInsertPoint(inside);
    body(index);
    index->addIncoming(b_.CreateAdd(index, b_.getInt64(static_cast<uint64_t>(step))),
                       b_.GetInsertBlock());
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
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
  Value* times(Value* index, int64_t factor) {
    return b_.CreateMul(index, b_.getInt64(static_cast<uint64_t>(factor)));
  }

  // Where every operand has the first element of a row.
  std::vector<Value*> row_starts(std::vector<Value*> pointers, Value* row) {
    for (size_t d = inner(); d-- > 0;) {
      Value* at = row;
      if (d > 0) {
        Value* size = b_.getInt64(static_cast<uint64_t>(kernel_.sizes[d]));
        at = b_.CreateURem(row, size);
        row = b_.CreateUDiv(row, size);
      }
      for (size_t k = 0; k < pointers.size(); k++) {
        int64_t stride = kernel_.operands[k].strides[d] * item(k);
        if (stride != 0) pointers[k] = advance(pointers[k], times(at, stride));
      }
    }
    return pointers;
  }

  void row(const std::vector<Value*>& pointers, Value* begin, Value* end) {
    std::vector<Value*> same(kernel_.inputs);
    for (size_t k = 0; k < kernel_.inputs; k++) {
      if (inner_stride(k) != 0) continue;
      DType dtype = kernel_.operands[k].dtype;
      Value* lane = b_.CreateLoad(lanes_.memory_type(dtype), pointers[k]);
      same[k] = lanes_.from_memory(b_.CreateVectorSplat(kLanes, lane), dtype);
    }
    count(begin, end, kLanes, [&](Value* index) { block(pointers, same, index, end); });
  }

  // Sixteen elements. The last ones of a row go through padded scratch, so that there is one body.
  void block(const std::vector<Value*>& pointers, const std::vector<Value*>& same, Value* index,
             Value* end) {
    Value *left = b_.CreateSub(end, index), *partial = nullptr;
    if (has_tail()) partial = b_.CreateICmpSLT(left, b_.getInt64(kLanes));
    std::vector<Value*> at = addresses(pointers, index);
    if (partial) use_scratch(at, left, partial);
    std::vector<Value*> inputs = same;
    for (size_t k = 0; k < kernel_.inputs; k++) {
      if (!inputs[k]) inputs[k] = load(k, at[k], left, partial);
    }
    std::vector<Value*> results = lanes_.emit(kernel_.program, inputs);
    for (size_t k = kernel_.inputs; k < at.size(); k++) {
      store(k, results[k - kernel_.inputs], at[k], left, partial);
    }
    if (!partial) return;
    when(partial, [&] {
      for (size_t k = kernel_.inputs; k < at.size(); k++) {
        if (inner_stride(k) == 1) {
          Value* to = advance(pointers[k], times(index, item(k)));
          lanes_.call(Service::copy, {to, at[k], times(left, item(k))});
        }
      }
    });
  }

  std::vector<Value*> addresses(const std::vector<Value*>& pointers, Value* index) {
    std::vector<Value*> at = pointers;
    for (size_t k = 0; k < at.size(); k++) {
      if (inner_stride(k) != 0) at[k] = advance(at[k], times(index, inner_stride(k) * item(k)));
    }
    return at;
  }

  void use_scratch(std::vector<Value*>& at, Value* left, Value* partial) {
    BasicBlock* whole = b_.GetInsertBlock();
    std::vector<Value*> padded(at.size());
    BasicBlock* copied = nullptr;
    when(partial, [&] {
      for (size_t k = 0; k < at.size(); k++) {
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
      if (partial) {  // what is behind the end reads the last element again
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
