// Runs the command `foregrad` as a user does.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "tests/base/child_process.h"

namespace {

Outcome foregrad(const std::string& arguments) {
  return run_command(std::string(FOREGRAD_CLI) + " " + arguments);
}

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
