// The header of a safetensors file: read from JSON with every claim checked, and written.
#pragma once

#include "nn/safetensors.h"

namespace fg::nn {

struct SafeTensorsHeader {
  OrderedDict<SafeTensorsFile::Entry> entries;  // in the order of their bytes
  Metadata metadata;
};

// The file has eight bytes of length, then the header.
inline constexpr size_t kLengthBytes = 8;
// `where`: the file, for messages. The length is at most what fits into a file of `file_size`.
size_t header_length(std::string_view first_bytes, size_t file_size, const std::string& where);
SafeTensorsHeader parse_header(std::string_view json, size_t data_size, const std::string& where);
// Tensors of a greater number are written first, so that all of them are aligned.
int order_of(DType dtype);
// With the length before and spaces behind, so that data begins at a multiple of eight.
std::string header_text(const SafeTensorsHeader& header);

}  // namespace fg::nn
