#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fg {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

bool holds(const dl_phdr_info& info, uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; i++) {
    const auto& part = info.dlpi_phdr[i];
    uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

std::string hex_of(const char* bytes, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; i++) {
    auto byte = static_cast<unsigned char>(bytes[i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

// The notes of a part are records of a header, a name and a description, both padded to 4 bytes.
std::string id_in_notes(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    size_t name = sizeof(note), description = name + (note.n_namesz + 3) / 4 * 4;
    size_t end = description + (note.n_descsz + 3) / 4 * 4;
    if (end > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      return hex_of(notes + description, note.n_descsz);
    }
    notes += end;
    size -= end;
  }
  return "";
}

int visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!holds(*info, search.address)) return 0;
  for (int i = 0; i < info->dlpi_phnum && search.id.empty(); i++) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    search.id =
        id_in_notes(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

// From the first to the last byte of the library that holds an address.
struct Extent {
  uintptr_t inside, begin = 0, end = 0;
};

int measure(dl_phdr_info* info, size_t, void* data) {
  auto& extent = *static_cast<Extent*>(data);
  if (!holds(*info, extent.inside)) return 0;
  extent.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    extent.begin = std::min<uintptr_t>(extent.begin, info->dlpi_addr + part.p_vaddr);
    extent.end = std::max<uintptr_t>(extent.end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id_of(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(visit, &search);
  return search.id;
}

const std::string& build_id() {
  static const auto& id = *new std::string(build_id_of(reinterpret_cast<const void*>(&visit)));
  return id;
}

bool is_in_this_library(const void* address) {
  static const Extent extent = [] {
    Extent found{reinterpret_cast<uintptr_t>(&visit)};
    dl_iterate_phdr(measure, &found);
    return found;
  }();
  auto number = reinterpret_cast<uintptr_t>(address);
  return number >= extent.begin && number < extent.end;
}

}  // namespace fg
