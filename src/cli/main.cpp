// The command `foregrad`: says what this build of the library has, and explains graphs. This is the
// only file that includes CLI11, which takes long to compile.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/version.h"
#include "cli/commands.h"

namespace {

// A subcommand that prints something and has the one option --json.
void add_listing(CLI::App& app, const char* name, const char* help, void (*print)(bool json)) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_flag("--json")->description("One JSON document instead of text.");
  command->callback([=] { print(command->count("--json") > 0); });
}

void add_explain(CLI::App& app, fg::cli::ExplainOptions& options) {
  CLI::App* command = app.add_subcommand(
      "explain", "Compile a graph in its text form and show what came of it as a page of HTML.");
  command->add_option("FILE", options.file, "The graph, as graphs() of a compiled function has it.")
      ->required();
  command->add_option("-o,--output", options.output, "Where the page goes; default: FILE.html.");
  command->add_flag("--json", options.json, "One JSON document instead, to standard output.");
  command->callback([&options] { fg::cli::explain(options); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Foregrad: gradients captured and compiled ahead of time.", "foregrad");
  app.set_version_flag("--version", std::string("foregrad ") + fg::version());
  app.require_subcommand(1);
  add_listing(app, "ops", "List every function and every primitive.", fg::cli::print_ops);
  add_listing(app, "settings", "List every FOREGRAD_* setting.", fg::cli::print_settings);
  fg::cli::ExplainOptions explained;
  add_explain(app, explained);
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const std::exception& e) {
    fprintf(stderr, "foregrad: %s\n", e.what());
    return 1;
  }
  return 0;
}
