#include "tensor/format.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <type_traits>

#include "base/fail.h"

namespace fg {

namespace {

std::mutex options_mutex;
PrintOptions options_now;

// How all elements of one tensor are written; decided by those that are shown.
struct NumberStyle {
  bool whole = true;  // floats without a fraction are written as "1."
  bool scientific = false;
  size_t width = 1;
};

std::string float_text(double value, const NumberStyle& style, int precision) {
  if (std::isnan(value)) return "nan";  // Python shows no sign of it
  if (style.scientific) return fmt::format("{:.{}e}", value, precision);
  if (!style.whole) return fmt::format("{:.{}f}", value, precision);
  return fmt::format("{:.0f}{}", value, std::isinf(value) ? "" : ".");
}

class Printer {
 public:
  Printer(const ArrayView& array, const PrintOptions& options, int64_t count)
      : array_(array), options_(options), summarise_(count > options.threshold) {
    choose_style();
  }

  std::string text(size_t indent) const { return text_of(0, 0, indent); }

 private:
  static constexpr int64_t kEllipsis = -1;

  // The indices of a dimension that are shown, the ellipsis among them.
  std::vector<int64_t> shown(int64_t size) const {
    int64_t edge = options_.edgeitems;
    bool cut = summarise_ && size > 2 * edge;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < (cut ? edge : size); i++) indices.push_back(i);
    if (cut) indices.push_back(kEllipsis);
    for (int64_t i = size - edge; cut && i < size; i++) indices.push_back(i);
    return indices;
  }

  template <class F>
  void for_each_shown(size_t dim, int64_t offset, const F& f) const {
    if (dim == array_.sizes.size()) return f(offset);
    for (int64_t i : shown(array_.sizes[dim])) {
      if (i != kEllipsis) for_each_shown(dim + 1, offset + i * array_.strides[dim], f);
    }
  }

  double float_at(int64_t offset) const {
    return visit(array_.dtype, [&](auto zero) {
      return static_cast<double>(static_cast<const decltype(zero)*>(array_.data)[offset]);
    });
  }

  std::string element_text(int64_t offset) const {
    return visit(array_.dtype, [&](auto zero) -> std::string {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, bool>) {
        return static_cast<const bool*>(array_.data)[offset] ? "True" : "False";
      } else if constexpr (std::is_integral_v<T>) {
        return fmt::format("{}", int64_t{static_cast<const T*>(array_.data)[offset]});
      } else {
        return float_text(float_at(offset), style_, options_.precision);
      }
    });
  }

  // Zeros, infinities and NaN have no say.
  void choose_style() {
    if (is_floating(array_.dtype)) {
      double least = INFINITY, most = 0;
      for_each_shown(0, 0, [&](int64_t offset) {
        double value = std::abs(float_at(offset));
        if (value == 0 || !std::isfinite(value)) return;
        least = std::min(least, value);
        most = std::max(most, value);
        style_.whole = style_.whole && value == std::ceil(value);
      });
      if (most == 0) return;
      style_.scientific =
          options_.sci_mode.value_or(most / least > 1000 || most > 1e8 || least < 1e-4);
    }
    for_each_shown(0, 0, [&](int64_t offset) {
      if (is_floating(array_.dtype)) {
        double value = float_at(offset);
        if (value == 0 || !std::isfinite(value)) return;
      }
      style_.width = std::max(style_.width, element_text(offset).size());
    });
  }

  std::string padded(int64_t offset) const {
    return fmt::format("{:>{}}", element_text(offset), style_.width);
  }

  std::string row_text(int64_t offset, size_t indent) const {
    if (summarise_ && options_.edgeitems == 0) return "[...]";
    int64_t room = options_.linewidth - static_cast<int64_t>(indent);
    int64_t per_line = std::max<int64_t>(1, room / static_cast<int64_t>(style_.width + 2));
    std::string out = "[";
    int64_t column = 0;
    for (int64_t i : shown(array_.sizes.back())) {
      if (column == per_line)
        out += ",\n" + std::string(indent + 1, ' ');
      else if (column > 0)
        out += ", ";
      column = column == per_line ? 1 : column + 1;
      out += i == kEllipsis ? " ..." : padded(offset + i * array_.strides.back());
    }
    return out + "]";
  }

  std::string text_of(size_t dim, int64_t offset, size_t indent) const {
    size_t rank = array_.sizes.size() - dim;
    if (rank == 0) return padded(offset);
    if (rank == 1) return row_text(offset, indent);
    std::string separator = "," + std::string(rank - 1, '\n') + std::string(indent + 1, ' ');
    std::string out = "[";
    for (int64_t i : shown(array_.sizes[dim])) {
      if (out.size() > 1) out += separator;
      out +=
          i == kEllipsis ? "..." : text_of(dim + 1, offset + i * array_.strides[dim], indent + 1);
    }
    return out + "]";
  }

  const ArrayView& array_;
  const PrintOptions& options_;
  bool summarise_;
  NumberStyle style_;
};

constexpr std::string_view kDTypeSuffix = "dtype=foregrad.";

// Our longer name counts as `torch.`, so that lines break where PyTorch breaks them.
size_t counted_width(const std::string& suffix) {
  constexpr size_t kLonger = std::string_view("foregrad").size() - std::string_view("torch").size();
  return suffix.size() - (suffix.starts_with(kDTypeSuffix) ? kLonger : 0);
}

}  // namespace

PrintOptions print_options() {
  std::scoped_lock lock(options_mutex);
  return options_now;
}

void set_print_options(const PrintOptions& options) {
  std::scoped_lock lock(options_mutex);
  options_now = options;
}

std::string tuple_text(const std::vector<int64_t>& values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

std::string format_frame(const std::string& elements, const PrintOptions& options,
                         const PrintFrame& frame) {
  std::string out = frame.name + "(" + elements;
  size_t indent = frame.name.size() + 1, newline = out.rfind('\n');
  // PyTorch's count of the last line, two too long in any case: kept to wrap where it wraps.
  size_t line = newline == std::string::npos ? out.size() + 2 : out.size() - newline + 1;
  for (const std::string& suffix : frame.suffixes) {
    size_t width = counted_width(suffix);
    if (line + width + 2 > static_cast<size_t>(options.linewidth)) {
      out += ",\n" + std::string(indent, ' ') + suffix;
      line = indent + width;
    } else {
      out += ", " + suffix;
      line += width + 2;
    }
  }
  return out + ")";
}

std::string format_tensor(const ArrayView& array, const PrintOptions& options,
                          const PrintFrame& frame) {
  int64_t count = 1;
  for (int64_t size : array.sizes) count *= size;
  // Without elements nothing shows the shape and the dtype, unless they are the likely ones.
  bool shows_size = count == 0 ? array.sizes.size() != 1 : options.edgeitems == 0;
  bool shows_dtype = array.dtype != default_dtype() &&
                     (count == 0 || (array.dtype != kInt64 && array.dtype != kBool));
  PrintFrame full{.name = frame.name};
  if (shows_size) full.suffixes.push_back("size=" + tuple_text(array.sizes));
  if (shows_dtype) full.suffixes.push_back(fmt::format("{}{}", kDTypeSuffix, name(array.dtype)));
  full.suffixes.insert(full.suffixes.end(), frame.suffixes.begin(), frame.suffixes.end());
  std::string elements =
      count == 0 ? "[]" : Printer(array, options, count).text(frame.name.size() + 1);
  return format_frame(elements, options, full);
}

}  // namespace fg
