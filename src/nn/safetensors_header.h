// The header of a safetensors file: read from JSON with every claim checked, and written.
#pragma once

#include "nn/safetensors.h"

namespace fg::nn {

struct SafeTensorsHeader {
  OrderedDict<SafeTensorsFile::StoredTensor> entries;  // in the order of their bytes
  Metadata metadata;
};

// The file has eight bytes of length, then the header.
inline constexpr size_t kLengthBytes = 8;
// Reads the length of the header, which must fit into the file; `where` names the file in messages.
size_t header_length(std::string_view first_bytes, size_t file_size, const std::string& where);
SafeTensorsHeader parse_header(std::string_view json, size_t data_size, const std::string& where);
// The rank of a dtype in the file: tensors of a greater one come first, so that all are aligned.
int order_of(DType dtype);
// The header with its length in front and spaces behind: data begins at a multiple of eight.
std::string header_text(const SafeTensorsHeader& header);

}  // namespace fg::nn
