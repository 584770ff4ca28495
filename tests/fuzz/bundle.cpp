// libFuzzer: any bytes as a bundle, and as what an authentic bundle holds; and as lines of the log
// of lookups.
#include "cache/bundle.h"

#include <cstddef>
#include <cstdint>
#include <fstream>

#include "cache/entry.h"
#include "cache/lookup.h"
#include "cache/unusable.h"

using namespace fg::cache;  // NOLINT

namespace {

const fg::SecretKey kShared = fg::digest("shared");

void try_bundle(std::string_view bytes) {
  try {
    for (const BundledEntry& entry : read_bundle(bytes, kShared)) {
      if (entry.name.size() != 32) __builtin_trap();
    }
  } catch (const Unusable&) {
  }
}

}  // namespace

// The last argument is the folder of the corpus: good entries are where it begins.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  std::string content = pack({{{"graph", "f(x)"}}}, {{{"forward", "code"}}, {}}), plain;
  for (int i = 0; i < 2; i++) {
    plain += static_cast<char>(content.size());
    plain += static_cast<char>(content.size() >> 8);
    plain += std::string(6, '\0') + content;
  }
  read_bundle(seal_bundle(plain, kShared), kShared);  // good indeed
  std::ofstream((*arguments)[*count - 1] + std::string("/good")) << plain;
  std::ofstream((*arguments)[*count - 1] + std::string("/line")) << "1\t2\t3\tab\t1.0\t0\tx\ta=b";
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_bundle(bytes);
  try_bundle(seal_bundle(bytes, kShared));
  Lookup lookup;
  if (from_line(bytes, lookup)) {
    Lookup again;
    if (!from_line(to_line(lookup), again)) __builtin_trap();
  }
  return 0;
}
