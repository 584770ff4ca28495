#include "compile/stored_text.h"

#include <zstd.h>

#include "base/fail.h"

namespace fg::compiler {

constexpr size_t kMostBytes = size_t{1} << 30;

std::string pack_text(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  size_t bytes = ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(bytes)) fail(ErrorKind::internal, "zstd: {}", ZSTD_getErrorName(bytes));
  packed.resize(bytes);
  return packed;
}

std::string unpack_text(std::string_view packed) {
  unsigned long long bytes = ZSTD_getFrameContentSize(packed.data(), packed.size());
  bool known = bytes != ZSTD_CONTENTSIZE_ERROR && bytes != ZSTD_CONTENTSIZE_UNKNOWN;
  if (!known || bytes > kMostBytes) fail(ErrorKind::value, "a stored text is not whole");
  std::string text(bytes, '\0');
  size_t done = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  if (ZSTD_isError(done) || done != bytes) fail(ErrorKind::value, "a stored text is not whole");
  return text;
}

}  // namespace fg::compiler
