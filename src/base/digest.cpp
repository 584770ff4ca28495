#include "base/digest.h"

#include <sodium.h>

#include <vector>

#include "base/fail.h"
#include "base/pool.h"

namespace fg {
namespace {

using State = crypto_generichash_blake2b_state;

void need_sodium() {
  static const bool ready = sodium_init() >= 0;
  if (!ready) fail(ErrorKind::internal, "libsodium: sodium_init failed");
}

State* state_of(unsigned char* room) { return reinterpret_cast<State*>(room); }

}  // namespace

Hasher::Hasher() {
  static_assert(sizeof(State) <= sizeof(state_) && alignof(State) <= 64);
  need_sodium();
  crypto_generichash_blake2b_init(state_of(state_), nullptr, 0, sizeof(Digest));
}

Hasher::Hasher(const SecretKey& key) {
  need_sodium();
  crypto_generichash_blake2b_init(state_of(state_), key.data(), key.size(), sizeof(Digest));
}

Hasher& Hasher::add(std::string_view bytes) {
  crypto_generichash_blake2b_update(
      state_of(state_), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return *this;
}

Hasher& Hasher::add(uint64_t number) {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xff);
    number >>= 8;
  }
  return add(std::string_view(bytes, sizeof(bytes)));
}

Hasher& Hasher::add_field(std::string_view name, std::string_view value) {
  return add(name.size()).add(name).add(value.size()).add(value);
}

Digest Hasher::finish() {
  Digest result;
  crypto_generichash_blake2b_final(state_of(state_), result.data(), result.size());
  return result;
}

Digest digest(std::string_view bytes) { return Hasher().add(bytes).finish(); }

Digest digest_in_pieces(std::string_view bytes) {
  constexpr size_t kPiece = 64 << 10;
  std::vector<Digest> pieces((bytes.size() + kPiece - 1) / kPiece);
  pool::parallel_for(static_cast<int64_t>(pieces.size()), 2, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); i++) {
      pieces[i] = digest(bytes.substr(i * kPiece, kPiece));
    }
  });
  Hasher hasher;
  hasher.add("foregrad pieces 1").add(uint64_t{bytes.size()});
  for (const Digest& piece : pieces) hasher.add(raw_bytes(piece));
  return hasher.finish();
}

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string_view raw_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool is_same(const Digest& a, const Digest& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

SecretKey random_key() {
  need_sodium();
  SecretKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

}  // namespace fg
