// References of the functions of networks: activations, losses, pooling, resampling, columns.
#include "tests/ops/reference/reference_network.h"

#include <cmath>
#include <functional>

namespace fg::table {
namespace {

Compute each(double (*f)(double)) {
  return [f](const Call& call) {
    Array x = call.first();
    for (double& value : x.data) value = f(value);
    return x;
  };
}
Compute each(const char* name, double fallback, double (*f)(double, double)) {
  return [=](const Call& call) {
    Array x = call.first();
    double parameter = call.number(name, fallback);
    for (double& value : x.data) value = f(value, parameter);
    return x;
  };
}

// ---- losses: a loss per element or sample, reduced

Array reduced(const Call& call, const Array& losses) {
  std::string how = call.word("reduction", "mean");
  if (how == "none") return losses;
  Array out{Sizes{}};
  for (double loss : losses.data) out.data[0] += loss;
  if (how == "mean") out.data[0] /= static_cast<double>(losses.data.size());
  return out;
}
using Three = double (*)(double, double, double);
Compute loss(Three f, const char* parameter, double fallback) {
  return [=](const Call& call) {
    double p = call.number(parameter, fallback);
    return reduced(
        call, combine(call.first(), call.second(), [=](double a, double b) { return f(a, b, p); }));
  };
}
// f of the rows (last dimension) of all tensors among the arguments, at the same index.
using OnRows = std::function<double(const std::vector<std::vector<double>>&)>;
Array of_rows(const std::vector<Array>& tensors, const OnRows& f) {
  Sizes sizes(tensors[0].sizes.begin(), tensors[0].sizes.end() - 1);
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) {
    std::vector<std::vector<double>> rows;
    for (const Array& tensor : tensors) {
      Sizes at = i;
      at.push_back(0);
      rows.emplace_back();
      for (at.back() = 0; at.back() < tensors[0].sizes.back(); at.back()++) {
        rows.back().push_back(tensor.broadcast(at));
      }
    }
    out[i] = f(rows);
  });
  return out;
}
double distance(const std::vector<double>& a, const std::vector<double>& b, double p, double eps) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) sum += std::pow(std::fabs(a[i] - b[i] + eps), p);
  return std::pow(sum, 1 / p);
}
Array triplets(const Call& call) {
  double p = call.number("p", 2), eps = call.number("eps", 1e-6), margin = call.number("margin", 1);
  bool swap = call.number("swap", 0) != 0;
  return reduced(call,
                 of_rows({call.array("anchor"), call.array("positive"), call.array("negative")},
                         [=](const auto& rows) {
                           double near = distance(rows[0], rows[1], p, eps);
                           double far = distance(rows[0], rows[2], p, eps);
                           if (swap) far = std::min(far, distance(rows[1], rows[2], p, eps));
                           return std::max(0.0, margin + near - far);
                         }));
}
Array swapped(const Array& x) {
  Array out({x.sizes[1], x.sizes[0]});
  each_index(out.sizes, [&](const Sizes& i) { out[i] = x[{i[1], i[0]}]; });
  return out;
}
Array column(Array x) {
  x.sizes.push_back(1);
  return x;
}
Array cosines(const Call& call) {
  Array a = call.first(), b = call.second();
  a = combine(a, b, [](double x, double) { return x; });
  if (call.integer("dim", 1) != a.rank() - 1) {  // of a matrix
    a = swapped(a);
    b = b.rank() == 1 ? column(b) : swapped(b);
  }
  return of_rows({a, b}, [](const auto& rows) {
    double dot = 0, first = 0, second = 0;
    for (size_t i = 0; i < rows[0].size(); i++) {
      dot += rows[0][i] * rows[1][i];
      first += rows[0][i] * rows[0][i];
      second += rows[1][i] * rows[1][i];
    }
    return dot / std::sqrt(first * second);
  });
}
Array multi_margin(const Call& call) {
  Array x = call.first(), target = call.array("target");
  double p = call.number("p", 1), margin = call.number("margin", 1);
  int64_t classes = x.sizes.back();
  Array losses(target.sizes);
  for (size_t n = 0; n < losses.data.size(); n++) {
    const double* row = x.data.data() + n * static_cast<size_t>(classes);
    auto y = static_cast<int64_t>(target.data[n]);
    for (int64_t c = 0; c < classes; c++) {
      if (c == y) continue;
      double part = std::pow(std::max(0.0, margin - row[y] + row[c]), p);
      if (call.has("weight")) part *= call.array("weight").data[static_cast<size_t>(y)];
      losses.data[n] += part / static_cast<double>(classes);
    }
  }
  return reduced(call, losses);
}

// The probability of a target by summing over all paths of labels and blanks.
double probability(const Array& x, int64_t n, int64_t times, const std::vector<int64_t>& target,
                   int64_t blank) {
  int64_t classes = x.sizes[2];
  double sum = 0;
  std::vector<int64_t> path(static_cast<size_t>(times), 0);
  for (bool more = true; more;) {
    std::vector<int64_t> spelled;
    double product = 1;
    for (size_t t = 0; t < path.size(); t++) {
      product *= std::exp(x[{static_cast<int64_t>(t), n, path[t]}]);
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) spelled.push_back(path[t]);
    }
    if (spelled == target) sum += product;
    more = false;
    for (size_t t = path.size(); t-- > 0 && !more;) {
      more = ++path[t] < classes;
      if (!more) path[t] = 0;
    }
  }
  return sum;
}
Array sequences(const Call& call) {
  Array x = call.first(), targets = call.array("targets"), times = call.array("input_lengths"),
        labels = call.array("target_lengths");
  Array losses(Sizes{x.sizes[1]});
  size_t at = 0;
  for (size_t n = 0; n < losses.data.size(); n++) {
    auto count = static_cast<size_t>(labels.data[n]);
    size_t begin = targets.rank() == 2 ? n * static_cast<size_t>(targets.sizes[1]) : at;
    std::vector<int64_t> target;
    for (size_t i = 0; i < count; i++) {
      target.push_back(static_cast<int64_t>(targets.data[begin + i]));
    }
    at += count;
    losses.data[n] =
        -std::log(probability(x, static_cast<int64_t>(n), static_cast<int64_t>(times.data[n]),
                              target, call.integer("blank", 0)));
    if (call.word("reduction", "mean") == "mean") losses.data[n] /= std::max(labels.data[n], 1.0);
  }
  return reduced(call, losses);
}

// ---- pooling, columns, blocks, sizes

int64_t entry(const Sizes& list, size_t d) { return list.size() == 1 ? list[0] : list[d]; }

// f(the elements of the window, its size with and without padding) for each window of volumes.
using OnWindow = std::function<double(const std::vector<double>&, double, double)>;
Compute pool3d(OnWindow f) {
  return [f](const Call& call) {
    Array x = call.first();
    Sizes kernel = call.list("kernel_size", {}), stride = call.list("stride", {}),
          padding = call.list("padding", {0}), dilation = call.list("dilation", {1});
    if (stride.empty()) stride = kernel;
    bool ceil = call.number("ceil_mode", 0) != 0;
    size_t lead = x.sizes.size() - 3;
    Sizes sizes(x.sizes.begin(), x.sizes.begin() + static_cast<int64_t>(lead));
    for (size_t d = 0; d < 3; d++) {
      int64_t size = x.sizes[lead + d], pad = entry(padding, d), step = entry(stride, d);
      int64_t room = size + 2 * pad - entry(dilation, d) * (entry(kernel, d) - 1) - 1;
      int64_t count = (ceil ? room + step - 1 : room) / step + 1;
      if (ceil && (count - 1) * step >= size + pad) count--;
      sizes.push_back(count);
    }
    Array out(sizes);
    Sizes taps{entry(kernel, 0), entry(kernel, 1), entry(kernel, 2)};
    each_index(sizes, [&](const Sizes& i) {
      std::vector<double> elements;
      double padded = 0;
      each_index(taps, [&](const Sizes& tap) {
        Sizes at = i;
        bool inside = true, counted = true;
        for (size_t d = 0; d < 3; d++) {
          at[lead + d] =
              i[lead + d] * entry(stride, d) - entry(padding, d) + tap[d] * entry(dilation, d);
          inside = inside && at[lead + d] >= 0 && at[lead + d] < x.sizes[lead + d];
          counted = counted && at[lead + d] < x.sizes[lead + d] + entry(padding, d);
        }
        padded += counted;
        if (inside) elements.push_back(x[at]);
      });
      out[i] = f(elements, padded, static_cast<double>(elements.size()));
    });
    return out;
  };
}
Array average3d(const Call& call) {
  bool with_padding = call.number("count_include_pad", 1) != 0;
  double divisor = call.number("divisor_override", 0);
  return pool3d([=](const std::vector<double>& x, double padded, double inside) {
    double sum = std::accumulate(x.begin(), x.end(), 0.0);
    return sum / (divisor != 0 ? divisor : with_padding ? padded : inside);
  })(call);
}

Array columns(const Call& call) {
  Array x = call.first();
  bool single = x.rank() == 3;
  if (single) x.sizes.insert(x.sizes.begin(), 1);
  Sizes k = call.list("kernel_size", {}), g = call.list("dilation", {1}),
        p = call.list("padding", {0}), s = call.list("stride", {1}), windows;
  for (size_t d = 0; d < 2; d++) {
    int64_t room = x.sizes[2 + d] + 2 * entry(p, d) - entry(g, d) * (entry(k, d) - 1) - 1;
    windows.push_back(room / entry(s, d) + 1);
  }
  int64_t taps = entry(k, 0) * entry(k, 1);
  Array out({x.sizes[0], x.sizes[1] * taps, windows[0] * windows[1]});
  each_index(out.sizes, [&](const Sizes& i) {
    int64_t tap = i[1] % taps;
    int64_t h = i[2] / windows[1] * entry(s, 0) - entry(p, 0) + tap / entry(k, 1) * entry(g, 0);
    int64_t w = i[2] % windows[1] * entry(s, 1) - entry(p, 1) + tap % entry(k, 1) * entry(g, 1);
    bool inside = h >= 0 && w >= 0 && h < x.sizes[2] && w < x.sizes[3];
    if (inside) out[i] = x[{i[0], i[1] / taps, h, w}];
  });
  if (single) out.sizes.erase(out.sizes.begin());
  return out;
}
Array shuffled(const Call& call) {
  Array x = call.first();
  int64_t r = call.integer("upscale_factor", 1);
  size_t last = x.sizes.size() - 1;
  Sizes sizes = x.sizes;
  sizes[last - 2] /= r * r;
  sizes[last - 1] *= r;
  sizes[last] *= r;
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) {
    Sizes at = i;
    at[last - 2] = (i[last - 2] * r + i[last - 1] % r) * r + i[last] % r;
    at[last - 1] /= r;
    at[last] /= r;
    out[i] = x[at];
  });
  return out;
}

// Straight lines between the elements of one or two last dimensions.
Array straight(const Call& call) {
  Array x = call.first();
  Sizes size = call.list("output_size", {});
  bool corners = call.number("align_corners", 0) != 0;
  const char* scales[2][2] = {{"scales", ""}, {"scales_h", "scales_w"}};
  Sizes sizes = x.sizes;
  for (size_t d = 0; d < size.size(); d++) sizes[2 + d] = size[d];
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) {
    for (int64_t corner = 0; corner < (int64_t{1} << size.size()); corner++) {
      Sizes at = i;
      double weight = 1;
      for (size_t d = 0; d < size.size(); d++) {
        auto from = static_cast<double>(x.sizes[2 + d]), to = static_cast<double>(size[d]);
        double scale = call.number(scales[size.size() - 1][d], 0);
        double step =
            corners ? (to > 1 ? (from - 1) / (to - 1) : 0) : (scale > 0 ? 1 / scale : from / to);
        auto place = static_cast<double>(i[2 + d]);
        double source = corners ? place * step : std::max((place + 0.5) * step - 0.5, 0.0);
        auto low = std::min(static_cast<int64_t>(source), x.sizes[2 + d] - 1);
        double rest = std::min(source - static_cast<double>(low), 1.0);
        bool high = (corner >> d & 1) != 0;
        at[2 + d] = std::min(low + (high ? 1 : 0), x.sizes[2 + d] - 1);
        weight *= high ? rest : 1 - rest;
      }
      out[i] += weight * x[at];
    }
  });
  return out;
}

// ---- products and gates

Array bilinear(const Call& call) {
  Array a = call.first(), b = call.second(), w = call.array("weight");
  Sizes sizes(a.sizes.begin(), a.sizes.end() - 1);
  sizes.push_back(w.sizes[0]);
  Array out(sizes);
  each_index(sizes, [&](const Sizes& i) {
    double sum = call.has("bias") ? call.array("bias")[{i.back()}] : 0;
    Sizes left = i, right = i;
    each_index({w.sizes[1], w.sizes[2]}, [&](const Sizes& pair) {
      left.back() = pair[0];
      right.back() = pair[1];
      sum += a[left] * w[{i.back(), pair[0], pair[1]}] * b[right];
    });
    out[i] = sum;
  });
  return out;
}
Array prelu(const Call& call) {
  Array x = call.first(), w = call.array("weight");
  Array out = x;
  each_index(x.sizes, [&](const Sizes& i) {
    double slope = w.data.size() == 1 ? w.data[0] : w[{i[1]}];
    out[i] = x[i] > 0 ? x[i] : slope * x[i];
  });
  return out;
}

const std::map<std::string, Compute> kReferences = {
    {"hardshrink",
     each("lambd", 0.5, [](double x, double l) { return x >= -l && x <= l ? 0 : x; })},
    {"softshrink",
     each("lambd", 0.5, [](double x, double l) { return x > l    ? x - l
                                                        : x < -l ? x + l
                                                                 : x * 0; })},
    {"hardsigmoid", each([](double x) { return x <= -3  ? 0
                                               : x >= 3 ? 1
                                                        : (x + 3) / 6; })},
    {"hardswish", each([](double x) {
       return x * (x <= -3 ? 0 : x >= 3 ? 6 : x + 3) / 6;
     })},
    {"celu",
     each("alpha", 1, [](double x, double a) { return x <= 0 ? a * std::expm1(x / a) : x; })},
    {"softsign", each([](double x) { return x / (1 + std::fabs(x)); })},
    {"tanhshrink", each([](double x) { return x - std::tanh(x); })},
    {"prelu", prelu},
    {"soft_margin_loss",
     loss([](double x, double y, double) { return std::log1p(std::exp(-y * x)); }, "", 0)},
    {"hinge_embedding_loss",
     loss([](double x, double y, double m) { return y == 1 ? x : std::max(0.0, m - x); }, "margin",
          1)},
    {"triplet_margin_loss", triplets},
    {"cosine_similarity", cosines},
    {"multi_margin_loss", multi_margin},
    {"ctc_loss", sequences},
    {"avg_pool3d", average3d},
    {"max_pool3d", pool3d([](const std::vector<double>& x, double, double) {
       return *std::max_element(x.begin(), x.end());
     })},
    {"im2col", columns},
    {"pixel_shuffle", shuffled},
    {"upsample_linear1d", straight},
    {"upsample_bilinear2d", straight},
    {"bilinear", bilinear},
};

}  // namespace

const Compute* find_network_reference(const std::string& name) {
  auto found = kReferences.find(name);
  return found == kReferences.end() ? nullptr : &found->second;
}

}  // namespace fg::table
