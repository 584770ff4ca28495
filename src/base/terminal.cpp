#include "base/terminal.h"

#include <fmt/format.h>

#include <cstdint>

namespace fg {
namespace {

// Bytes of the character that begins the text; 0 when none does.
size_t character_size(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  uint32_t first = byte(0);
  size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first > 0xf4 || size > text.size()) return 0;
  for (size_t i = 1; i < size; i++) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (size < 3) return size;
  bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool beyond = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : size;
}

bool is_control(std::string_view character) {
  auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 2)
    return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 1 && (first < ' ' || first == 127) && first != '\n' && first != '\t';
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t size = character_size(text);
    std::string_view character = text.substr(0, size ? size : 1);
    if (size == 0 || is_control(character)) {
      for (char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace fg
