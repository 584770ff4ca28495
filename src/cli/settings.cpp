// `foregrad settings`: the table of environment variables and their values here and now.
#include "base/settings.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"

namespace fg::cli {

namespace {

// A password is not for everybody's eyes: redis://user:***@host
std::string shown(const settings::Setting& setting) {
  std::string value = settings::text(setting.id);
  size_t at = value.rfind('@'), begin = value.find("://");
  if (setting.id != settings::Id::cache_remote || at == value.npos || begin == value.npos) {
    return value;
  }
  size_t colon = value.find(':', begin + 3);
  return colon < at ? value.replace(colon + 1, at - colon - 1, "***") : value;
}

void print_json() {
  auto rows = nlohmann::ordered_json::array();
  for (const settings::Setting& s : settings::all()) {
    rows.push_back({{"name", s.name},
                    {"value", shown(s)},
                    {"default", s.fallback},
                    {"expected", s.expected},
                    {"documentation", s.documentation}});
  }
  fmt::print("{}\n", rows.dump(2));
}

void print_text() {
  for (const settings::Setting& s : settings::all()) {
    fmt::print("{}={}\n    {}\n    Expected: {}. Default: \"{}\".\n", s.name, shown(s),
               s.documentation, s.expected, s.fallback);
  }
}

}  // namespace

void print_settings(bool json) { json ? print_json() : print_text(); }

}  // namespace fg::cli
