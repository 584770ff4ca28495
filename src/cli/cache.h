// The subcommands of `foregrad cache`.
#pragma once

#include <string>
#include <vector>

namespace fg::cli {

struct CacheOptions {
  bool json = false;
  bool remove = false;             // verify: deletes refused entries
  std::string shared_key;          // --key
  std::string size;                // gc: the limit, as FOREGRAD_CACHE_SIZE has it
  size_t count = 20;               // why: how many lookups
  std::vector<std::string> names;  // keys, or the file
};

void cache_stats(const CacheOptions& options);
void cache_list(const CacheOptions& options);
void cache_inspect(const CacheOptions& options);
void cache_explain(const CacheOptions& options);
void cache_why(const CacheOptions& options);
void cache_verify(const CacheOptions& options);
void cache_collect(const CacheOptions& options);
void cache_clear(const CacheOptions& options);
void cache_export(const CacheOptions& options);
void cache_import(const CacheOptions& options);

}  // namespace fg::cli
