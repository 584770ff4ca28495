// Options of the cache, from the settings (FOREGRAD_CACHE_...) or from a program.
#pragma once

#include <cstdint>
#include <string>

namespace fg::cache {

struct Config {
  bool local = true;                            // files on this machine
  bool remote = true;                           // the remote store, when it has an address
  std::string directory;                        // of the local store
  std::string key_directory;                    // of the user's own secret key
  std::string shared_key;                       // a file: the secret of users that share entries
  std::string remote_url;                       // redis:// or rediss://
  std::string tag;                              // part of every key
  uint64_t size_limit = uint64_t{2} << 30;      // bytes on disk
  uint64_t memory_limit = uint64_t{256} << 20;  // bytes in this process
  double wait_seconds = 300;                    // for another process that compiles the same
  double remote_seconds = 0.5;                  // for one question to the remote store
  bool strict = false;                          // failures are errors
};

Config config_from_settings();

// FOREGRAD_FORCE_DISABLE_CACHES=1 wins over every Config.
bool forced_off();

}  // namespace fg::cache
