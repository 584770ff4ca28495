// An entry: named sections of bytes, with their provenance. Its content is a FlatBuffer, verified
// before anything is read out of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "cache/key.h"

namespace fg::cache {

struct Provenance {
  std::string version, build_id, level;
  double compile_milliseconds = 0;
  int64_t made_at = 0;  // seconds since 1970
};
// The provenance of an entry that this library makes now.
Provenance made_here(const char* level, double compile_milliseconds);

struct Section {
  std::string name;
  std::string_view bytes;  // of a found entry: in the memory of its owner
};

struct Entry {
  std::vector<Section> sections;
  Provenance made;
  std::shared_ptr<const void> owner{};  // keeps the bytes of all sections

  // The bytes of the section with this name; without such a section a view with a null address.
  std::string_view section(std::string_view name) const;
};

inline constexpr size_t kLargestContent = size_t{1} << 30;

std::string pack(const Key& key, const Entry& entry);
// Refuses a content that the verifier rejects; copies nothing but names.
Entry unpack(const Bytes& content);
Key key_of(const Bytes& content);                    // of a content that unpack took
bool has_key(const Bytes& content, const Key& key);  // the same fields in the same order
// Names an entry among those of one key: equal sections, equal name.
std::string name_of(const Entry& entry);

}  // namespace fg::cache
