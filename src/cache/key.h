// A key: everything that decides the compiled code, as named fields in a fixed order. Its digest
// only finds an entry; the fields themselves are compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace fg::cache {

struct Field {
  std::string name, value;
  bool operator==(const Field&) const = default;
};

struct Key {
  std::vector<Field> fields;

  Digest digest() const;
  bool operator==(const Key&) const = default;
};

// A field that differs between two keys.
struct Difference {
  std::string name;
  std::string one, other;               // values
  bool in_one = true, in_other = true;  // whether the key has this field
};
std::vector<Difference> differences(const Key& one, const Key& other);

// The first difference of two values, for people: of a longer text the line, without characters
// that are not printable.
std::string first_difference(const std::string& one, const std::string& other);
std::string printable(std::string_view text, size_t limit = 200);

}  // namespace fg::cache
