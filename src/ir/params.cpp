#include "ir/params.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "base/fail.h"

namespace fg::ir {

static bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

void TextReader::skip_space() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
      continue;
    }
    if (!std::isspace(static_cast<unsigned char>(c))) return;
    line_ += c == '\n';
    position_++;
  }
}

bool TextReader::take(std::string_view expected) {
  skip_space();
  if (!text_.substr(position_).starts_with(expected)) return false;
  size_t end = position_ + expected.size();
  // A word is taken whole: "none" is not the beginning of "nonempty".
  if (is_name(expected.back()) && end < text_.size() && is_name(text_[end])) return false;
  position_ = end;
  return true;
}

void TextReader::expect(std::string_view expected) {
  if (!take(expected)) fail_here(fmt::format("'{}'", expected));
}

std::string_view TextReader::name() {
  skip_space();
  size_t begin = position_;
  while (position_ < text_.size() && is_name(text_[position_])) position_++;
  if (begin == position_) fail_here("a name");
  return text_.substr(begin, position_ - begin);
}

std::string_view TextReader::number() {
  skip_space();
  size_t begin = position_;
  while (position_ < text_.size() &&
         (is_name(text_[position_]) || text_[position_] == '-' || text_[position_] == '+')) {
    position_++;
  }
  if (begin == position_) fail_here("a number");
  return text_.substr(begin, position_ - begin);
}

std::string TextReader::quoted() {
  expect("\"");
  size_t end = text_.find('"', position_);
  if (end == std::string_view::npos) fail_here("a closing quote");
  std::string result(text_.substr(position_, end - position_));
  position_ = end + 1;
  return result;
}

void TextReader::fail_here(const std::string& expected) const {
  std::string_view rest = text_.substr(position_);
  rest = rest.substr(0, std::min(rest.find('\n'), size_t{20}));
  fail(ErrorKind::value, "graph text, line {}: expected {}, got '{}'", line_, expected, rest);
}

// The one without a message in its bits, with either sign: "nan" and "-nan" mean it.
static bool is_usual_nan(double value) {
  constexpr uint64_t kUsual = 0x7ff8'0000'0000'0000, kSign = uint64_t{1} << 63;
  return (std::bit_cast<uint64_t>(value) & ~kSign) == kUsual;
}

void print_field(std::string& out, const Dim& value) {
  if (value.is_constant())
    print_field(out, value.value());
  else
    out += value.text();
}
void print_field(std::string& out, const Dims& value) {
  out += '[';
  for (size_t i = 0; i < value.size(); i++) {
    if (i > 0) out += ", ";
    print_field(out, value[i]);
  }
  out += ']';
}
void print_field(std::string& out, DType value) { out += name(value); }
void print_field(std::string& out, bool value) { out += value ? "true" : "false"; }
void print_field(std::string& out, Axis value) { print_field(out, int64_t{value}); }
void print_field(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}
// The shortest text that reads back as the same bits; always with a sign of being a float.
void print_field(std::string& out, double value) {
  char buffer[40];
  if (std::isnan(value) && !is_usual_nan(value)) {
    out += fmt::format("nan{:016x}", std::bit_cast<uint64_t>(value));
    return;
  }
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (std::isfinite(value) && text.find_first_of(".e") == std::string_view::npos) out += ".0";
}
void print_field(std::string& out, const Scalar& value) {
  if (!value.is_known())  // the index among operands that are numbers
    out += fmt::format("${}", value.symbol() - 1);
  else if (value.is_floating())
    print_field(out, value.to_double());
  else if (value.dtype() == DType::boolean)
    print_field(out, value.to_bool());
  else
    print_field(out, value.to_int());
}
void print_field(std::string& out, const Generator&) { out += "generator"; }

template <class T>
static T parse_number(TextReader& in) {
  std::string_view text = in.number();
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    in.fail_here(fmt::format("a number in the place of '{}'", text));
  }
  return value;
}

void parse_field(TextReader& in, int64_t& value) { value = parse_number<int64_t>(in); }
void parse_field(TextReader& in, Axis& value) { value = parse_number<int64_t>(in); }
void parse_field(TextReader& in, double& value) {
  constexpr size_t kDigits = 16;
  TextReader ahead = in;
  std::string_view text = ahead.number();
  if (!text.starts_with("nan") || text.size() != 3 + kDigits) {
    value = parse_number<double>(in);
    return;
  }
  uint64_t bits = 0;
  auto [end, error] = std::from_chars(text.data() + 3, text.data() + text.size(), bits, 16);
  value = std::bit_cast<double>(bits);
  if (error != std::errc() || end != text.data() + text.size() || !std::isnan(value)) {
    in.fail_here("the bits of a NaN");
  }
  in = ahead;
}
void parse_field(TextReader& in, bool& value) {
  value = in.take("true");
  if (!value) in.expect("false");
}
void parse_field(TextReader& in, Dims& value) {
  value = {};
  in.expect("[");
  while (!in.take("]")) {
    if (!value.empty()) in.expect(",");
    Dim entry;
    parse_field(in, entry);
    value.push_back(entry);
  }
}
void parse_field(TextReader& in, DType& value) {
  std::string_view text = in.name();
  auto dtype = dtype_of_name(text);
  if (!dtype) in.fail_here(fmt::format("a dtype in the place of '{}'", text));
  value = *dtype;
}
void parse_field(TextReader& in, Scalar& value) {
  if (in.take("true"))
    value = true;
  else if (in.take("false"))
    value = false;
  else if (in.take("$"))
    value = Scalar::symbol(static_cast<uint32_t>(parse_number<uint16_t>(in)) + 1);
  else {
    TextReader ahead = in;
    std::string_view text = ahead.number();
    bool real = text.find_first_of(".enf") != std::string_view::npos;
    double number = 0;
    if (real) parse_field(in, number);
    value = real ? Scalar(number) : Scalar(parse_number<int64_t>(in));
  }
}
void parse_field(TextReader& in, Generator& value) {
  in.expect("generator");
  value = default_generator();
}

}  // namespace fg::ir
