// Many entries in one file or string, to be carried to another machine: compressed, with one
// authentication code over everything. It is read whole or not at all.
//
//   0 magic "FGBUNDL\n"    8 format    16 size of the entries    24 size compressed    32 code
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "cache/local_store.h"

namespace fg::cache {

struct BundledEntry {
  Digest key;
  std::string name;
  Bytes content;
};

std::string make_bundle(const std::vector<BundledEntry>& entries, const SecretKey& shared);
// What make_bundle does with entries that stand one after the other, each with its size before it.
std::string seal_bundle(std::string_view plain, const SecretKey& shared);
// Everything is verified when this returns; refuses whatever is not in order.
std::vector<BundledEntry> read_bundle(std::string_view bundle, const SecretKey& shared);

// Writes all of them, authenticated anew with the store's own key; when one cannot be written,
// those that were not there before are removed again.
void write_all_or_none(const LocalStore& store, const std::vector<BundledEntry>& entries);

}  // namespace fg::cache
