// libFuzzer: any bytes as an entry. Once as they are, once with a true seal, as only an owner of
// the secret key can make it: then the verifier of the format stands alone.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "cache/seal.h"
#include "cache/unusable.h"

using namespace fg::cache;  // NOLINT

namespace {

const fg::SecretKey kSecret = fg::digest("secret");
const fg::Digest kKey = fg::digest("key");

// Everything that a program reads out of an entry.
size_t read_all(const fg::Bytes& content) {
  size_t sum = 0;
  Entry entry = unpack(content);
  for (const Section& section : entry.sections) {
    for (char byte : section.bytes) sum += static_cast<unsigned char>(byte);
  }
  Key key = key_of(content);
  return sum + key.fields.size() + has_key(content, key) + name_of(entry).size();
}

void try_sealed(std::string_view bytes) {
  try {
    read_all(open_sealed(bytes, kKey, kSecret));
  } catch (const Unusable&) {
  }
}

}  // namespace

// The last argument is the folder of the corpus: a good entry is where it begins.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  Entry entry{{{"forward", "code"}, {"plan", ""}}, {"1", "b", "v3", 1, 2}};
  std::ofstream((*arguments)[*count - 1] + std::string("/good"))
      << pack({{{"graph", "f(x)"}, {"level", "v3"}}}, entry);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_sealed(bytes);
  Header header = seal(bytes, kKey, kSecret);
  try_sealed(std::string(bytes_of(header)).append(bytes));
  return 0;
}
