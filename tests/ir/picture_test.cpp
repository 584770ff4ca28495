// Pictures and tables of graphs.
#include "ir/picture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/error_of.h"

namespace fg::ir {
namespace {

Graph joint() {
  return parse_graph(R"(graph(%0: float32[2, 3] parameter 0 "w", %1: float32[2, 3] tangent 0) {
    %2: float32[2, 3] = sin(%0) at "train.py:3"
    %3: float32[] = constant([2.0])
    %4: float32[3, 2] strides [1, 3] = transpose(%2; dim0=0, dim1=1) at "a\\b.py:4"
    %5: float32[2, 3] = mul(%1, %2) backward
    return %4: output 0, %5: gradient 0, none: gradient 1, %2: saved 0
  })");
}

TEST(Picture, is_text_for_graphviz_with_a_colour_for_each_side) {
  EXPECT_EQ(dot(joint()), R"x(digraph graph_ {
  node [style=filled, fontname="sans-serif", fontsize=11];
  edge [fontname="sans-serif", fontsize=9];
  v0 [shape=ellipse, fillcolor="#f1f3f5", label="parameter 0 \"w\"\n%0: float32[2, 3]"];
  v1 [shape=ellipse, fillcolor="#f1f3f5", label="tangent 0\n%1: float32[2, 3]"];
  op0 [shape=box, fillcolor="#cfe2ff", label="sin", tooltip="train.py:3"];
  v0 -> op0 [label="%0 float32[2, 3]"];
  op1 [shape=box, fillcolor="#cfe2ff", label="constant"];
  op2 [shape=box, fillcolor="#cfe2ff", label="transpose\ndim0=0, dim1=1", tooltip="a\\\\b.py:4"];
  op0 -> op2 [label="%2 float32[2, 3]"];
  op3 [shape=box, fillcolor="#ffd8a8", label="mul"];
  v1 -> op3 [label="%1 float32[2, 3]"];
  op0 -> op3 [label="%2 float32[2, 3]", color="#2b8a3e", penwidth=2];
  result0 [shape=ellipse, fillcolor="#f1f3f5", label="output 0\n%4: float32[3, 2]"];
  op2 -> result0 [label="%4 float32[3, 2]"];
  result1 [shape=ellipse, fillcolor="#f1f3f5", label="gradient 0\n%5: float32[2, 3]"];
  op3 -> result1 [label="%5 float32[2, 3]"];
  result2 [shape=ellipse, fillcolor="#f1f3f5", label="gradient 1"];
  result3 [shape=ellipse, fillcolor="#b2f2bb", label="saved 0\n%2: float32[2, 3]"];
  op0 -> result3 [label="%2 float32[2, 3]"];
}
)x");
}

TEST(Picture, is_drawn_by_graphviz) {
  std::string drawn = svg(joint());
  EXPECT_NE(drawn.find("<svg"), drawn.npos);
  EXPECT_NE(drawn.find("transpose"), drawn.npos);
  EXPECT_NE(drawn.find("#b2f2bb"), drawn.npos);
}

TEST(Picture, is_given_up_when_it_takes_too_long) {
  std::string text = "graph(%0: float32[4, 4] argument 0) {\n";  // long edges are what takes long
  for (int i = 1; i <= 400; i++)
    text += fmt::format("%{}: float32[4, 4] = mm(%{}, %0)\n", i, i - 1);
  Graph graph = parse_graph(text + "return %400: output 0 }");
  EXPECT_EQ(error_of([&] { svg(graph, 0.2); }),
            "svg: Graphviz's program 'dot' takes longer than 0.2 s for 400 operations; draw fewer");
  EXPECT_NE(svg(joint(), 60).find("<svg"), std::string::npos);
}

TEST(Picture, names_the_missing_program) {
  std::string path = getenv("PATH") ? getenv("PATH") : "";
  setenv("PATH", "/nowhere", 1);
  std::string refused = error_of([&] { svg(joint()); });
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(refused,
            "svg: Graphviz's program 'dot' cannot be started (No such file or directory); install "
            "Graphviz (the Debian package graphviz), or take dot() and draw it elsewhere");
}

TEST(Listing, has_shapes_strides_dtypes_and_lines_of_the_user) {
  EXPECT_EQ(listing(joint()),
            "value  dtype    sizes   strides  is                             at\n"
            "%0     float32  [2, 3]  [3, 1]   input: parameter 0 \"w\"\n"
            "%1     float32  [2, 3]  [3, 1]   input: tangent 0\n"
            "%2     float32  [2, 3]  [3, 1]   sin(%0)                        train.py:3\n"
            "%3     float32  []      []       constant\n"
            "%4     float32  [3, 2]  [1, 3]   transpose(%2; dim0=0, dim1=1)  a\\\\b.py:4\n"
            "%5     float32  [2, 3]  [3, 1]   mul(%1, %2) backward\n"
            "%4     float32  [3, 2]  [1, 3]   return: output 0\n"
            "%5     float32  [2, 3]  [3, 1]   return: gradient 0\n"
            "none                             return: gradient 1\n"
            "%2     float32  [2, 3]  [3, 1]   return: saved 0\n");
}

}  // namespace
}  // namespace fg::ir
