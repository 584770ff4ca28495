// A cache of its own for a test, gone with it; keys and entries to put there.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cache/cache.h"
#include "cache/local_store.h"
#include "cache/secret.h"

namespace fg::cache {

class TestCache {
 public:
  explicit TestCache(Config config = {}) : config_(std::move(config)) {
    path_ = mkdtemp(name_);
    config_.directory = path_ + "/cache";
    config_.key_directory = path_ + "/config";
    configure(config_);
  }
  ~TestCache() {
    Config off;
    off.local = off.remote = false;
    configure(off);  // nothing refers to the folder any more
    std::filesystem::remove_all(path_);
  }
  TestCache(const TestCache&) = delete;

  Config& config() { return config_; }
  void forget_memory() { configure(config_); }  // as a new process would begin; counts are zero
  const std::string& path() const { return path_; }
  std::string with_shared_key(const std::string& text = "0123456789abcdef0123456789abcdef") {
    config_.shared_key = path_ + "/shared.key";
    std::ofstream(config_.shared_key) << text;
    chmod(config_.shared_key.c_str(), 0600);
    configure(config_);
    return config_.shared_key;
  }
  LocalStore store() const {
    return LocalStore(config_.directory, user_key(config_.key_directory), config_.size_limit);
  }
  // The file of the only entry.
  std::string only_file() const {
    auto files = store().list();
    EXPECT_EQ(files.size(), 1u);
    return file(files.at(0));
  }
  std::string file(const StoredFile& file) const {
    return config_.directory + "/entries/" + file.key.substr(0, 2) + "/" + file.key.substr(2) +
           "/" + file.name;
  }

 private:
  char name_[32] = "/tmp/foregrad-cache-XXXXXX";
  std::string path_;
  Config config_;
};

inline Key key(const std::string& graph, const std::string& level = "v3") {
  return {{{"graph", graph}, {"level", level}, {"threads do not count", ""}}};
}

inline Entry entry(std::string_view code, double milliseconds = 5) {
  return {{{"forward", code}, {"plan", "a plan"}}, {"0.1.0", "b1d", "v3", milliseconds, 1000}};
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// The code of what is found now, as a process that has nothing in memory finds it.
inline std::string found_code(TestCache& cache, const Key& wanted) {
  cache.forget_memory();
  auto found = find(wanted);
  return found ? std::string(found->section("forward")) : "nothing";
}

}  // namespace fg::cache
