// The graphs of all functions as text, with every number and every dtype in turn replaced: refused
// with a sentence, or run. Each function has a child process of its own, with little memory.
#include <cstring>
#include <new>
#include <regex>
#include <set>

#include "compile/version.h"
#include "ir/run.h"
#include "tests/ops/table/table_cases.h"
#include "tests/ops/told.h"

namespace fg::table {
namespace {

constexpr const char* kNumbers[] = {"0",    "1",
                                    "2",    "9",
                                    "-5",   "65",
                                    "1.5",  "4294967296",
                                    "nan",  "9223372036854775807",
                                    "true", "-9223372036854775808"};
constexpr const char* kTypes[] = {"bool", "int64", "float16", "uint8", "float32"};
// Their sizes or values depend on elements, or they show memory as another dtype.
const std::set<std::string> kNotCaptured = {"_require_true",
                                            "gru.data",
                                            "lstm.data",
                                            "rnn_relu.data",
                                            "rnn_tanh.data",
                                            "allclose",
                                            "argwhere",
                                            "equal",
                                            "masked_scatter",
                                            "masked_select",
                                            "masked_scatter_backward",
                                            "multinomial",
                                            "nonzero",
                                            "nonzero_numpy",
                                            "repeat_interleave.self_Tensor",
                                            "view.dtype"};
constexpr size_t kMostBytes = 1 << 20;

bool is_small(const ir::Graph& graph) {
  size_t bytes = 0;
  for (const ir::ValueInfo& info : graph.values) {
    Tensor tensor = ir::abstract_tensor_of(info);
    size_t more = tensor.impl()->storage->bytes() + static_cast<size_t>(tensor.numel());
    if (more > kMostBytes || (bytes += more) > kMostBytes) return false;
  }
  return true;
}

void read_and_run(const std::string& text, Told& told) {
  told.begin(text);
  try {
    ir::Graph graph = ir::parse_graph(text);
    if (!is_small(graph)) return;
    Tensors inputs;
    for (ir::ValueId input : graph.inputs) {
      const ir::ValueInfo& info = graph.values[input];
      inputs.push_back(empty_strided_tensor(info.sizes, info.strides, info.dtype));
      const Ref<Storage>& storage = inputs.back().impl()->storage;
      std::memset(storage->data(), 0, storage->bytes());
      inputs.back().impl()->wrapped_number = info.number;
    }
    ir::Runner(graph).run(std::move(inputs));
    told.succeeded++;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) told.blame(error.what());
  } catch (const std::bad_alloc&) {
  }
}

// Every match of the pattern, replaced by each of the words.
template <class Words>
void replace_each(const std::string& text, const std::regex& pattern, const Words& words,
                  Told& told) {
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    auto begin = static_cast<size_t>(at->position()), size = static_cast<size_t>(at->length());
    for (const char* word : words) {
      read_and_run(text.substr(0, begin) + word + text.substr(begin + size), told);
    }
  }
}

void mutate(const std::string& text, Told& told) {
  static const std::regex numbers("-?[0-9]+"), types("float64|int64|bool");
  read_and_run(text, told);
  if (text.size() >= sizeof(told.now)) return;
  replace_each(text, numbers, kNumbers, told);
  replace_each(text, types, kTypes, told);
  for (const char* type : kTypes) {
    read_and_run(std::regex_replace(text, std::regex("float64"), type), told);
  }
}

std::string graph_of(const FunctionInfo& info, const Sample& sample) {
  Tensors inputs;
  for (const Tensor& tensor : tensors_of(sample.arguments)) inputs.push_back(tensor.detach());
  auto function = [&](const Tensors& in) {
    return tensors_of(info.call(info, replace_tensors(sample.arguments, in)));
  };
  try {
    compiler::ProgramOptions options;
    options.forward = compiler::backend_named("interpreter");
    compiler::Version version(function, inputs, capture::TraceOptions{}, options);
    return version.programs().forward_graph(false).text();
  } catch (const Error&) {  // is not captured
    return "";
  }
}

class GraphMutations : public testing::TestWithParam<const FunctionInfo*> {};
INSTANTIATE_TEST_SUITE_P(Functions, GraphMutations, testing::ValuesIn(ir::functions()), test_name);

TEST_P(GraphMutations, are_refused_or_run) {
  if (!GetParam()->samples) return;
  Told told = told_by_child([&](Told& told) {
    for (const Sample& sample : GetParam()->samples()) mutate(graph_of(*GetParam(), sample), told);
  });
  EXPECT_EQ(told.status, 0) << "ended or hung in\n" << told.now;
  EXPECT_STREQ(told.wrong, "");
  bool captured = kNotCaptured.count(GetParam()->full_name()) == 0;
  EXPECT_EQ(told.succeeded > 0, captured) << "whether a graph of it ran";
}

}  // namespace
}  // namespace fg::table
