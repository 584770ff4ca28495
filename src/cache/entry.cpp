#include "cache/entry.h"

#include <ctime>

#include "base/build_id.h"
#include "base/version.h"
#include "cache/entry_generated.h"
#include "cache/unusable.h"

namespace fg::cache {
namespace {

std::string_view text(const flatbuffers::String* string) {
  return {string->c_str(), string->size()};
}

const format::Entry* root(const Bytes& content) { return format::GetEntry(content.view().data()); }

using Builder = flatbuffers::FlatBufferBuilder;

// Sections may hold numbers that are read where they are; as the schema says.
constexpr size_t kSectionAlignment = 16;

auto packed_fields(Builder& builder, const Key& key) {
  std::vector<flatbuffers::Offset<format::Field>> fields;
  for (const Field& field : key.fields) {
    auto name = builder.CreateString(field.name);
    fields.push_back(format::CreateField(builder, name, builder.CreateString(field.value)));
  }
  return builder.CreateVector(fields);
}

auto packed_sections(Builder& builder, const Entry& entry) {
  std::vector<flatbuffers::Offset<format::Section>> sections;
  for (const Section& section : entry.sections) {
    auto name = builder.CreateString(section.name);
    builder.ForceVectorAlignment(section.bytes.size(), 1, kSectionAlignment);
    auto bytes = builder.CreateVector(reinterpret_cast<const uint8_t*>(section.bytes.data()),
                                      section.bytes.size());
    sections.push_back(format::CreateSection(builder, name, bytes));
  }
  return builder.CreateVector(sections);
}

auto packed_provenance(Builder& builder, const Provenance& made) {
  auto version = builder.CreateString(made.version);
  auto build_id = builder.CreateString(made.build_id);
  auto level = builder.CreateString(made.level);
  return format::CreateProvenance(builder, version, build_id, level, made.compile_milliseconds,
                                  made.made_at);
}

// Bytes to reserve in the builder, whose offsets have only 31 bits.
size_t room_for(const Key& key, const Entry& entry) {
  size_t bytes = 4096;
  for (const Field& field : key.fields) bytes += field.name.size() + field.value.size() + 64;
  for (const Section& section : entry.sections) {
    bytes += section.name.size() + section.bytes.size() + 64;
  }
  if (bytes > kLargestContent) {
    refuse("too large", "the entry has {} bytes; at most {} are kept", bytes, kLargestContent);
  }
  return bytes;
}

}  // namespace

Provenance made_here(const char* level, double compile_milliseconds) {
  return {version(), build_id(), level, compile_milliseconds, std::time(nullptr)};
}

std::string_view Entry::section(std::string_view name) const {
  for (const Section& section : sections) {
    if (section.name == name) return section.bytes;
  }
  return {};
}

std::string pack(const Key& key, const Entry& entry) {
  Builder builder(room_for(key, entry));
  auto sections = packed_sections(builder, entry);
  auto fields = packed_fields(builder, key);
  auto made = packed_provenance(builder, entry.made);
  format::FinishEntryBuffer(builder, format::CreateEntry(builder, fields, sections, made));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Entry unpack(const Bytes& content) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(content.view().data()),
                                 content.size());
  if (content.size() > kLargestContent || !format::VerifyEntryBuffer(verifier)) {
    refuse("malformed", "an entry is not in the format that this version writes");
  }
  const format::Entry* from = root(content);
  const format::Provenance* made = from->made();
  Entry entry{{},
              {made->version()->str(), made->build_id()->str(), made->level()->str(),
               made->compile_milliseconds(), made->made_at()},
              content.owner()};
  for (const format::Section* section : *from->sections()) {
    const auto* bytes = section->bytes();
    entry.sections.push_back(
        {section->name()->str(), {reinterpret_cast<const char*>(bytes->data()), bytes->size()}});
  }
  return entry;
}

Key key_of(const Bytes& content) {
  Key key;
  for (const format::Field* field : *root(content)->key()) {
    key.fields.push_back({field->name()->str(), field->value()->str()});
  }
  return key;
}

bool has_key(const Bytes& content, const Key& key) {
  const auto* fields = root(content)->key();
  if (fields->size() != key.fields.size()) return false;
  for (flatbuffers::uoffset_t i = 0; i < fields->size(); i++) {
    const format::Field* field = fields->Get(i);
    const Field& wanted = key.fields[i];
    if (text(field->name()) != wanted.name || text(field->value()) != wanted.value) return false;
  }
  return true;
}

std::string name_of(const Entry& entry) {
  Hasher hasher;
  hasher.add("foregrad sections 1").add(entry.sections.size());
  for (const Section& section : entry.sections) hasher.add_field(section.name, section.bytes);
  return hex(hasher.finish()).substr(0, 32);
}

}  // namespace fg::cache
