#include "nn/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/fail.h"

namespace fg::nn {

using Json = nlohmann::json;  // the ordered one finds a key by looking at all
using StoredTensor = SafeTensorsFile::StoredTensor;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

constexpr size_t kMaxHeader = 100'000'000;  // as the reference reader
// In the order of the reference writer: larger elements are written first.
constexpr DType kOrder[] = {kBool,     kUInt8, kInt8,    kInt16,   kFloat16,
                            kBFloat16, kInt32, kFloat32, kFloat64, kInt64};
static_assert(std::size(kOrder) == kDTypeCount);

template <class... Args>
[[noreturn]] void refuse(const std::string& where, fmt::format_string<Args...> text,
                         Args&&... args) {
  fail(ErrorKind::value, "safetensors: {}: {}", where,
       fmt::format(text, std::forward<Args>(args)...));
}

// Keys as they come: the names in their order, and those that are there twice. A library that keeps
// the last of two equal keys would show another file than the next one does.
class Keys {
 public:
  void begin() { levels_.emplace_back(); }
  void end() { levels_.pop_back(); }
  void add(const std::string& key) {
    if (!levels_.back().insert(key).second) twice_.push_back(key);
    if (levels_.size() == 1) names_.push_back(key);
  }
  void refuse_twice(const std::string& where) const {
    if (!twice_.empty()) refuse(where, "the key '{}' is in the header twice", twice_[0]);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::unordered_set<std::string>> levels_;
  std::vector<std::string> names_, twice_;
};

// The parser of the library that tells of keys; its own callbacks look at all of an object whenever
// something in it ends.
class Reader : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Parser = nlohmann::detail::json_sax_dom_parser<Json>;
  Reader(Json& result, Keys& keys) : Parser(result), keys_(keys) {}
  bool start_object(size_t count) {
    keys_.begin();
    return Parser::start_object(count);
  }
  bool key(std::string& name) {
    keys_.add(name);
    return Parser::key(name);
  }
  bool end_object() {
    keys_.end();
    return Parser::end_object();
  }

 private:
  Keys& keys_;
};

// Arrays and objects one in the other, beyond what the format has, could exhaust the stack.
void check_depth(std::string_view json, const std::string& where) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); i++) {
    char c = json[i];
    if (in_text) {
      if (c == '\\') i++;  // the character behind it ends no text
      in_text = c != '"';
      continue;
    }
    in_text = c == '"';
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') depth--;
    if (depth > 8) refuse(where, "the header is nested deeper than the format allows");
  }
}

Json parsed_json(std::string_view json, Keys& keys, const std::string& where) {
  check_depth(json, where);
  Json parsed;
  try {
    Reader reader(parsed, keys);
    Json::sax_parse(json.begin(), json.end(), &reader);
  } catch (const nlohmann::json::parse_error& error) {  // its text may have bytes of the file
    refuse(where, "the header is not valid JSON: it goes wrong at byte {}", error.byte);
  } catch (const nlohmann::json::exception&) {
    refuse(where, "the header is not valid JSON: a number is out of range");
  }
  keys.refuse_twice(where);
  if (!parsed.is_object()) refuse(where, "the header is not a JSON object");
  return parsed;
}

uint64_t count_of(const Json& value, const std::string& where, const std::string& name,
                  const char* what) {
  if (!value.is_number_unsigned()) {
    refuse(where, "'{}' has a {} with {}; expected a number that is not negative", name, what,
           value.dump(-1, ' ', true, Json::error_handler_t::replace));
  }
  return value.get<uint64_t>();
}

const Json& member(const Json& tensor, const std::string& where, const std::string& name,
                   const char* key) {
  auto found = tensor.find(key);
  if (found == tensor.end()) refuse(where, "'{}' has no '{}'", name, key);
  return *found;
}

DType dtype_of(const Json& value, const std::string& where, const std::string& name) {
  if (value.is_string()) {
    for (DType dtype : kOrder) {
      if (value.get<std::string>() == safetensors_name(dtype)) return dtype;
    }
  }
  refuse(where,
         "'{}' has the dtype {}; expected BOOL, U8, I8, I16, I32, I64, F16, BF16, F32 or F64", name,
         value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

// The product of the sizes in bytes; sizes that no file can have are refused.
size_t read_shape(const Json& shape, const std::string& where, const std::string& name,
                  StoredTensor& entry) {
  if (!shape.is_array()) refuse(where, "'{}' has a shape that is no list", name);
  size_t bytes = item_size(entry.dtype);
  for (const Json& each : shape) {
    uint64_t size = count_of(each, where, name, "shape");
    if (__builtin_mul_overflow(bytes, size, &bytes) ||
        size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      refuse(where, "'{}' has a shape of more elements than there can be: {}", name, shape.dump());
    }
    entry.sizes.push_back(static_cast<int64_t>(size));
  }
  return bytes;
}

StoredTensor entry_of(const Json& tensor, size_t data_size, const std::string& where,
                      const std::string& name) {
  if (!tensor.is_object()) refuse(where, "'{}' is described by something that is no object", name);
  StoredTensor entry{};
  entry.dtype = dtype_of(member(tensor, where, name, "dtype"), where, name);
  entry.bytes = read_shape(member(tensor, where, name, "shape"), where, name, entry);
  const Json& offsets = member(tensor, where, name, "data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) {
    refuse(where, "'{}' has data_offsets that are no pair", name);
  }
  uint64_t start = count_of(offsets[0], where, name, "data_offsets");
  uint64_t end = count_of(offsets[1], where, name, "data_offsets");
  if (start > end || end > data_size) {
    refuse(where, "'{}' is at bytes {} to {}, but there are {} bytes of data", name, start, end,
           data_size);
  }
  if (end - start != entry.bytes) {
    refuse(where, "'{}' has {} bytes in the file, but its shape and dtype need {}", name,
           end - start, entry.bytes);
  }
  if (tensor.size() != 3) {
    refuse(where, "'{}' has more than dtype, shape and data_offsets", name);
  }
  entry.start = start;
  return entry;
}

Metadata metadata_of(const Json& given, const std::string& where) {
  if (!given.is_object()) refuse(where, "__metadata__ is no object");
  Metadata result;
  for (const auto& [key, value] : given.items()) {
    if (!value.is_string()) refuse(where, "__metadata__ has '{}', which is no text", key);
    result[key] = value.get<std::string>();
  }
  return result;
}

// Every byte belongs to one tensor.
void check_cover(const std::vector<std::pair<std::string, StoredTensor>>& entries, size_t data_size,
                 const std::string& where) {
  size_t reached = 0;
  for (const auto& [name, entry] : entries) {
    if (entry.start < reached) refuse(where, "'{}' overlaps the tensor before it", name);
    if (entry.start > reached) {
      refuse(where, "there is a gap of {} bytes before '{}'", entry.start - reached, name);
    }
    reached += entry.bytes;
  }
  if (reached != data_size) {
    refuse(where, "there are {} bytes of data, but the tensors have {}", data_size, reached);
  }
}

}  // namespace

int order_of(DType dtype) {
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), dtype) - kOrder);
}

size_t header_length(std::string_view first_bytes, size_t file_size, const std::string& where) {
  if (file_size < kLengthBytes || first_bytes.size() < kLengthBytes) {
    refuse(where, "{} bytes are too few: the length of the header takes eight", file_size);
  }
  uint64_t length = 0;
  std::memcpy(&length, first_bytes.data(), kLengthBytes);
  if (length > kMaxHeader) {
    refuse(where, "the header claims {} bytes; at most {} are read", length, kMaxHeader);
  }
  if (length > file_size - kLengthBytes) {
    refuse(where, "the header claims {} bytes, but only {} follow", length,
           file_size - kLengthBytes);
  }
  return length;
}

SafeTensorsHeader parse_header(std::string_view json, size_t data_size, const std::string& where) {
  Keys keys;
  Json parsed = parsed_json(json, keys, where);
  SafeTensorsHeader header;
  std::vector<std::pair<std::string, StoredTensor>> entries;
  for (const std::string& name : keys.names()) {
    const Json& value = parsed[name];
    if (name == "__metadata__")
      header.metadata = metadata_of(value, where);
    else
      entries.emplace_back(name, entry_of(value, data_size, where, name));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.start, a.second.bytes) < std::pair(b.second.start, b.second.bytes);
  });
  check_cover(entries, data_size, where);
  for (auto& [name, entry] : entries) header.entries.insert(name, std::move(entry));
  return header;
}

// Name by name: a document of all of them would be searched for each.
static std::string json_of(const SafeTensorsHeader& header) {
  std::string text = "{";
  auto add = [&](const std::string& name, const std::string& value) {
    text += (text.size() > 1 ? "," : "") + Json(name).dump() + ":" + value;
  };
  if (!header.metadata.empty()) add("__metadata__", Json(header.metadata).dump());
  for (const auto& item : header.entries) {
    const StoredTensor& entry = item.value();
    std::vector<int64_t> shape;
    for (const Dim& size : entry.sizes) shape.push_back(size.value());
    add(item.key(), fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                safetensors_name(entry.dtype), fmt::join(shape, ","), entry.start,
                                entry.start + entry.bytes));
  }
  return text + "}";
}

std::string header_text(const SafeTensorsHeader& header) {
  std::string text;
  try {
    text = json_of(header);
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::value, "safetensors: a name or a text of the metadata is no valid UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  std::string result(kLengthBytes, '\0');
  std::memcpy(result.data(), &length, kLengthBytes);
  return result + text;
}

}  // namespace fg::nn
