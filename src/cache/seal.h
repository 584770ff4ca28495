// The seal: the header in front of a content, in files and in the remote store, with format, size,
// digest and authentication code. The code covers the digest of the key as well: an entry that was
// moved under another key is refused.
//
//   0 magic "FGCACHE\n"    8 format    16 size of the content    24 zero    32 digest    64 code
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/digest.h"
#include "base/file.h"
#include "cache/entry.h"

namespace fg::cache {

inline constexpr uint64_t kFormat = 1;
inline constexpr size_t kHeaderSize = 96;
using Header = std::array<char, kHeaderSize>;

Header seal(std::string_view content, const Digest& key_digest, const SecretKey& secret);
inline std::string_view bytes_of(const Header& header) { return {header.data(), header.size()}; }

// Size and digest of the content, as its authentic header announces them. The header is checked
// before any of the content is read.
struct Announced {
  size_t size;
  Digest digest;
};
Announced check_header(std::string_view header, const Digest& key_digest, const SecretKey& secret);
void check_content(std::string_view content, const Announced& announced);

// Checks a sealed entry in memory and returns its content, copied so that it is aligned.
Bytes open_sealed(std::string_view sealed, const Digest& key_digest, const SecretKey& secret);

}  // namespace fg::cache
