// Digests and authentication codes: BLAKE2b of 32 bytes, by libsodium. A digest names content and
// finds damage; an authentication code, made with a secret key, proves its writer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fg {

using Digest = std::array<uint8_t, 32>;
using SecretKey = std::array<uint8_t, 32>;

class Hasher {
 public:
  Hasher();                               // a digest
  explicit Hasher(const SecretKey& key);  // an authentication code
  Hasher& add(std::string_view bytes);
  Hasher& add(uint64_t number);  // as eight bytes, lowest first, on every machine
  // Both with their lengths: ("ab", "c") and ("a", "bc") differ.
  Hasher& add_field(std::string_view name, std::string_view value);
  Digest finish();

 private:
  alignas(64) unsigned char state_[384];
};

Digest digest(std::string_view bytes);
// The digest of many bytes by all threads of the pool: the digest of the digests of its pieces.
Digest digest_in_pieces(std::string_view bytes);
std::string hex(const Digest& digest);
std::string_view raw_bytes(const Digest& digest);
// Compares in constant time, as authentication codes must be.
bool is_same(const Digest& a, const Digest& b);
SecretKey random_key();

}  // namespace fg
