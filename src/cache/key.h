// A key: everything that decides what is compiled, as named fields in a fixed order. Its digest
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

// One field of two keys that is not the same in both.
struct Difference {
  std::string name;
  std::string one, other;               // values
  bool in_one = true, in_other = true;  // whether the key has this field
};
std::vector<Difference> differences(const Key& one, const Key& other);

// Where two values differ first, for people: the line of a longer text, without what is not
// printable.
std::string first_difference(const std::string& one, const std::string& other);
std::string printable(std::string_view text, size_t limit = 200);

}  // namespace fg::cache
