#include "cache/store_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/folder.h"

namespace fg::cache {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<Digest> digest_from_hex(const std::string& text) {
  Digest digest;
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < digest.size(); i++) {
    int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return digest;
}

std::string path_of(const std::string& key) {
  return std::string(kEntries) + "/" + key.substr(0, 2) + "/" + key.substr(2);
}

bool is_temporary(const std::string& name) { return name.starts_with(kTemporary); }

uint64_t bytes_on_disk(uint64_t size) {
  constexpr uint64_t kBlock = 4096;
  return (size + kBlock - 1) / kBlock * kBlock + kBlock;
}

void each_file(int root, const std::function<void(const StoredFile&)>& visit) {
  Descriptor entries = open_inside(root, kEntries, false);
  if (!entries) return;
  for (const std::string& shard : names_in(entries.number())) {
    Descriptor folder = open_inside(entries.number(), shard, false);
    if (!folder) continue;
    for (const std::string& rest : names_in(folder.number())) {
      Descriptor key = open_inside(folder.number(), rest, false);
      if (!key) continue;
      for (const std::string& name : names_in(key.number())) {
        struct stat status;
        if (fstatat(key.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW)) continue;
        visit({shard + rest, name, bytes_on_disk(static_cast<uint64_t>(status.st_size)),
               status.st_mtime});
      }
    }
  }
}

}  // namespace fg::cache
