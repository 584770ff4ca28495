// `foregrad settings`: the table of environment variables and their values here and now.
#include "base/settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"

namespace fg::cli {

namespace {

void print_json() {
  auto rows = nlohmann::ordered_json::array();
  for (const settings::Setting& s : settings::all()) {
    rows.push_back({{"name", s.name},
                    {"value", settings::text(s.id)},
                    {"default", s.fallback},
                    {"expected", s.expected},
                    {"documentation", s.documentation}});
  }
  fmt::print("{}\n", rows.dump(2));
}

void print_text() {
  for (const settings::Setting& s : settings::all()) {
    fmt::print("{}={}\n    {}\n    Expected: {}. Default: \"{}\".\n", s.name, settings::text(s.id),
               s.documentation, s.expected, s.fallback);
  }
}

}  // namespace

void print_settings(bool json) { json ? print_json() : print_text(); }

}  // namespace fg::cli
