// Runs the command `foregrad` as a user does.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "tests/base/child_process.h"
#include "tests/folder.h"

namespace {

Outcome foregrad(const std::string& arguments) {
  return run_command(std::string(FOREGRAD_CLI) + " " + arguments);
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr const char* kGraph =
    "graph(%0: float32[8] argument 0 \"x\") {\n"
    "  %1: float32[8] = sin(%0) at \"model.py:3\"\n"
    "  %2: float32[8] = mul(%1, %0)\n"
    "  %3: float32[1] = sum(%2; dim=[0], keepdim=true)\n"
    "  %4: float32[1] = sum(%0; dim=[0], keepdim=true)\n"
    "  return %3: output 0, %4: output 1\n"
    "}\n";

}  // namespace

TEST(Cli, says_its_version) {
  Outcome outcome = foregrad("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, std::string("foregrad ") + fg::version() + "\n");
}

TEST(Cli, help_names_every_subcommand) {
  Outcome outcome = foregrad("--help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("ops "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("settings "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("explain "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("cache "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("train "), std::string::npos) << outcome.output;
}

TEST(Cli, an_unknown_subcommand_fails) { EXPECT_NE(foregrad("dance").status, 0); }

TEST(Cli, no_subcommand_fails_and_says_so) {
  Outcome outcome = foregrad("");
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("subcommand is required"), std::string::npos) << outcome.output;
}

TEST(Cli, settings_lists_names_and_documentation) {
  Outcome outcome = foregrad("settings");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("FOREGRAD_LEVEL=auto\n"), std::string::npos) << outcome.output;
}

TEST(Cli, settings_as_json_has_values_of_the_environment) {
  Outcome outcome =
      run_command(std::string("FOREGRAD_NUM_THREADS=3 ") + FOREGRAD_CLI + " settings --json");
  EXPECT_EQ(outcome.status, 0);
  auto rows = nlohmann::json::parse(outcome.output);
  bool found = false;
  for (const auto& row : rows) {
    EXPECT_TRUE(row.contains("documentation"));
    found = found || (row["name"] == "FOREGRAD_NUM_THREADS" && row["value"] == "3");
  }
  EXPECT_TRUE(found) << outcome.output;
}

TEST(Cli, settings_do_not_show_a_password) {
  Outcome outcome = run_command(std::string("FOREGRAD_CACHE_REMOTE=redis://me:s3cret@host/1 ") +
                                FOREGRAD_CLI + " settings");
  EXPECT_NE(outcome.output.find("redis://me:***@host/1"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("s3cret"), std::string::npos) << outcome.output;
}

TEST(Cli, ops_lists_functions_with_their_schemas) {
  Outcome outcome = foregrad("ops");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("  add(Tensor self, "), std::string::npos) << outcome.output;
}

TEST(Cli, ops_as_json_has_schema_and_documentation_of_every_function_and_kind_of_every_primitive) {
  Outcome outcome = foregrad("ops --json");
  EXPECT_EQ(outcome.status, 0);
  auto document = nlohmann::json::parse(outcome.output);
  EXPECT_GT(document["functions"].size(), 0u);
  for (const auto& row : document["functions"]) {
    std::string schema = row["schema"], documentation = row["documentation"];
    EXPECT_TRUE(schema.starts_with(row["name"].get<std::string>() + "(")) << schema;
    EXPECT_NE(schema.find(") -> "), std::string::npos) << schema;
    EXPECT_TRUE(documentation.ends_with(".")) << row;
  }
  EXPECT_GT(document["primitives"].size(), 0u);
  for (const auto& row : document["primitives"]) EXPECT_NE(row["kind"], "") << row;
}

TEST(Cli, explain_writes_a_page_beside_the_graph_or_where_it_is_told_to) {
  Folder folder;
  std::string graph = folder.file("f.fgir", kGraph);
  Outcome outcome = foregrad("explain " + graph);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, graph + ".html is written\n");
  std::string page = content(graph + ".html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("sin mul sum -&gt; [1]"), page.npos);
  EXPECT_NE(page.find("sum float32 %3 [1], by blocks of up to 512 elements"), page.npos);
  EXPECT_NE(page.find("model.py:3"), page.npos);
  std::string other = folder.file("other.html");
  EXPECT_EQ(foregrad("explain " + graph + " -o " + other).status, 0);
  EXPECT_TRUE(content(other).starts_with("<!DOCTYPE html>"));
}

TEST(Cli, explain_as_json_has_phases_operations_steps_kernels_and_memory) {
  Folder folder;
  Outcome outcome = foregrad("explain --json " + folder.file("f.fgir", kGraph));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  auto document = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(document["operations"].size(), 4u);
  EXPECT_EQ(document["operations"][0]["line"], "model.py:3");
  EXPECT_EQ(document["inputs"][0]["role"], "argument 0 \"x\"");
  ASSERT_EQ(document["steps"].size(), 2u);
  EXPECT_EQ(document["steps"][0]["name"], "sin mul sum -> [1]");
  EXPECT_EQ(document["steps"][0]["kernel"], "k0");
  EXPECT_GT(document["steps"][0]["seconds"].get<double>(), 0);
  EXPECT_EQ(document["steps"][1]["kind"], "reduction");
  EXPECT_EQ(document["kernels"].size(), 1u);
  EXPECT_EQ(document["memory"]["results"], 8);
  EXPECT_EQ(document["memory"]["block"], 0);  // nothing is stored between
  EXPECT_EQ(document["phases"][0]["name"], "parse");
}

TEST(Cli, explain_of_a_bad_file_says_which_and_in_which_line) {
  Folder folder;
  std::string graph = folder.file("bad.fgir", "graph(%0: float32[8] argument 0) {\n  %1: dance\n}");
  Outcome outcome = foregrad("explain " + graph);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "foregrad: " + graph +
                                ": graph text, line 2: expected a dtype in the place of 'dance', "
                                "got ''\n");
  std::string wrong = folder.file("wrong.fgir",
                                  "graph(%0: float32[8] argument 0) {\n"
                                  "  %1: float32[9] = sin(%0)\n  return %1: output 0\n}");
  outcome = foregrad("explain " + wrong);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find(wrong + ": "), std::string::npos) << outcome.output;
  outcome = foregrad("explain /nowhere/f.fgir");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output,
            "foregrad: explain: /nowhere/f.fgir cannot be read: No such file or directory; "
            "expected a file with a graph in its text form\n");
  outcome = foregrad("explain /tmp");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output,
            "foregrad: explain: /tmp cannot be read: it is not a plain file; expected a file with "
            "a graph in its text form\n");
  outcome = foregrad("explain " + folder.file("f.fgir", kGraph) + " -o /nowhere/f.html");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("explain: /nowhere/f.html cannot be written: No such file"),
            std::string::npos)
      << outcome.output;
}

// A pipe without a reader or writer in the place of every path that a user gives.
TEST(Cli, pipes_are_refused_and_not_waited_for) {
  Folder folder;
  std::string pipe = folder.file("pipe"), graph = folder.file("f.fgir", kGraph);
  std::string key = folder.file("key", "0123456789abcdef0123456789abcdef");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(chmod(key.c_str(), 0600), 0);
  std::string settings = "env FOREGRAD_CACHE_DIR=" + folder.file("cache") +
                         " XDG_CONFIG_HOME=" + folder.file("config") + " timeout 60 ";
  for (const std::string& arguments :
       {"explain " + pipe, "explain " + graph + " -o " + pipe,
        "cache import " + pipe + " --key " + key, "cache export " + pipe + " --key " + key,
        "cache export " + folder.file("bundle") + " --key " + pipe, "train --text " + pipe,
        "train --resume " + pipe, "train --out " + pipe}) {
    Outcome outcome = run_command(settings + FOREGRAD_CLI + " " + arguments);
    EXPECT_EQ(outcome.status, 1) << arguments << ": " << outcome.output;
    EXPECT_EQ(outcome.output.find("foregrad: "), 0u) << outcome.output;
  }
  Outcome traced = run_command(settings + "env FOREGRAD_TRACE=" + pipe + " " + FOREGRAD_CLI +
                               " explain " + graph);
  EXPECT_EQ(traced.status, 0) << traced.output;
  EXPECT_NE(traced.output.find("FOREGRAD_TRACE: the file '" + pipe + "' cannot be opened"),
            std::string::npos)
      << traced.output;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Cli, what_a_file_is_called_and_holds_steers_no_terminal) {
  Folder folder;
  std::string name = folder.file("\x1b[2Jname", "graph(\x1b[31m");
  Outcome outcome = foregrad("explain '" + name + "'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("\\x1b[2Jname: graph text"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos) << outcome.output;
}
