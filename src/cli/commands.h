// Subcommands of `foregrad` that print: text for people, or one JSON document.
#pragma once

#include <string>

namespace fg::cli {

void print_ops(bool json);
void print_settings(bool json);

struct ExplainOptions {
  std::string file, output;  // no output: beside the file, or standard output for JSON
  bool json = false;
};
void explain(const ExplainOptions& options);

}  // namespace fg::cli
