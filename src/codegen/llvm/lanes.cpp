#include "codegen/llvm/lanes.h"

#include <llvm/IR/MDBuilder.h>

#include "base/fail.h"

namespace fg::codegen {

using ir::Instruction;
using ir::Op;
using llvm::ArrayRef;
using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;

Type* LaneEmitter::lane_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return b_.getDoubleTy();
    case DType::f32:
      return b_.getFloatTy();
    case DType::f16:
      return b_.getHalfTy();
    case DType::boolean:
      return b_.getInt1Ty();
    default:  // bf16 is bits: every level has those
      return b_.getIntNTy(8 * static_cast<unsigned>(item_size(dtype)));
  }
}
Type* LaneEmitter::vector_type(DType dtype) {
  return llvm::FixedVectorType::get(lane_type(dtype), kLanes);
}
Type* LaneEmitter::memory_type(DType dtype) {
  return dtype == DType::boolean ? b_.getInt8Ty() : lane_type(dtype);
}
Value* LaneEmitter::from_memory(Value* value, DType dtype) {
  return dtype == DType::boolean ? b_.CreateIsNotNull(value) : value;
}
Value* LaneEmitter::to_memory(Value* value, DType dtype) {
  if (dtype != DType::boolean) return value;
  return b_.CreateZExt(value, llvm::FixedVectorType::get(b_.getInt8Ty(), kLanes));
}

Value* LaneEmitter::number(Type* vector, int64_t value) {
  if (vector->isFPOrFPVectorTy()) return llvm::ConstantFP::get(vector, static_cast<double>(value));
  return llvm::ConstantInt::get(vector, static_cast<uint64_t>(value), true);
}

Value* LaneEmitter::constant(DType dtype, uint64_t bits) {
  Type* type = lane_type(dtype);
  unsigned width = type->getScalarSizeInBits();
  auto* integer = llvm::ConstantInt::get(
      b_.getContext(), llvm::APInt(width, bits & (width < 64 ? (1ull << width) - 1 : ~0ull)));
  Value* lane = llvm::ConstantExpr::getBitCast(integer, type);
  return b_.CreateVectorSplat(kLanes, lane);
}

std::vector<Value*> LaneEmitter::emit(const ir::Program& program,
                                      const std::vector<Value*>& inputs) {
  std::vector<Value*> values;
  for (const Instruction& x : program.instructions) {
    values.push_back(x.op == Op::input ? inputs[x.payload] : instruction(x, program, values));
  }
  std::vector<Value*> results;
  for (int32_t output : program.outputs) results.push_back(values[output]);
  return results;
}

Value* LaneEmitter::instruction(const Instruction& x, const ir::Program& program,
                                const std::vector<Value*>& values) {
  Value* v[ir::kMaxOperands] = {};
  for (int k = 0; k < x.arity; k++) v[k] = values[x.operand[k]];
  DType from = x.arity ? program.instructions[x.operand[0]].dtype : x.dtype;
  switch (x.op) {
    case Op::constant:
      return constant(x.dtype, x.payload);
    case Op::lt:
    case Op::le:
    case Op::eq:
      return compare(x.op, from, v[0], v[1]);
    case Op::select:
      return b_.CreateSelect(v[0], v[1], v[2]);
    case Op::bitcast:
      return b_.CreateBitCast(v[0], vector_type(x.dtype));
    case Op::convert:
      return convert(v[0], from, x.dtype);
    case Op::rare:
      return rare(x, v);
    default:
      return arithmetic(x.op, x.dtype, v);
  }
}

Value* LaneEmitter::arithmetic(Op op, DType dtype, ArrayRef<Value*> v) {
  bool real = is_floating(dtype);
  switch (op) {
    case Op::add:
      return real ? b_.CreateFAdd(v[0], v[1]) : b_.CreateAdd(v[0], v[1]);
    case Op::sub:
      return real ? b_.CreateFSub(v[0], v[1]) : b_.CreateSub(v[0], v[1]);
    case Op::mul:
      return real ? b_.CreateFMul(v[0], v[1]) : b_.CreateMul(v[0], v[1]);
    case Op::neg:
      return real ? b_.CreateFNeg(v[0]) : b_.CreateNeg(v[0]);
    case Op::sqrt:
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, v[0]);
    case Op::div:
      return divide(dtype, v[0], v[1]);
    case Op::mad:
      return multiply_add(dtype, v);
    default:
      return bitwise(op, dtype, v[0], v[1]);
  }
}

Value* LaneEmitter::multiply_add(DType dtype, ArrayRef<Value*> v) {
  if (!is_floating(dtype)) return b_.CreateAdd(b_.CreateMul(v[0], v[1]), v[2]);
  if (level_ == Level::baseline) return b_.CreateFAdd(b_.CreateFMul(v[0], v[1]), v[2]);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
}

// x / 0 = 0, and lowest / -1 wraps.
Value* LaneEmitter::divide(DType dtype, Value* a, Value* b) {
  if (is_floating(dtype)) return b_.CreateFDiv(a, b);
  Value *zero = number(a->getType(), 0), *one = number(a->getType(), 1);
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  if (!is_signed(dtype)) {
    return b_.CreateSelect(by_zero, zero, b_.CreateUDiv(a, b_.CreateSelect(by_zero, one, b)));
  }
  Value* by_minus_one = b_.CreateICmpEQ(b, number(a->getType(), -1));
  Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), one, b);
  Value* quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
  return b_.CreateSelect(by_zero, zero, quotient);
}

Value* LaneEmitter::bitwise(Op op, DType dtype, Value* a, Value* b) {
  auto count = [&] {
    return b_.CreateAnd(b, number(a->getType(), 8 * static_cast<int64_t>(item_size(dtype)) - 1));
  };
  switch (op) {
    case Op::bit_and:
      return b_.CreateAnd(a, b);
    case Op::bit_or:
      return b_.CreateOr(a, b);
    case Op::bit_xor:
      return b_.CreateXor(a, b);
    case Op::bit_not:
      return b_.CreateNot(a);
    case Op::shl:
      return b_.CreateShl(a, count());
    case Op::shr:
      return b_.CreateLShr(a, count());
    case Op::sar:
      return is_signed(dtype) ? b_.CreateAShr(a, count()) : b_.CreateLShr(a, count());
    default:
      fail(ErrorKind::internal, "codegen: no operation {} on {}", ir::name(op), name(dtype));
  }
}

Value* LaneEmitter::compare(Op op, DType dtype, Value* a, Value* b) {
  if (is_floating(dtype)) {
    return op == Op::lt   ? b_.CreateFCmpOLT(a, b)
           : op == Op::le ? b_.CreateFCmpOLE(a, b)
                          : b_.CreateFCmpOEQ(a, b);
  }
  if (op == Op::eq) return b_.CreateICmpEQ(a, b);
  if (is_signed(dtype)) return op == Op::lt ? b_.CreateICmpSLT(a, b) : b_.CreateICmpSLE(a, b);
  return op == Op::lt ? b_.CreateICmpULT(a, b) : b_.CreateICmpULE(a, b);
}

Value* LaneEmitter::convert(Value* value, DType from, DType to) {
  Type* type = vector_type(to);
  if (from == DType::bf16) {
    Type* words = vector_type(DType::i32);
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(value, words), 16), type);
  }
  if (to == DType::bf16) return round_to_bf16(value);
  if (to == DType::boolean) {
    return is_floating(from) ? b_.CreateFCmpUNE(value, number(value->getType(), 0))
                             : b_.CreateIsNotNull(value);
  }
  if (is_floating(from)) {
    return is_floating(to) ? b_.CreateFPCast(value, type) : float_to_integer(value, to);
  }
  if (is_floating(to)) {
    return is_signed(from) ? b_.CreateSIToFP(value, type) : b_.CreateUIToFP(value, type);
  }
  return b_.CreateIntCast(value, type, is_signed(from));
}

// As convert_lane: what does not fit becomes the lowest, small types keep the low bits.
Value* LaneEmitter::float_to_integer(Value* value, DType to) {
  bool wide = item_size(to) == 8, narrow_source = value->getType()->getScalarType()->isFloatTy();
  Type* type = vector_type(wide ? DType::i64 : DType::i32);
  double lowest = wide ? -0x1p63 : -0x1p31;
  auto at = [&](double limit) { return llvm::ConstantFP::get(value->getType(), limit); };
  Value* above = wide || narrow_source ? b_.CreateFCmpOGE(value, at(lowest))
                                       : b_.CreateFCmpOGT(value, at(lowest - 1));
  Value* fits = b_.CreateAnd(above, b_.CreateFCmpOLT(value, at(-lowest)));
  unsigned width = wide ? 64 : 32;
  Value* smallest = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(width));
  Value* converted = b_.CreateSelect(fits, b_.CreateFPToSI(value, type), smallest);
  return b_.CreateIntCast(converted, vector_type(to), true);
}

Value* LaneEmitter::round_to_bf16(Value* value) {
  Type* words = vector_type(DType::i32);
  Value* bits = b_.CreateBitCast(value, words);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), number(words, 1));
  Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(odd, number(words, 0x7fff)));
  Value* quiet = b_.CreateOr(bits, number(words, 0x400000));
  Value* chosen = b_.CreateSelect(b_.CreateFCmpUNO(value, value), quiet, rounded);
  return b_.CreateTrunc(b_.CreateLShr(chosen, 16), vector_type(DType::bf16));
}

Value* LaneEmitter::scratch(Type* type) {
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  auto* memory = at_entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(64));
  return memory;
}

Value* LaneEmitter::call(Service service, ArrayRef<Value*> arguments) {
  Type* pointer = b_.getPtrTy();
  Value* slot = b_.CreateConstGEP1_64(pointer, table_, static_cast<uint64_t>(service));
  std::vector<Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  return b_.CreateCall(type, b_.CreateLoad(pointer, slot), arguments);
}

// Lanes where `bad` is set get the runtime function's value; as a rule there are none.
Value* LaneEmitter::rare(const Instruction& x, ArrayRef<Value*> v) {
  Type* type = v[1]->getType();
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* slow = llvm::BasicBlock::Create(b_.getContext(), "rare", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "usual", function);
  Value* mask = b_.CreateBitCast(v[0], b_.getInt16Ty());
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateIsNotNull(mask), slow, after,
                  llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1000));
  b_.SetInsertPoint(slow);
  Value *xs = scratch(type), *ys = scratch(type), *results = scratch(type);
  b_.CreateStore(v[2], xs);
  b_.CreateStore(v[3], ys);
  b_.CreateStore(v[1], results);
  Value* which = b_.getInt32(static_cast<uint32_t>(x.runtime));
  Service service = x.dtype == DType::f64 ? Service::rare_f64 : Service::rare_f32;
  call(service, {which, b_.CreateZExt(mask, b_.getInt32Ty()), xs, ys, results});
  Value* called = b_.CreateLoad(type, results);
  llvm::BasicBlock* slow_end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  auto* result = b_.CreatePHI(type, 2);
  result->addIncoming(v[1], before);
  result->addIncoming(called, slow_end);
  return result;
}

}  // namespace fg::codegen
