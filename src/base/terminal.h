// Texts for people: names and messages from files and servers must not steer a terminal.
#pragma once

#include <string>
#include <string_view>

namespace fg {

// The text with \xNN for control characters but line feeds and tabs, and for bytes that are no
// UTF-8.
std::string terminal_text(std::string_view text);

}  // namespace fg
