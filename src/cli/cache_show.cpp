// `foregrad cache stats | ls | inspect | explain | why`: what is there, and what happened.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "cache/key.h"
#include "cache/why.h"
#include "cli/cache.h"
#include "cli/cache_store.h"

namespace fg::cli {

using Json = nlohmann::ordered_json;
using cache::printable;

namespace {

// Text of entries may be any bytes; JSON has only Unicode.
std::string json_text(const std::string& text) {
  bool plain = std::all_of(text.begin(), text.end(),
                           [](char c) { return static_cast<unsigned char>(c) < 128; });
  return plain ? text : printable(text, text.size());
}

void print(const Json& document) { fmt::print("{}\n", document.dump(2)); }

// The least recently used last.
std::vector<cache::StoredFile> newest_first(const cache::LocalStore& store) {
  std::vector<cache::StoredFile> files = store.list();
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return a.used_at > b.used_at; });
  return files;
}

struct Summary {
  uint64_t entries = 0, bytes = 0;
  std::map<std::string, uint64_t> lookups{}, bypasses{};
};

Summary summary_of(const cache::LocalStore& store) {
  Summary summary;
  for (const cache::StoredFile& file : store.list()) {
    summary.entries++;
    summary.bytes += file.bytes;
  }
  for (const cache::Lookup& lookup : cache::read_log(store.folder()).lookups) {
    summary.lookups[name(lookup.outcome)]++;
    if (lookup.outcome == cache::Outcome::bypass) summary.bypasses[printable(lookup.reason)]++;
  }
  return summary;
}

Json json_of(const cache::Provenance& made) {
  return {{"version", json_text(made.version)},
          {"build_id", json_text(made.build_id)},
          {"level", json_text(made.level)},
          {"compile_milliseconds", made.compile_milliseconds},
          {"made_at", made.made_at}};
}

}  // namespace

void cache_stats(const CacheOptions& options) {
  cache::Config config = cache::config_from_settings();
  cache::LocalStore store = open_store();
  Summary summary = summary_of(store);
  if (options.json) {
    return print({{"directory", config.directory},
                  {"entries", summary.entries},
                  {"bytes", summary.bytes},
                  {"size_limit", config.size_limit},
                  {"recent_lookups", summary.lookups},
                  {"recent_bypasses", summary.bypasses}});
  }
  fmt::print("{:<24} {}\n", "directory", config.directory);
  fmt::print("{:<24} {}\n", "entries", summary.entries);
  fmt::print("{:<24} {} of {}\n", "size", size_text(summary.bytes), size_text(config.size_limit));
  fmt::print("recent lookups\n");
  for (const auto& [outcome, count] : summary.lookups) fmt::print("  {:<22} {}\n", outcome, count);
  for (const auto& [reason, count] : summary.bypasses) fmt::print("    {}: {}\n", count, reason);
}

void cache_list(const CacheOptions& options) {
  cache::LocalStore store = open_store();
  Json rows = Json::array();
  if (!options.json) {
    fmt::print("{:<12}  {:>9}  {:>10}  {:<9}  {:<19}  sections\n", "key", "size", "compiled in",
               "level", "last used");
  }
  for (const cache::StoredFile& file : newest_first(store)) {
    try {
      StoredEntry stored = read_entry(store, file);
      std::vector<std::string> sections;
      for (const cache::Section& section : stored.entry.sections) {
        sections.push_back(printable(section.name));
      }
      if (options.json) {
        rows.push_back({{"key", file.key},
                        {"name", file.name},
                        {"bytes", file.bytes},
                        {"used_at", file.used_at},
                        {"sections", sections},
                        {"made", json_of(stored.entry.made)}});
        continue;
      }
      fmt::print("{:<12}  {:>9}  {:>8.0f} ms  {:<9}  {:<19}  {}\n", short_key(file.key),
                 size_text(file.bytes), stored.entry.made.compile_milliseconds,
                 printable(stored.entry.made.level), time_text(file.used_at),
                 fmt::join(sections, " "));
    } catch (const Error& error) {
      fmt::print(stderr, "{}: {}\n", short_key(file.key), error.what());
    }
  }
  if (options.json) print(rows);
}

namespace {

Json inspected(const StoredEntry& stored) {
  Json sections = Json::object(), key = Json::object();
  for (const cache::Section& section : stored.entry.sections) {
    sections[json_text(section.name)] = section.bytes.size();
  }
  for (const cache::Field& field : cache::key_of(stored.content).fields) {
    key[json_text(field.name)] = {{"value", json_text(field.value)},
                                  {"digest", hex(digest(field.value))}};
  }
  return {{"key", stored.file.key},
          {"name", stored.file.name},
          {"bytes", stored.file.bytes},
          {"used_at", stored.file.used_at},
          {"made", json_of(stored.entry.made)},
          {"sections", sections},
          {"fields", key}};
}

void print_inspected(const StoredEntry& stored) {
  const cache::Provenance& made = stored.entry.made;
  fmt::print("key       {}\nentry     {}\n", stored.file.key, stored.file.name);
  fmt::print("made      {} by version {}, build {}, level {}, in {:.1f} ms\n",
             time_text(made.made_at), printable(made.version), printable(made.build_id, 12),
             printable(made.level), made.compile_milliseconds);
  fmt::print("used      {}\nsections\n", time_text(stored.file.used_at));
  for (const cache::Section& section : stored.entry.sections) {
    fmt::print("  {:<20} {}\n", printable(section.name), size_text(section.bytes.size()));
  }
  fmt::print("fields\n");
  for (const cache::Field& field : cache::key_of(stored.content).fields) {
    fmt::print("  {:<20} {}  {}\n", printable(field.name), hex(digest(field.value)).substr(0, 12),
               printable(field.value, 100));
  }
}

}  // namespace

void cache_inspect(const CacheOptions& options) {
  Json rows = Json::array();
  for (const StoredEntry& stored : entries_of(open_store(), options.names.at(0))) {
    if (options.json) {
      rows.push_back(inspected(stored));
    } else {
      print_inspected(stored);
    }
  }
  if (options.json) print(rows);
}

void cache_explain(const CacheOptions& options) {
  cache::LocalStore store = open_store();
  cache::Key keys[2];
  for (size_t i = 0; i < 2; i++) {
    keys[i] = cache::key_of(entries_of(store, options.names.at(i)).at(0).content);
  }
  std::vector<cache::Difference> found = cache::differences(keys[0], keys[1]);
  Json rows = Json::array();
  for (const cache::Difference& difference : found) {
    std::string name = printable(difference.name);
    if (options.json) {
      Json row = {{"field", json_text(difference.name)}};
      row["one"] = difference.in_one ? Json(json_text(difference.one)) : Json();
      row["other"] = difference.in_other ? Json(json_text(difference.other)) : Json();
      rows.push_back(row);
    } else if (!difference.in_one || !difference.in_other) {
      fmt::print("{:<20} only in the {} key\n", name, difference.in_one ? "first" : "second");
    } else {
      fmt::print("{:<20} {}\n", name, cache::first_difference(difference.one, difference.other));
    }
  }
  if (options.json) return print(rows);
  if (found.empty()) fmt::print("the keys are the same\n");
}

void cache_why(const CacheOptions& options) {
  cache::LocalStore store = open_store();
  Json rows = Json::array();
  std::vector<cache::Explained> lookups = cache::explain_lookups(store, options.count);
  for (const cache::Explained& explained : lookups) {
    const cache::Lookup& lookup = explained.lookup;
    if (!options.json) {
      fmt::print("{}  process {:<8} {:<12}  {:>8.0f} us  {}\n", time_text(lookup.at),
                 lookup.process, lookup.key.empty() ? "-" : short_key(lookup.key),
                 lookup.microseconds, sentence(explained));
      continue;
    }
    Json row = {{"at", lookup.at},
                {"process", lookup.process},
                {"outcome", name(lookup.outcome)},
                {"key", lookup.key},
                {"reason", json_text(lookup.reason)},
                {"microseconds", lookup.microseconds},
                {"waited", lookup.waited}};
    if (explained.nearest) {
      Json fields = Json::array();
      for (const auto& difference : explained.nearest->differences) {
        fields.push_back(json_text(difference.name));
      }
      row["nearest"] = {{"key", explained.nearest->key}, {"differs_in", fields}};
    }
    rows.push_back(row);
  }
  if (options.json) return print(rows);
  if (lookups.empty()) fmt::print("no lookups are known\n");
}

}  // namespace fg::cli
