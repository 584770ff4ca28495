// libFuzzer: any text as a graph. What is accepted is printed and read again, and run on made-up
// inputs if it is small. The reader is instrumented; what it calls of the library is not.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "base/error.h"
#include "compile/version.h"
#include "ir/registry.h"
#include "ir/run.h"

using namespace fg;  // NOLINT

namespace {

constexpr int64_t kMostElements = 1 << 12;

// All zeros.
Tensor example_of(const ir::ValueInfo& info) {
  Tensor made = empty_strided_tensor(info.sizes, info.strides, info.dtype);
  size_t bytes = made.impl()->storage->bytes();
  std::fill_n(static_cast<char*>(made.data_ptr()), bytes, 0);
  made.impl()->wrapped_number = info.number;
  return made;
}

bool is_small(const ir::Graph& graph) {
  int64_t total = 0;
  for (const ir::ValueInfo& info : graph.values) {
    Tensor tensor = ir::abstract_tensor_of(info);
    auto bytes = static_cast<int64_t>(tensor.impl()->storage->bytes());
    if (bytes > kMostElements * 8 || (total += bytes + tensor.numel()) > kMostElements * 16) {
      return false;
    }
  }
  return true;
}

void run(const ir::Graph& graph) {
  if (!is_small(graph)) return;
  Tensors inputs;
  for (ir::ValueId input : graph.inputs) inputs.push_back(example_of(graph.values[input]));
  ir::Runner(graph).run(std::move(inputs));
}

// The graphs of a function at its samples, and how many those are.
int write_seeds(const ir::FunctionInfo& info, const std::string& folder) {
  int number = 0;
  for (const ir::Sample& sample : info.samples()) {
    Tensors given;
    for (const ir::Value& value : sample.arguments) {
      if (auto* one = std::get_if<Tensor>(&value)) given.push_back(*one);
    }
    auto callee = [&](const Tensors& in) {
      std::vector<ir::Value> arguments = sample.arguments;
      size_t next = 0;
      for (ir::Value& value : arguments) {
        if (std::holds_alternative<Tensor>(value)) value = in[next++];
      }
      ir::Value result = info.call(info, arguments);
      auto* one = std::get_if<Tensor>(&result);
      return one ? Tensors{*one} : Tensors{};
    };
    try {
      compiler::Version version(callee, given, capture::TraceOptions{}, compiler::ProgramOptions{});
      std::ofstream(folder + "/" + info.full_name() + std::to_string(number++))
          << version.programs().forward_graph(false).text();
    } catch (const Error&) {  // is not captured
    }
  }
  return number;
}

}  // namespace

// The last argument is the folder of the corpus.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  std::string folder = (*arguments)[*count - 1];
  int seeds = 0;
  for (const ir::FunctionInfo* info : ir::functions()) {
    if (info->samples) seeds += write_seeds(*info, folder);
  }
  if (seeds == 0) __builtin_trap();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    ir::Graph graph = ir::parse_graph(text);
    std::string printed = graph.text();
    if (ir::parse_graph(printed).text() != printed) __builtin_trap();
    run(graph);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
