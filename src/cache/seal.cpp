#include "cache/seal.h"

#include <cstring>

#include "cache/unusable.h"

namespace fg::cache {
namespace {

constexpr std::string_view kMagic = "FGCACHE\n";
constexpr size_t kFormatAt = 8, kSizeAt = 16, kZeroAt = 24, kDigestAt = 32, kCodeAt = 64;

void put(Header& header, size_t at, uint64_t number) {
  for (size_t i = 0; i < 8; i++) header[at + i] = static_cast<char>(number >> (8 * i) & 0xff);
}

uint64_t number_at(std::string_view header, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; i++) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(header[at + i])) << (8 * i);
  }
  return number;
}

Digest digest_at(std::string_view header, size_t at) {
  Digest digest;
  std::memcpy(digest.data(), header.data() + at, digest.size());
  return digest;
}

// The content is covered through its digest.
Digest code_of(std::string_view header, const Digest& key_digest, const SecretKey& secret) {
  return Hasher(secret).add(header.substr(0, kCodeAt)).add(raw_bytes(key_digest)).finish();
}

}  // namespace

Header seal(std::string_view content, const Digest& key_digest, const SecretKey& secret) {
  Header header{};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  put(header, kFormatAt, kFormat);
  put(header, kSizeAt, content.size());
  Digest content_digest = digest_in_pieces(content);
  std::memcpy(header.data() + kDigestAt, content_digest.data(), content_digest.size());
  Digest code = code_of(bytes_of(header), key_digest, secret);
  std::memcpy(header.data() + kCodeAt, code.data(), code.size());
  return header;
}

Announced check_header(std::string_view header, const Digest& key_digest, const SecretKey& secret) {
  if (header.size() < kHeaderSize || !header.starts_with(kMagic)) {
    refuse("damaged", "an entry does not begin as one");
  }
  header = header.substr(0, kHeaderSize);
  if (uint64_t format = number_at(header, kFormatAt); format != kFormat) {
    refuse("another format", "an entry has format {}; this version reads {}", format, kFormat);
  }
  if (!is_same(digest_at(header, kCodeAt), code_of(header, key_digest, secret))) {
    refuse("not authentic",
           "an entry was not written with the secret key in use, or not for the "
           "key under which it was found");
  }
  uint64_t size = number_at(header, kSizeAt);
  if (size > kLargestContent || number_at(header, kZeroAt) != 0) {
    refuse("malformed", "an entry announces {} bytes; expected at most {}", size, kLargestContent);
  }
  return {static_cast<size_t>(size), digest_at(header, kDigestAt)};
}

void check_content(std::string_view content, const Announced& announced) {
  if (content.size() != announced.size || !is_same(digest_in_pieces(content), announced.digest)) {
    refuse("damaged", "the content of an entry is not what was written");
  }
}

Bytes open_sealed(std::string_view sealed, const Digest& key_digest, const SecretKey& secret) {
  Announced announced = check_header(sealed, key_digest, secret);
  Bytes content(sealed.substr(kHeaderSize));
  check_content(content.view(), announced);
  unpack(content);
  return content;
}

}  // namespace fg::cache
