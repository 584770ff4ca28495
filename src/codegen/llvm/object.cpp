// The entry of the code generator's own library: kernels in, the bytes of a shared object out.
#include <lld/Common/Driver.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Pass.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar.h>

#include <cstdlib>
#include <mutex>

#include "base/environment.h"
#include "base/fail.h"
#include "base/trace.h"
#include "codegen/build.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/linker_files.h"

LLD_HAS_DRIVER(elf);

namespace fg::codegen {
namespace {

std::unique_ptr<llvm::TargetMachine> make_target(Level level) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) fail("codegen: LLVM knows no target {}: {}", triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  constexpr const char* kFeatures[] = {
      "", "+avx2,+fma,+f16c,+bmi,+bmi2",
      "+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512dq,+avx512bw,+avx512vl"};
  const char* features = kFeatures[static_cast<int>(level)];
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "", features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

llvm::SmallString<0> to_object(llvm::Module& module, llvm::TargetMachine& target) {
  timing::Phase phase("LLVM");
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createEarlyCSEPass());
  if (target.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    fail("codegen: LLVM cannot write objects for this machine");
  passes.run(module);
  return bytes;
}

std::string link(llvm::StringRef object) {
  timing::Phase phase("link");
  static std::mutex one_at_a_time;  // lld keeps its state in globals
  std::scoped_lock lock(one_at_a_time);
  if (has_foreign_rights() && std::getenv("LLD_REPRODUCE")) {
    fail("codegen: lld would write where LLD_REPRODUCE says, with rights that are not the user's");
  }
  LinkerFiles files({object.data(), object.size()});
  std::string said;
  std::vector<const char*> arguments = {"ld.lld",
                                        "-shared",
                                        "-o",
                                        files.to().c_str(),
                                        "-z",
                                        "relro",
                                        "-z",
                                        "noexecstack",
                                        "--threads=1",
                                        "--hash-style=gnu",
                                        files.from().c_str()};
  llvm::raw_string_ostream text(said);
  lld::Result result = lld::lldMain(arguments, text, text, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) fail("codegen: linking failed: {}", said);
  return files.written();
}

std::string build_object(const std::vector<NamedKernel>& kernels, Level level) {
  llvm::LLVMContext context;
  llvm::Module module("foregrad", context);
  {
    timing::Phase phase("emit");
    for (const NamedKernel& one : kernels) emit_loop(module, one.name, *one.kernel, level);
  }
#ifndef NDEBUG
  std::string wrong;
  llvm::raw_string_ostream text(wrong);
  if (llvm::verifyModule(module, &text)) fail("codegen: {}", wrong);
#endif
  std::unique_ptr<llvm::TargetMachine> target = make_target(level);
  return link(to_object(module, *target));
}

}  // namespace
}  // namespace fg::codegen

// The identity of the sources of this generator; the main library takes no other.
extern "C" __attribute__((visibility("default"))) const char* foregrad_generator() {
  return FOREGRAD_GENERATOR;
}

extern "C" __attribute__((visibility("default"))) std::string* foregrad_build_object(
    const std::vector<fg::codegen::NamedKernel>* kernels, fg::Level level) {
  return new std::string(fg::codegen::build_object(*kernels, level));
}
