#include "cache/key.h"

#include <fmt/format.h>

#include <algorithm>

namespace fg::cache {

Digest Key::digest() const {
  Hasher hasher;
  hasher.add("foregrad key 1").add(fields.size());
  for (const Field& field : fields) hasher.add_field(field.name, field.value);
  return hasher.finish();
}

namespace {

const Field* find(const Key& key, const std::string& name) {
  auto found = std::find_if(key.fields.begin(), key.fields.end(),
                            [&](const Field& field) { return field.name == name; });
  return found == key.fields.end() ? nullptr : &*found;
}

std::string_view line_at(std::string_view text, size_t at) {
  size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

std::vector<Difference> differences(const Key& one, const Key& other) {
  std::vector<Difference> result;
  for (const Field& field : one.fields) {
    const Field* same = find(other, field.name);
    if (!same) result.push_back({field.name, field.value, "", true, false});
    if (same && same->value != field.value) {
      result.push_back({field.name, field.value, same->value});
    }
  }
  for (const Field& field : other.fields) {
    if (!find(one, field.name)) result.push_back({field.name, "", field.value, false, true});
  }
  return result;
}

std::string printable(std::string_view text, size_t limit) {
  std::string result;
  for (char c : text) {
    if (result.size() >= limit) return result + "...";
    // A terminal must not obey what it shows.
    result += c >= ' ' && c < 127 ? std::string(1, c) : c == '\n' ? "\\n" : "?";
  }
  return result;
}

std::string first_difference(const std::string& one, const std::string& other) {
  auto [at, _] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  auto place = static_cast<size_t>(at - one.begin());
  auto line = std::count(one.begin(), at, '\n') + 1;
  std::string first = printable(line_at(one, place)), second = printable(line_at(other, place));
  bool several = one.find('\n') != std::string::npos || other.find('\n') != std::string::npos;
  std::string where = several ? fmt::format("line {}: ", line) : "";
  return fmt::format("{}\"{}\" and \"{}\"", where, first, second);
}

}  // namespace fg::cache
