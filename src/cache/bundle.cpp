#include "cache/bundle.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "cache/entry.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr std::string_view kMagic = "FGBUNDL\n";
constexpr uint64_t kBundleFormat = 1;
constexpr size_t kFormatAt = 8, kSizeAt = 16, kPackedAt = 24, kCodeAt = 32, kBundleHeader = 64;
constexpr uint64_t kLargestBundle = uint64_t{16} << 30;

void append(std::string& to, uint64_t number) {
  for (int i = 0; i < 8; i++) to += static_cast<char>(number >> (8 * i) & 0xff);
}

uint64_t number_at(std::string_view bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; i++) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

Digest code_of(std::string_view head, std::string_view packed, const SecretKey& shared) {
  return Hasher(shared).add("foregrad bundle 1").add(head).add(packed).finish();
}

std::string compressed(std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  if (ZSTD_isError(size)) fail("zstd: {}", ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

[[noreturn]] void refuse_bundle(const char* why) {
  refuse("bundle", "the bundle is refused, nothing of it was taken: {}", why);
}

// The compressed part, after everything that can be said without decompressing it.
std::string_view authentic_part(std::string_view bundle, const SecretKey& shared) {
  if (bundle.size() < kBundleHeader || !bundle.starts_with(kMagic)) {
    refuse_bundle("it does not begin as one");
  }
  if (number_at(bundle, kFormatAt) != kBundleFormat) {
    refuse_bundle("it has the format of another version");
  }
  std::string_view packed = bundle.substr(kBundleHeader);
  if (number_at(bundle, kPackedAt) != packed.size()) refuse_bundle("it is not whole");
  Digest code;
  std::memcpy(code.data(), bundle.data() + kCodeAt, code.size());
  if (!is_same(code, code_of(bundle.substr(0, kCodeAt), packed, shared))) {
    refuse_bundle("it is damaged, or was made with another shared key");
  }
  return packed;
}

BundledEntry entry_from(std::string_view bytes) {
  Bytes content(bytes);
  Entry entry = unpack(content);
  return {key_of(content).digest(), name_of(entry), content};
}

}  // namespace

std::string make_bundle(const std::vector<BundledEntry>& entries, const SecretKey& shared) {
  std::string plain;
  for (const BundledEntry& entry : entries) {
    append(plain, entry.content.size());
    plain += entry.content.view();
  }
  return seal_bundle(plain, shared);
}

std::string seal_bundle(std::string_view plain, const SecretKey& shared) {
  std::string packed = compressed(plain), bundle(kMagic);
  append(bundle, kBundleFormat);
  append(bundle, plain.size());
  append(bundle, packed.size());
  Digest code = code_of(bundle, packed, shared);
  return bundle.append(raw_bytes(code)).append(packed);
}

std::vector<BundledEntry> read_bundle(std::string_view bundle, const SecretKey& shared) {
  std::string_view packed = authentic_part(bundle, shared);
  uint64_t size = number_at(bundle, kSizeAt);
  if (size > kLargestBundle) refuse_bundle("it is too large");
  Bytes plain(static_cast<size_t>(size));
  if (ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) != size) {
    refuse_bundle("it cannot be decompressed");
  }
  std::vector<BundledEntry> entries;
  for (std::string_view rest = plain.view(); !rest.empty();) {
    uint64_t bytes = rest.size() < 8 ? UINT64_MAX : number_at(rest, 0);
    if (bytes > rest.size() - std::min<size_t>(rest.size(), 8)) refuse_bundle("it is not whole");
    entries.push_back(entry_from(rest.substr(8, bytes)));
    rest.remove_prefix(8 + bytes);
  }
  return entries;
}

void write_all_or_none(const LocalStore& store, const std::vector<BundledEntry>& entries) {
  std::set<std::pair<std::string, std::string>> before;
  for (const StoredFile& file : store.list()) before.emplace(file.key, file.name);
  size_t written = 0;
  try {
    for (; written < entries.size(); written++) {
      const BundledEntry& entry = entries[written];
      store.write(entry.key, entry.name, entry.content.view());
    }
  } catch (...) {
    for (size_t i = 0; i < written; i++) {
      std::string key = hex(entries[i].key);
      if (!before.contains({key, entries[i].name})) store.remove(key, entries[i].name);
    }
    throw;
  }
}

}  // namespace fg::cache
