// Graphs that come as text from anywhere: a sentence, or a graph that can be run.
#include <gtest/gtest.h>

#include "ir/run.h"
#include "tests/error_of.h"

namespace fg::ir {
namespace {

// A graph of one float32 input of 4 elements, and `operation` in its body, which defines %1.
std::string of_four(const std::string& operation) {
  return "graph(%0: float32[4] argument 0) {\n  " + operation + "\n  return %1: output 0\n}\n";
}
std::string error_of_four(const std::string& operation) {
  return error_of([&] { parse_graph(of_four(operation)); });
}

TEST(GraphTextTest, operands_are_those_that_the_primitive_takes) {
  EXPECT_EQ(error_of_four("%1: float32[4] = relu()"), "graph text: relu needs 1 operands");
  EXPECT_EQ(error_of_four("%1: float32[4] = relu(none)"),
            "graph text: operand 0 of relu must not be none");
  EXPECT_EQ(error_of_four("%1: float32[4] = relu(%0, %0)"),
            "graph text: relu takes 1 operands, got more");
  EXPECT_EQ(error_of_four("%1: float32[4] = relu([%0])"),
            "graph text: operand 0 of relu must not be a list");
  EXPECT_EQ(error_of_four("%1: float32[4, 4] = mm(%0)"), "graph text: mm needs 2 operands");
  EXPECT_EQ(error_of_four("%1: float32[4] = cat(%0; dim=0)"), "no error");
  EXPECT_EQ(error_of_four("%1: float32[8] = cat([%0, %0]; dim=0)"), "no error");
  EXPECT_HAS(error_of_four("%1: float32[4] = cat([%0], [%0]; dim=0)"), "one list of operands");
  EXPECT_HAS(error_of_four("%1: float32[4] = cat([none]; dim=0)"), "must not be none");
  EXPECT_HAS(error_of_four("%1: float32[4] = cat([]; dim=0)"), "non-empty list");
  EXPECT_HAS(error_of_four("%1: float32[4] = relu(%7)"), "before it is defined");
  EXPECT_HAS(error_of_four("%1: float32[4] = relu(%1)"), "before it is defined");
  EXPECT_EQ(error_of_four("%1: float32[4] = relu(%0)"), "no error");
}

TEST(GraphTextTest, numbers_of_values_are_bounded_by_the_length_of_the_text) {
  EXPECT_HAS(error_of_four("%20000000: float32[4] = relu(%0)"), "a number of a value");
  EXPECT_HAS(error_of_four("%268435455: float32[4] = relu(%0)"), "a number of a value");
  EXPECT_EQ(error_of([] {
              parse_graph(
                  "graph(%0: float32[4] argument 0) {\n  %900: float32[4] = relu(%0)\n  "
                  "return %900: output 0\n}\n");
            }),
            "no error");
}

TEST(GraphTextTest, sizes_and_strides_are_of_one_rank_and_not_negative) {
  auto input = [](const std::string& type) {
    return error_of([&] {
      parse_graph("graph(%0: float32" + type + " argument 0) {\n  return %0: output 0\n}\n");
    });
  };
  EXPECT_EQ(input("[2, 3] strides [1, 2]"), "no error");
  EXPECT_HAS(input("[4] strides [1, 1]"), "one stride per size");
  EXPECT_HAS(input("[4] strides [-1]"), "sizes and strides of 0 or more");
  EXPECT_HAS(input("[-4]"), "sizes and strides of 0 or more");
  EXPECT_HAS(input("[-9223372036854775708]"), "or more");
  EXPECT_HAS(input("[-9223372036854775808]"), "or more");
  EXPECT_HAS(input("[9223372036854775807, 4]"), "more elements than 2^63");
  EXPECT_HAS(input("[2, 4294967296] strides [9223372036854775803, 1]"), "more bytes than 2^63");
  EXPECT_HAS(input("[99999999999999999999]"), "a number in the place of");
}

// A graph with inputs of these types, the first of which is its output.
std::string of_inputs(const std::string& sizes, const std::vector<std::string>& types) {
  std::string out = sizes.empty() ? "" : "sizes " + sizes + "\n";
  out += "graph(";
  for (size_t i = 0; i < types.size(); i++) {
    out += (i ? ",\n      %" : "%") + std::to_string(i) + ": " + types[i] + " argument " +
           std::to_string(i);
  }
  return out + ") {\n  return %0: output 0\n}\n";
}

TEST(GraphTextTest, sizes_that_are_symbols_parse_as_they_print) {
  for (std::string type :
       {"float32[s0, 4]", "float32[2*s0*s1 - 3*s0 + 5]", "float32[-s0 + 40, s10]",
        "int64[div(s0 + 1, 2), mod(s0, 4), min(s0, s1), max(s0, 2*mod(s1, 3))]",
        "bool[s0, s1] strides [1, s0]", "float32[div(s10, s1)]"}) {
    std::string text =
        of_inputs("s0 = 12, s1 = 4, s10 = 0 where s1 != 0, s0 == 3*s1, s1 != 1", {type});
    EXPECT_EQ(parse_graph(text).text(), text);
  }
  // Any order and spelling is read; the normal form is printed.
  EXPECT_EQ(parse_graph(of_inputs("n = 3", {"float32[1 + n*n*2 - n + n]"})).text(),
            of_inputs("n = 3", {"float32[2*n*n + 1]"}));
}

TEST(GraphTextTest, mistakes_in_sizes_are_told) {
  auto error = [](const std::string& sizes, const std::string& type) {
    return error_of([&] { parse_graph(of_inputs(sizes, {type})); });
  };
  EXPECT_HAS(error("", "float32[s0]"), "expected a number in the place of 's0'");
  EXPECT_HAS(error("s0 = 2", "float32[s1]"), "a size that stands behind 'sizes', got 's1]");
  EXPECT_HAS(error("s0 = 2", "float32[s0 +]"), "a name");
  EXPECT_HAS(error("s0 = 2", "float32[pow(s0, 2)]"), "div, mod, min or max");
  EXPECT_HAS(error("s0 = 2", "float32[div(2, s0)]"), "known not to be 0");
  EXPECT_HAS(error("s0 = 2", "float32[div(s0, 0)]"), "known not to be 0");
  EXPECT_HAS(error("s0 = 2", "float32[99999999999999999999*s0]"), "a size");
  EXPECT_HAS(error("s0 = 2", "float32[-s0 - 1]"), "sizes and strides of 0 or more");
  EXPECT_HAS(error("s0 = 2, s0 = 3", "float32[s0]"), "exists already");
  EXPECT_HAS(error("s0 = -2", "float32[s0]"), "a size is 0 or more");
  EXPECT_HAS(error("s0 = 2 where s0 == 3", "float32[s0]"), "does not hold in the example");
  EXPECT_HAS(error("s0 = 2 where s0 = 2", "float32[s0]"), "==, !=, < or >=");
  std::string deep;
  for (int i = 0; i < 200; i++) deep += "min(s0, ";
  EXPECT_HAS(error("s0 = 2", "float32[" + deep), "div, mod, min or max");
}

TEST(GraphTextTest, shapes_follow_from_the_guards_of_the_text) {
  auto add = [](const std::string& sizes) {
    return "sizes s0 = 12, s1 = 12" + sizes +
           "\ngraph(%0: float32[s0, 4] argument 0,\n      %1: float32[s1, 4] argument 1) {\n"
           "  %2: float32[s0, 4] = add(%0, %1)\n  return %2: output 0\n}\n";
  };
  Graph graph = parse_graph(add(" where s0 == s1"));
  EXPECT_EQ(graph.text(), add(" where s0 == s1"));
  verify(graph, "nothing");
  EXPECT_EQ(graph.symbols->guards().size(), 1u);
  EXPECT_HAS(error_of([&] { parse_graph(add("")); }),
             "graph text: the condition s1 == s0 on sizes is asked outside of their capture");
  // The symbols live as long as a graph that holds them.
  Graph part = cut(graph, {{graph.inputs[0]}, {graph.input_roles[0]}},
                   {{graph.inputs[0]}, {graph.output_roles[0]}});
  graph = {};
  EXPECT_HAS(part.text(), "float32[s0, 4]");
  EXPECT_HAS(error_of([&] { Runner(part).run({empty_tensor({12, 4}, DType::f32)}); }),
             "expected float32[s0, 4]");
}

TEST(GraphTextTest, windows_lie_within_their_value) {
  auto window = [](const std::string& params) {
    return error_of_four("%1: float32[2] strides [2] = window(%0; " + params + ")");
  };
  EXPECT_EQ(window("size=[2], stride=[2], offset=1"), "no error");
  EXPECT_HAS(window("size=[2], stride=[2], offset=2"), "a part of its value");
  EXPECT_HAS(window("size=[2], stride=[2], offset=300"), "a part of its value");
  EXPECT_HAS(window("size=[2], stride=[2], offset=1000000000"), "a part of its value");
  EXPECT_HAS(window("size=[2], stride=[2], offset=9223372036854775807"), "a part of its value");
  EXPECT_HAS(window("size=[2], stride=[9223372036854775807], offset=0"), "a part of its value");
  EXPECT_HAS(window("size=[2], stride=[2], offset=-1"), "0 or more");
  EXPECT_HAS(window("size=[2], stride=[2, 1], offset=0"), "one stride per size");
  EXPECT_HAS(error_of_four("%1: float32[4] = put_window(%0, %0; size=[2], stride=[1], offset=0)"),
             "a part of the sizes that it says");
}

TEST(GraphTextTest, parameters_are_what_callers_in_the_library_would_give) {
  EXPECT_HAS(error_of_four("%1: float32[4], %2: int64[4] = sort(%0; dim=7, descending=true)"),
             "a dimension that is there");
  EXPECT_HAS(error_of_four("%1: float32[4] = restride(%0; stride=[1, 1])"), "one stride");
  EXPECT_HAS(error_of_four("%1: float32[] = mv(%0, %0)"), "a product");
  EXPECT_HAS(error_of_four("%1: float32[4] = full(; size=[4], strides=[0], value=1.0, "
                           "dtype=float32)"),
             "do not overlap");
  EXPECT_HAS(error_of_four("%1: float32[4] = random(; size=[4], dtype=float32, distribution=77, "
                           "a=0.0, b=1.0, generator=none)"),
             "enumeration");
}

TEST(GraphTextTest, seeds_roles_and_constants_are_checked) {
  EXPECT_HAS(error_of([] {
               parse_graph("graph(%0: float32[4] argument 0) {\n  return %0: mutation 3\n}\n");
             }),
             "mutation 3 counts what is not there");
  EXPECT_HAS(error_of_four("%1: float32[2] strides [2] = constant([1.0, 2.0])"), "other strides");
  EXPECT_HAS(error_of_four("%1: float32[9223372036854775807] = constant([1.0, 2.0])"),
             "as many elements");
}

TEST(GraphTextTest, an_input_that_is_read_must_be_given) {
  Runner runner(parse_graph(of_four("%1: float32[4] = relu(%0)")));
  EXPECT_HAS(error_of([&] { runner.run({Tensor()}); }), "relu reads an input");
}

}  // namespace
}  // namespace fg::ir
