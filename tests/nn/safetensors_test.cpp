// Files of tensors: what is written is read, and what is wrong is said.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/error_of.h"
#include "tests/folder.h"

namespace fg {
namespace {

namespace files = std::filesystem;

OrderedDict<Tensor> all_dtypes() {
  OrderedDict<Tensor> tensors;
  int i = 0;
  for (DType dtype :
       {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64, kBool, kBFloat16}) {
    Tensor values = (arange(6) - (dtype == kUInt8 ? 0 : 3)).reshape({2, 3}).to(dtype);
    tensors.insert(std::string("t") + std::to_string(i++), values);
  }
  tensors.insert("nothing", empty({0, 3}));
  tensors.insert("number", full({}, 2.5));
  tensors.insert("turned", arange(6).reshape({2, 3}).t());
  tensors.insert("\"quoted\" ä/b", ones({1}).requires_grad_());
  return tensors;
}

void expect_equal(const OrderedDict<Tensor>& a, const OrderedDict<Tensor>& b) {
  EXPECT_EQ(a.size(), b.size());
  for (const auto& item : a) {
    const Tensor& other = b[item.key()];
    EXPECT_EQ(item.value().dtype(), other.dtype()) << item.key();
    EXPECT_EQ(item.value().sizes(), other.sizes()) << item.key();
    EXPECT_TRUE(equal(item.value(), other)) << item.key();
  }
}

TEST(SafeTensors, AllDtypesComeBack) {
  Folder folder;
  Metadata metadata{{"step", "100"}, {"ü", "a\nb"}};
  save_safetensors(all_dtypes(), folder / "all", metadata);
  EXPECT_EQ(folder.files(), 1u);
  SafeTensors loaded = load_safetensors(folder / "all");
  expect_equal(all_dtypes(), loaded.tensors);
  EXPECT_EQ(loaded.metadata, metadata);
  EXPECT_FALSE(loaded.tensors["\"quoted\" ä/b"].requires_grad());
  SafeTensorsFile file(folder / "all");
  EXPECT_TRUE(equal(file.read("number"), full({}, 2.5)));
  EXPECT_HAS(error_of([&] { file.read("none"); }), "there is no tensor 'none' in '");
  std::string bytes = save_safetensors_bytes(all_dtypes(), metadata);
  expect_equal(all_dtypes(), load_safetensors_bytes(bytes).tensors);
  EXPECT_EQ(save_safetensors_bytes({}), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
}

TEST(SafeTensors, DataIsAligned) {
  std::string bytes = save_safetensors_bytes(all_dtypes());
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  Folder folder;
  std::ofstream(folder / "all", std::ios::binary) << bytes;
  size_t last = 8;
  SafeTensorsFile file(folder / "all");
  for (const auto& item : file.entries()) {
    EXPECT_EQ(item.value().start % item_size(item.value().dtype), 0u) << item.key();
    EXPECT_LE(item_size(item.value().dtype), last);
    last = item_size(item.value().dtype);
  }
}

TEST(SafeTensors, AFileIsThereInFullOrAsItWas) {
  Folder folder;
  OrderedDict<Tensor> before, bad;
  before.insert("x", ones({3}));
  save_safetensors(before, folder / "model");
  bad.insert("x", zeros({3}));
  bad.insert("y", Tensor());
  EXPECT_HAS(error_of([&] { save_safetensors(bad, folder / "model"); }), "'y' is no tensor");
  EXPECT_TRUE(equal(load_safetensors(folder / "model").tensors["x"], ones({3})));
  EXPECT_EQ(folder.files(), 1u) << "nothing else is left behind";
  EXPECT_HAS(error_of([&] { save_safetensors(before, folder / "no/model"); }),
             "cannot be opened for writing: No such file or directory");
  EXPECT_HAS(error_of([&] { load_safetensors(folder / "none"); }),
             "cannot be opened: No such file or directory");
  EXPECT_HAS(error_of([&] { load_safetensors(folder / ""); }), "is no regular file");
  OrderedDict<Tensor> reserved;
  reserved.insert("__metadata__", ones({1}));
  EXPECT_HAS(error_of([&] { save_safetensors_bytes(reserved); }), "cannot be called");
  EXPECT_HAS(error_of([&] { save_safetensors_bytes(before, {{"k", "\xff"}}); }), "no valid UTF-8");
}

std::string with_header(const std::string& header, size_t data) {
  uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, 'x');
}

std::string error_with(const std::string& header, size_t data) {
  return error_of([&] { load_safetensors_bytes(with_header(header, data)); });
}

TEST(SafeTensors, WrongLengthsAreRefused) {
  auto error = [](const std::string& bytes) {
    return error_of([&] { load_safetensors_bytes(bytes); });
  };
  EXPECT_HAS(error(""), "0 bytes are too few: the length of the header takes eight");
  EXPECT_HAS(error("1234567"), "7 bytes are too few");
  EXPECT_HAS(error(std::string("\x09\0\0\0\0\0\0\0{}", 10)), "claims 9 bytes, but only 2 follow");
  EXPECT_HAS(error(std::string(8, '\xff') + "{}"), "the header claims 18446744073709551615 bytes");
  EXPECT_HAS(error_with("{}", 3), "there are 3 bytes of data, but the tensors have 0");
}

TEST(SafeTensors, WrongHeadersAreRefused) {
  EXPECT_HAS(error_with("", 0), "the header is not valid JSON");
  EXPECT_HAS(error_with("{\"a\":", 0), "the header is not valid JSON");
  EXPECT_HAS(error_with("{\"\xff\":1}", 0), "the header is not valid JSON");
  EXPECT_HAS(error_with("[]", 0), "the header is not a JSON object");
  EXPECT_HAS(error_with(std::string(1000, '['), 0), "nested deeper than the format allows");
  EXPECT_HAS(error_with(R"({"a":1})", 0), "'a' is described by something that is no object");
  EXPECT_HAS(error_with(R"({"a":{}})", 0), "'a' has no 'dtype'");
  EXPECT_HAS(error_with(R"({"__metadata__":1})", 0), "__metadata__ is no object");
  EXPECT_HAS(error_with(R"({"__metadata__":{"a":1}})", 0), "has 'a', which is no text");
  EXPECT_HAS(error_with(R"({"__metadata__":{"a":"1","a":"2"}})", 0), "'a' is in the header twice");
  std::string good = R"({"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  EXPECT_EQ(error_with("{\"a\":" + good + "}", 2), "no error");
  EXPECT_HAS(error_with("{\"a\":" + good + ",\"a\":" + good + "}", 2), "in the header twice");
}

TEST(SafeTensors, WrongTensorsAreRefused) {
  auto error = [](const std::string& tensor, size_t data) {
    return error_with("{\"a\":{" + tensor + "}}", data);
  };
  EXPECT_HAS(error(R"("dtype":"F33","shape":[],"data_offsets":[0,4])", 4), "the dtype \"F33\"");
  EXPECT_HAS(error(R"("dtype":3,"shape":[],"data_offsets":[0,4])", 4), "'a' has the dtype 3");
  EXPECT_HAS(error(R"("dtype":"F32","data_offsets":[0,4])", 4), "'a' has no 'shape'");
  EXPECT_HAS(error(R"("dtype":"F32","shape":1,"data_offsets":[0,4])", 4), "shape that is no list");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])", 4), "a shape with -1");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])", 4), "a shape with 1.0");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])", 4),
             "a shape of more elements than there can be");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[0,9223372036854775808],"data_offsets":[0,0])", 0),
             "a shape of more elements than there can be");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[1],"data_offsets":[0])", 4), "that are no pair");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4), "at bytes 4 to 0");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 4), "there are 4 bytes of");
  EXPECT_HAS(error(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
             "'a' has 4 bytes in the file, but its shape and dtype need 8");
  EXPECT_HAS(error(R"("dtype":"U8","shape":[2],"data_offsets":[1,3])", 3), "a gap of 1 bytes befo");
  EXPECT_HAS(error(R"("dtype":"U8","shape":[2],"data_offsets":[0,2],"x":1)", 2), "'a' has more");
  std::string two = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})";
  EXPECT_HAS(error_with(two, 4), "'b' overlaps the tensor before it");
}

// Whatever happens to a file, it is read or refused with a sentence of ours.
TEST(SafeTensors, MutatedBytesAreReadOrRefused) {
  std::string good = save_safetensors_bytes(all_dtypes(), {{"a", "b"}});
  std::mt19937 random(7);
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int refused = 0, read = 0;
  for (int i = 0; i < 20000; i++) {
    std::string bytes = good;
    for (size_t k = 0; k <= below(3); k++) {
      size_t at = below(2) ? below(bytes.size()) : below(std::min<size_t>(bytes.size(), 900));
      switch (below(5)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes[at] ^= static_cast<char>(1 << below(8));
          break;
        case 2:
          bytes.erase(at, below(20));
          break;
        case 3:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(30)));
          break;
        default:
          bytes.resize(at + 1);
      }
      if (bytes.empty()) break;
    }
    std::string error = error_of([&] {
      SafeTensors loaded = load_safetensors_bytes(bytes);
      for (const auto& item : loaded.tensors) (void)item.value().text();
    });
    read += error == "no error";
    refused += error.starts_with("safetensors: the bytes: ");
  }
  EXPECT_EQ(read + refused, 20000);
  EXPECT_GT(read, 300);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace fg
