#include "nn/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/atomic_file.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/pool.h"
#include "nn/safetensors_header.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"

namespace fg {

namespace {

using nn::kLengthBytes;
using nn::SafeTensorsHeader;
using StoredTensor = SafeTensorsFile::StoredTensor;

// Places tensors in the file: by dtype, then by name, as the reference writer does it.
SafeTensorsHeader placed(const OrderedDict<Tensor>& tensors, const Metadata& metadata) {
  std::vector<std::pair<std::string, Tensor>> order;
  for (const auto& item : tensors) {
    if (!item.value().defined()) {
      fail(ErrorKind::value, "save_safetensors: '{}' is no tensor", item.key());
    }
    if (item.key() == "__metadata__") {
      fail(ErrorKind::value, "save_safetensors: a tensor cannot be called '__metadata__'");
    }
    order.emplace_back(item.key(), item.value());
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    int place_a = nn::order_of(a.second.dtype()), place_b = nn::order_of(b.second.dtype());
    return place_a != place_b ? place_a > place_b : a.first < b.first;
  });
  SafeTensorsHeader header{{}, metadata};
  size_t start = 0;
  for (const auto& [name, tensor] : order) {
    size_t bytes = static_cast<size_t>(tensor.numel()) * item_size(tensor.dtype());
    header.entries.insert(name, {tensor.dtype(), tensor.sizes(), start, bytes});
    start += bytes;
  }
  return header;
}

// Calls write(data, size) for the header and for each tensor.
template <class F>
void write_parts(const OrderedDict<Tensor>& tensors, const Metadata& metadata, const F& write) {
  SafeTensorsHeader header = placed(tensors, metadata);
  std::string text = nn::header_text(header);
  write(text.data(), text.size());
  for (const auto& item : header.entries) {
    Tensor tensor = tensors[item.key()].detach().contiguous();
    write(tensor.data_ptr(), item.value().bytes);
  }
}

void read_exactly(int descriptor, void* to, size_t size, size_t from, const std::string& path) {
  char* next = static_cast<char*>(to);
  while (size > 0) {
    ssize_t count = pread(descriptor, next, size, static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      int error = errno;
      fail("safetensors: '{}' cannot be read: {}", path, std::strerror(error));
    }
    if (count == 0) fail(ErrorKind::value, "safetensors: '{}' ends early; it has changed", path);
    next += count;
    from += static_cast<size_t>(count);
    size -= static_cast<size_t>(count);
  }
}

// Makes every byte of a bool tensor 0 or 1, the only values that a bool has.
void normalise(const Tensor& tensor) {
  if (tensor.dtype() != kBool) return;
  auto* byte = static_cast<unsigned char*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); i++) byte[i] = byte[i] != 0;
}

}  // namespace

void save_safetensors(const OrderedDict<Tensor>& tensors, const std::string& path,
                      const Metadata& metadata) {
  AtomicFile file(path);
  write_parts(tensors, metadata, [&](const void* data, size_t size) { file.write(data, size); });
  file.commit();
}

std::string save_safetensors_bytes(const OrderedDict<Tensor>& tensors, const Metadata& metadata) {
  std::string result;
  write_parts(tensors, metadata, [&](const void* data, size_t size) {
    result.append(static_cast<const char*>(data), size);
  });
  return result;
}

SafeTensors load_safetensors_bytes(std::string_view bytes) {
  const std::string where = "the bytes";
  size_t length = nn::header_length(bytes, bytes.size(), where);
  std::string_view data = bytes.substr(kLengthBytes + length);
  SafeTensorsHeader header =
      nn::parse_header(bytes.substr(kLengthBytes, length), data.size(), where);
  SafeTensors result{{}, std::move(header.metadata)};
  for (const auto& item : header.entries) {
    const StoredTensor& entry = item.value();
    Tensor tensor = empty(entry.sizes, entry.dtype);
    if (entry.bytes > 0) std::memcpy(tensor.data_ptr(), data.data() + entry.start, entry.bytes);
    normalise(tensor);
    result.tensors.insert(item.key(), tensor);
  }
  return result;
}

SafeTensors load_safetensors(const std::string& path) {
  SafeTensorsFile file(path);
  return {file.read_all(), file.metadata()};
}

SafeTensorsFile::SafeTensorsFile(const std::string& path) : path_(path) {
  Descriptor file = open_plain(AT_FDCWD, path, O_RDONLY);
  if (!file && errno == kNotPlain) {
    fail(ErrorKind::value, "safetensors: '{}' is no regular file", path);
  }
  struct stat about{};
  if (!file || fstat(file.number(), &about) != 0) {
    int error = errno;
    fail("safetensors: '{}' cannot be opened: {}", path, std::strerror(error));
  }
  auto size = static_cast<size_t>(about.st_size);
  std::string first(std::min(size, kLengthBytes), '\0');
  read_exactly(file.number(), first.data(), first.size(), 0, path);
  std::string where = "'" + path + "'";
  size_t length = nn::header_length(first, size, where);
  std::string json(length, '\0');
  read_exactly(file.number(), json.data(), length, kLengthBytes, path);
  data_ = kLengthBytes + length;
  SafeTensorsHeader header = nn::parse_header(json, size - data_, where);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  descriptor_ = file.release();
}

SafeTensorsFile::~SafeTensorsFile() { close(descriptor_); }

Tensor SafeTensorsFile::read(std::string_view name) const {
  const StoredTensor* entry = entries_.find(name);
  if (!entry) {
    fail(ErrorKind::index, "safetensors: there is no tensor '{}' in '{}'", name, path_);
  }
  Tensor tensor = empty(entry->sizes, entry->dtype);
  read_into(*entry, tensor);
  return tensor;
}

void SafeTensorsFile::read_into(const StoredTensor& entry, const Tensor& tensor) const {
  read_exactly(descriptor_, tensor.data_ptr(), entry.bytes, data_ + entry.start, path_);
  normalise(tensor);
}

OrderedDict<Tensor> SafeTensorsFile::read_all() const {
  constexpr size_t kWorthThreads = size_t{4} << 20;
  OrderedDict<Tensor> result;
  std::vector<std::pair<const StoredTensor*, Tensor>> parts;
  size_t bytes = 0;
  for (const auto& item : entries_) {
    Tensor tensor = empty(item.value().sizes, item.value().dtype);
    result.insert(item.key(), tensor);
    parts.emplace_back(&item.value(), std::move(tensor));
    bytes += item.value().bytes;
  }
  auto count = static_cast<int64_t>(parts.size());
  pool::parallel_for(count, bytes < kWorthThreads ? count : 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const auto& [entry, tensor] = parts[static_cast<size_t>(i)];
      read_into(*entry, tensor);
    }
  });
  return result;
}

}  // namespace fg
