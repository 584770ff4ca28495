#include "tensor/format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <sstream>

#include "tests/tensor/format_golden.h"

namespace fg {
namespace {

struct Case {
  std::string title, expected;
};

std::vector<Case> golden_cases() {
  std::vector<Case> cases;
  std::istringstream lines(kFormatGolden);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("> ")) {
      cases.push_back({line.substr(2), ""});
    } else {
      std::string& expected = cases.back().expected;
      expected += (expected.empty() ? "" : "\n") + line;
    }
  }
  return cases;
}

template <class T>
std::vector<T> numbers(const std::string& list) {
  std::vector<T> values;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    values.push_back(static_cast<T>(std::stod(item)));
  }
  return values;
}

// The elements as bytes of the dtype.
std::vector<char> encoded(DType dtype, const std::vector<double>& values) {
  std::vector<char> bytes(values.size() * item_size(dtype));
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); i++) {
      T element;
      if constexpr (std::is_class_v<T>)
        element = T(static_cast<float>(values[i]));
      else
        element = static_cast<T>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

std::vector<double> ramp(const std::vector<double>& start_and_step, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; i++) {
    values.push_back(start_and_step[0] + start_and_step[1] * static_cast<double>(i));
  }
  return values;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

std::string format_case(const std::string& title) {
  std::istringstream words(title);
  std::string dtype, word;
  words >> dtype;
  std::map<std::string, std::string> keys;
  while (words >> word) keys[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);

  ArrayView array{*dtype_of_name(dtype), numbers<int64_t>(keys["sizes"]), {}, nullptr};
  array.strides =
      keys.count("strides") ? numbers<int64_t>(keys["strides"]) : dense_strides(array.sizes);
  int64_t count = 1;
  for (int64_t size : array.sizes) count *= size;
  std::vector<char> bytes =
      encoded(array.dtype, keys.count("ramp") ? ramp(numbers<double>(keys["ramp"]), count)
                                              : numbers<double>(keys["values"]));
  array.data = bytes.data();

  PrintOptions options;
  if (keys.count("precision")) options.precision = std::stoi(keys["precision"]);
  if (keys.count("threshold")) options.threshold = std::stoi(keys["threshold"]);
  if (keys.count("edgeitems")) options.edgeitems = std::stoi(keys["edgeitems"]);
  if (keys.count("linewidth")) options.linewidth = std::stoi(keys["linewidth"]);
  if (keys.count("sci_mode")) options.sci_mode = keys["sci_mode"] == "1";
  PrintFrame frame;
  if (keys.count("suffix")) frame.suffixes = {keys["suffix"]};
  return format_tensor(array, options, frame);
}

TEST(FormatTest, prints_as_pytorch) {
  std::vector<Case> cases = golden_cases();
  EXPECT_GE(cases.size(), 50u);
  for (const Case& c : cases) EXPECT_EQ(format_case(c.title), c.expected) << c.title;
}

TEST(FormatTest, integers_keep_all_their_digits) {
  int64_t values[] = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(format_tensor({kInt64, {2}, {1}, values}),
            "tensor([-9223372036854775808,  9223372036854775807])");
}

TEST(FormatTest, the_default_dtype_is_not_shown) {
  double value = 1.5;
  ArrayView array{kFloat64, {}, {}, &value};
  EXPECT_EQ(format_tensor(array), "tensor(1.5000, dtype=foregrad.float64)");
  set_default_dtype(kFloat64);
  std::string text = format_tensor(array);
  set_default_dtype(kFloat32);
  EXPECT_EQ(text, "tensor(1.5000)");
}

TEST(FormatTest, a_nan_shows_no_sign) {
  float values[] = {-std::numeric_limits<float>::quiet_NaN(), 1};
  EXPECT_EQ(format_tensor({kFloat32, {2}, {1}, values}), "tensor([nan, 1.])");
}

TEST(FormatTest, a_longer_name_indents_rows_and_suffixes) {
  float values[] = {1, 2};
  EXPECT_EQ(format_tensor({kFloat32, {2, 1}, {1, 1}, values}, {.linewidth = 20},
                          {.name = "Weights", .suffixes = {"requires_grad=True"}}),
            "Weights([[1.],\n         [2.]],\n        requires_grad=True)");
}

TEST(FormatTest, a_frame_goes_around_any_text) {
  EXPECT_EQ(format_frame("...", {}, {.suffixes = {"size=(2, 3)", "grad_fn=<MulBackward0>"}}),
            "tensor(..., size=(2, 3), grad_fn=<MulBackward0>)");
}

TEST(FormatTest, tuples_are_written_as_in_python) {
  EXPECT_EQ(tuple_text({}), "()");
  EXPECT_EQ(tuple_text({2}), "(2,)");
  EXPECT_EQ(tuple_text({2, 3}), "(2, 3)");
}

}  // namespace
}  // namespace fg
