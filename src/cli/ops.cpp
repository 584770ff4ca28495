// `foregrad ops`: every function with its schema and documentation, every
// primitive with its kind.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "ir/registry.h"

namespace fg::cli {

namespace {

// Schemas are written over several lines in the sources.
std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return line;
}

void print_json() {
  auto functions = nlohmann::ordered_json::array(), primitives = nlohmann::ordered_json::array();
  for (const ir::FunctionInfo *f : ir::functions()) {
    functions.push_back({{"name", f->full_name()},
                         {"schema", one_line(f->schema.text)},
                         {"documentation", f->documentation},
                         {"inplace", f->has_inplace},
                         {"out", f->has_out},
                         {"differentiable", f->gradient != nullptr}});
  }
  for (const ir::PrimitiveInfo *p : ir::primitives()) {
    primitives.push_back({{"name", p->name},
                          {"kind", ir::name(p->kind)},
                          {"outputs", p->outputs},
                          {"differentiable", p->has_gradient}});
  }
  nlohmann::ordered_json document = {{"functions", functions}, {"primitives", primitives}};
  fmt::print("{}\n", document.dump(2));
}

void print_text() {
  fmt::print("{} functions\n", ir::functions().size());
  for (const ir::FunctionInfo *f : ir::functions()) {
    fmt::print("  {}\n      {}\n", one_line(f->schema.text), f->documentation);
  }
  fmt::print("{} primitives\n", ir::primitives().size());
  for (const ir::PrimitiveInfo *p : ir::primitives()) {
    fmt::print("  {:<24} {}\n", p->name, ir::name(p->kind));
  }
}

}  // namespace

void print_ops(bool json) { json ? print_json() : print_text(); }

}  // namespace fg::cli
