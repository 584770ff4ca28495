// Texts of an entry that only people read: graphs, the partition, guards. They are compressed, so
// that a hit, which checks every byte of an entry, has few of them to check.
#pragma once

#include <string>
#include <string_view>

namespace fg::compiler {

std::string pack_text(std::string_view text);
// An Error if it is not whole.
std::string unpack_text(std::string_view packed);

}  // namespace fg::compiler
