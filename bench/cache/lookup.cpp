// Microseconds of a lookup that finds an entry on disk, with few and with many entries in the
// store; interleaved, so that what else the machine does meets both. A line of JSON per case.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "cache/entry.h"
#include "cache/local_store.h"
#include "cache/secret.h"

using namespace fg;         // NOLINT
using namespace fg::cache;  // NOLINT

namespace {

constexpr int kSmall = 2000;  // bytes of code
constexpr int kLarge = 1 << 20;

Key key_of(int number) {
  return {{{"graph", fmt::format("graph {} {}", number, std::string(2000, 'g'))}, {"level", "v3"}}};
}

Entry entry_of(const std::string& code) { return {{{"forward", code}}, made_here("v3", 100)}; }

struct Store {
  std::string path;
  int entries;
  Config config;
};

Store filled(const std::string& root, int entries, bool keep) {
  Store made{fmt::format("{}/{}", root, entries), entries, {}};
  made.config.directory = made.path;
  made.config.key_directory = root + "/key";
  made.config.memory_limit = 0;  // every lookup goes to the disk
  made.config.size_limit = uint64_t{64} << 30;
  if (keep && std::filesystem::exists(made.path)) return made;
  LocalStore store(made.path, user_key(made.config.key_directory), made.config.size_limit);
  std::string code(kSmall, 'c'), large(kLarge, 'c');
  for (int i = 0; i < entries; i++) {
    Entry entry = entry_of(code);
    store.write(key_of(i).digest(), name_of(entry), pack(key_of(i), entry));
  }
  Entry entry = entry_of(large);
  store.write(key_of(-1).digest(), name_of(entry), pack(key_of(-1), entry));
  return made;
}

double microseconds(const Key& key) {
  auto begin = std::chrono::steady_clock::now();
  auto found = find(key);
  auto end = std::chrono::steady_clock::now();
  if (!found) std::abort();
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  std::string root = count > 1 ? arguments[1] : "/tmp/foregrad-bench-cache";
  int many = count > 2 ? std::atoi(arguments[2]) : 100000;
  std::filesystem::create_directories(root);
  Store stores[] = {filled(root, 10, false), filled(root, many, true)};
  std::vector<double> small[2], large[2];
  constexpr int kLookups = 200, kTurns = 10;
  for (int turn = 0; turn < kTurns; turn++) {
    for (int s = 0; s < 2; s++) {
      configure(stores[s].config);
      find(key_of(0));  // opens the store
      for (int i = 0; i < kLookups;
           i++) {  // the same few: what differs is how many lie around them
        int number = i % 10 * (stores[s].entries / 10);
        small[s].push_back(microseconds(key_of(number)));
      }
      for (int i = 0; i < 5; i++) large[s].push_back(microseconds(key_of(-1)));
    }
  }
  for (int s = 0; s < 2; s++) {
    for (const auto& [name, values] :
         {std::pair("lookup", small[s]), {"lookup of 1 MB", large[s]}}) {
      fmt::print("{{\"case\": \"{}\", \"entries\": {}, \"median\": {:.2f}, \"minimum\": {:.2f}}}\n",
                 name, stores[s].entries, median(values),
                 *std::min_element(values.begin(), values.end()));
    }
  }
}
