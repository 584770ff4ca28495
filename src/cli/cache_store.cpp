#include "cli/cache_store.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "base/fail.h"
#include "base/settings.h"
#include "cache/secret.h"

namespace fg::cli {

cache::LocalStore open_store() {
  cache::Config config = cache::config_from_settings();
  return {config.directory, cache::user_key(config.key_directory), config.size_limit};
}

StoredEntry read_entry(const cache::LocalStore& store, const cache::StoredFile& file) {
  Bytes content = store.read(file);
  return {file, content, cache::unpack(content)};
}

std::vector<StoredEntry> entries_of(const cache::LocalStore& store, const std::string& prefix) {
  std::set<std::string> keys;
  std::vector<cache::StoredFile> files;
  for (const cache::StoredFile& file : store.list()) {
    if (!file.key.starts_with(prefix)) continue;
    keys.insert(file.key);
    files.push_back(file);
  }
  if (prefix.size() < 4) {
    fail("cache: \"{}\" is too short; expected at least 4 digits of a key, see foregrad cache ls",
         prefix);
  }
  if (keys.empty()) fail("cache: no key begins with {}; see foregrad cache ls", prefix);
  if (keys.size() > 1) {
    fail("cache: {} keys begin with {}; give more digits, as of {}", keys.size(), prefix,
         short_key(*keys.begin()));
  }
  std::vector<StoredEntry> entries;
  for (const cache::StoredFile& file : files) entries.push_back(read_entry(store, file));
  return entries;
}

std::string short_key(const std::string& key) { return key.substr(0, 12); }

std::string size_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    unit++;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string time_text(int64_t seconds) {
  auto at = static_cast<time_t>(seconds);
  tm parts{};
  if (!localtime_r(&at, &parts)) return "?";
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts)};
}

uint64_t bytes_from(const std::string& text, uint64_t fallback) {
  if (text.empty()) return fallback;
  uint64_t bytes = 0;
  if (!settings::read_bytes(text, bytes)) {
    fail("cache: the size {} is not understood; expected bytes, or a number with K, M, G or T",
         text);
  }
  return bytes;
}

}  // namespace fg::cli
