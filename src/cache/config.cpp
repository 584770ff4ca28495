#include "cache/config.h"

#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "base/environment.h"
#include "base/settings.h"

namespace fg::cache {

using settings::Id;

namespace {

std::string home() {
  const char* variable = environment("HOME");
  if (variable && *variable == '/') return variable;
  passwd entry{}, *found = nullptr;
  std::vector<char> room(16384);
  getpwuid_r(geteuid(), &entry, room.data(), room.size(), &found);
  return found && found->pw_dir ? found->pw_dir : "";
}

// $XDG_..._HOME/foregrad, else a folder of the home. The standard says that relative paths there
// are to be ignored. Empty without a home.
std::string user_folder(const char* variable, const char* below_home) {
  const char* value = environment(variable);
  if (value && *value == '/') return std::string(value) + "/foregrad";
  std::string at = home();
  return at.empty() ? "" : at + below_home + "/foregrad";
}

}  // namespace

bool forced_off() { return settings::yes(Id::force_disable_caches); }

Config config_from_settings() {
  Config config;
  const std::string& stores = settings::text(Id::cache);
  if (stores != "0" && stores != "1" && stores != "local" && stores != "remote") {
    settings::fail_value(Id::cache);
  }
  config.local = stores == "1" || stores == "local";
  config.remote = stores == "1" || stores == "remote";
  config.directory = settings::text(Id::cache_dir);
  if (config.directory.empty()) config.directory = user_folder("XDG_CACHE_HOME", "/.cache");
  config.key_directory = user_folder("XDG_CONFIG_HOME", "/.config");
  config.shared_key = settings::text(Id::cache_key);
  config.remote_url = settings::text(Id::cache_remote);
  config.tag = settings::text(Id::cache_tag);
  config.size_limit = settings::bytes(Id::cache_size);
  config.wait_seconds = settings::number(Id::cache_wait);
  config.remote_seconds = settings::number(Id::cache_remote_timeout);
  config.strict = settings::yes(Id::cache_strict);
  return config;
}

}  // namespace fg::cache
