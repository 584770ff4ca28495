// A bundle: many entries in one file or string for another machine, compressed, with one
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
// Compresses and seals entries that stand one after the other, each with its size before it.
std::string seal_bundle(std::string_view plain, const SecretKey& shared);
// Verifies every entry before it returns; refuses a bundle with any damage.
std::vector<BundledEntry> read_bundle(std::string_view bundle, const SecretKey& shared);

// Writes all entries, authenticated anew with the store's own key. When one cannot be written, it
// removes those that the store did not have before.
void write_all_or_none(const LocalStore& store, const std::vector<BundledEntry>& entries);

}  // namespace fg::cache
