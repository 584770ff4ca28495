#include "cache/lookup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "cache/folder.h"

namespace fg::cache {
namespace {

constexpr const char* kNames[] = {"hit (memory)", "hit (local)", "hit (remote)",
                                  "miss",         "guard miss",  "bypass"};
constexpr const char* kLog = "lookups";
constexpr const char* kOldLog = "lookups.old";
constexpr off_t kLargestLog = 256 << 10;
constexpr size_t kLongestLine = 4000;  // a write of that size is not mixed with others
constexpr size_t kLongestValue = 64;

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c >= ' ' && c < 127 && c != '\\' && c != '=') {
      result += c;
    } else {
      result += fmt::format("\\{:02x}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    unsigned char code = 0;
    if (text[i] == '\\' && i + 2 < text.size()) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16);
      i += 2;
      result += static_cast<char>(code);
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string_view next_part(std::string_view& line) {
  size_t tab = std::min(line.find('\t'), line.size());
  std::string_view part = line.substr(0, tab);
  line.remove_prefix(std::min(tab + 1, line.size()));
  return part;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Renames a log that has become large. One process does it: under a lock, and only while the file
// that it wrote to still has the name.
void put_aside(int folder, int file, const struct stat& status) {
  struct stat named;
  if (flock(file, LOCK_EX | LOCK_NB)) return;
  if (fstatat(folder, kLog, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == status.st_ino) {
    if (renameat(folder, kLog, folder, kOldLog) && remove_anything(folder, kOldLog)) {
      renameat(folder, kLog, folder, kOldLog);  // there was a folder
    }
  }
  flock(file, LOCK_UN);
}

}  // namespace

const char* name(Outcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

std::vector<Field> short_fields(const Key& key) {
  std::vector<Field> result;
  for (const Field& field : key.fields) {
    bool is_short = field.value.size() <= kLongestValue;
    result.push_back(
        {field.name, is_short ? field.value : "digest " + hex(digest(field.value)).substr(0, 16)});
  }
  return result;
}

std::string to_line(const Lookup& lookup) {
  std::string line = fmt::format("{}\t{}\t{}\t{}\t{:.1f}\t{}\t{}", lookup.at, lookup.process,
                                 static_cast<int>(lookup.outcome), lookup.key, lookup.microseconds,
                                 lookup.waited ? 1 : 0, escaped(lookup.reason.substr(0, 500)));
  for (const Field& field : lookup.fields) {
    std::string part = "\t" + escaped(field.name) + "=" + escaped(field.value);
    if (line.size() + part.size() > kLongestLine) break;
    line += part;
  }
  return line;
}

bool from_line(std::string_view line, Lookup& lookup) {
  int outcome = 0, waited = 0;
  if (!read_number(next_part(line), lookup.at)) return false;
  if (!read_number(next_part(line), lookup.process)) return false;
  if (!read_number(next_part(line), outcome)) return false;
  if (outcome < 0 || outcome >= static_cast<int>(std::size(kNames))) return false;
  lookup.outcome = static_cast<Outcome>(outcome);
  lookup.key = next_part(line);
  if (lookup.key.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  if (!read_number(next_part(line), lookup.microseconds)) return false;
  if (!read_number(next_part(line), waited)) return false;
  lookup.waited = waited != 0;
  lookup.reason = unescaped(next_part(line));
  while (!line.empty()) {
    std::string_view part = next_part(line);
    size_t equals = part.find('=');
    if (equals == std::string_view::npos) return false;
    lookup.fields.push_back(
        {unescaped(part.substr(0, equals)), unescaped(part.substr(equals + 1))});
  }
  return true;
}

namespace {

// "stored", key, name: no lookup begins like that.
constexpr std::string_view kStored = "stored\t";

void append_line(int folder, std::string line) {
  Descriptor file = open_own_file(folder, kLog, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) return;
  struct stat status;
  line += "\n";
  write_all(file.number(), line);
  if (fstat(file.number(), &status) == 0 && status.st_size > kLargestLog) {
    put_aside(folder, file.number(), status);
  }
}

void read_line(std::string_view line, Log& log) {
  if (line.starts_with(kStored)) {
    line.remove_prefix(kStored.size());
    std::string key(next_part(line));
    log.stored.push_back({std::move(key), std::string(next_part(line)), log.lookups.size()});
    return;
  }
  Lookup lookup;
  if (from_line(line, lookup)) log.lookups.push_back(std::move(lookup));
}

}  // namespace

void append_to_log(int folder, const Lookup& lookup) { append_line(folder, to_line(lookup)); }

void append_stored_to_log(int folder, const std::string& key, const std::string& name) {
  append_line(folder, fmt::format("{}{}\t{}", kStored, key, name));
}

Log read_log(int folder) {
  Log log;
  for (const char* part : {kOldLog, kLog}) {
    Descriptor file = open_own_file(folder, part, O_RDONLY);
    struct stat status;
    if (!file || fstat(file.number(), &status)) continue;
    std::string text(static_cast<size_t>(std::min(status.st_size, 4 * kLargestLog)), '\0');
    if (!read_at(file.number(), text.data(), text.size(), 0)) continue;
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      read_line(std::string_view(text).substr(at, end - at), log);
      at = end + 1;
    }
  }
  return log;
}

}  // namespace fg::cache
