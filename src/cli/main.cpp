// The command `foregrad`: trains, says what this build of the library has, explains graphs, and
// looks into the cache. This is the only file that includes CLI11, which takes long to compile.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/train/train.h"
#include "base/standard_error.h"
#include "base/terminal.h"
#include "base/version.h"
#include "cli/cache.h"
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

using CacheCommand = void (*)(const fg::cli::CacheOptions&);

CLI::App* add_cache_command(CLI::App& cache, const char* name, const char* help,
                            fg::cli::CacheOptions& options, CacheCommand run) {
  CLI::App* command = cache.add_subcommand(name, help);
  command->add_flag("--json", options.json, "One JSON document instead of text.");
  command->callback([&options, run] { run(options); });
  return command;
}

void add_cache(CLI::App& app, fg::cli::CacheOptions& options) {
  CLI::App* cache = app.add_subcommand("cache", "Look into the cache of what was compiled.");
  cache->require_subcommand(1);
  auto add = [&](const char* name, const char* help, CacheCommand run) {
    return add_cache_command(*cache, name, help, options, run);
  };
  add("stats", "Entries, size, and how the last lookups ended.", fg::cli::cache_stats);
  add("ls", "List all entries, the last used first.", fg::cli::cache_list);
  add("inspect", "The fields and sections of a key.", fg::cli::cache_inspect)
      ->add_option("KEY", options.names, "The first digits of a key.")
      ->required()
      ->expected(1);
  add("explain", "The fields in which two keys differ.", fg::cli::cache_explain)
      ->add_option("KEYS", options.names, "The first digits of two keys.")
      ->required()
      ->expected(2);
  add("why", "Why the last lookups hit, missed or were not made.", fg::cli::cache_why)
      ->add_option("-n,--count", options.count, "How many; default: 20.");
  add("verify", "Check every entry.", fg::cli::cache_verify)
      ->add_flag("--remove", options.remove, "Remove those that are not good.");
  add("gc", "Remove what was unused for longest, down to the size limit.", fg::cli::cache_collect)
      ->add_option("--size", options.size, "The limit: bytes, or a number with K, M, G or T.");
  add("clear", "Remove all entries.", fg::cli::cache_clear);
  CLI::App* out = add("export", "Write all entries to one file.", fg::cli::cache_export);
  CLI::App* in =
      add("import", "Take the entries of such a file, all or none.", fg::cli::cache_import);
  for (CLI::App* command : {out, in}) {
    command->add_option("FILE", options.names)->required()->expected(1);
    command->add_option("--key", options.shared_key,
                        "A file with the secret that both sides share.");
  }
}

void add_train(CLI::App& app, fg::apps::TrainOptions& options, int& status) {
  CLI::App* command = app.add_subcommand(
      "train", "Train a small GPT on a text, compiled; show what it learned and what it cost.");
  command->add_option("--text", options.text, "A text; default: Foregrad's documentation.");
  command->add_option("--layers", options.layers, "Blocks of the model; default: 4.");
  command->add_option("--width", options.width, "Numbers per character; default: 128.");
  command->add_option("--heads", options.heads, "Of the attention; default: 4.");
  command->add_option("--context", options.context, "Characters it sees; default: 64.");
  command->add_option("--batch", options.batch, "Windows of a step; default: 16.");
  command->add_option("--steps", options.steps, "How many steps; default: 1000.");
  command->add_option("--seed", options.seed, "Of everything random; default: 0.");
  command->add_option("--lr", options.lr, "The highest learning rate; default: 0.002.");
  command->add_option("--dropout", options.dropout, "Share of what is dropped; default: 0.");
  command->add_option("--threads", options.threads, "Threads; results do not depend on them.");
  command->add_option("--out", options.out, "The folder to write to; default: foregrad-train.");
  command->add_option("--checkpoint-every", options.checkpoint_every,
                      "Steps between checkpoints; default: 100.");
  CLI::Option* resume =
      command->add_option("--resume", options.resume, "Go on from a checkpoint, or that of --out.");
  resume->expected(0, 1);
  command->add_flag("!--no-compare", options.compare, "Do not compare eager and compiled steps.");
  command->add_flag("!--no-report", options.report, "Write nothing but the checkpoint.");
  command->add_flag("--json", options.json, "JSON documents instead of text, one per line.");
  command->callback([&options, &status, resume] {
    if (resume->count() > 0 && !options.resume) options.resume = "";
    status = fg::apps::train(options);
  });
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
  fg::cli::CacheOptions cache;
  add_cache(app, cache);
  fg::apps::TrainOptions trained{.program = argv[0]};
  int status = 0;
  add_train(app, trained, status);
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const std::exception& e) {
    fprintf(stderr, "foregrad: %s\n", fg::terminal_text(fg::as_error(e).what()).c_str());
    return 1;
  }
  return status;
}
