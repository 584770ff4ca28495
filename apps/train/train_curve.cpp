#include "apps/train/train_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fg::apps {

namespace {

constexpr double kWidth = 900, kHeight = 340, kLeft = 52, kRight = 16, kTop = 34, kBottom = 36;
constexpr size_t kMostPoints = 900;

constexpr const char* kStyle = R"css(
svg.curve { --curve-back: #ffffff; --curve-text: #667080; --curve-line: #d9dee5;
  --curve-raw: #b9cdf8; --curve-loss: #2f6feb; --curve-held: #e5812d; }
@media (prefers-color-scheme: dark) { svg.curve { --curve-back: #14171c; --curve-text: #98a3b3;
  --curve-line: #323a45; --curve-raw: #33487a; --curve-loss: #78a6ff; --curve-held: #f09a4d; } }
svg.curve .back { fill: var(--curve-back); }
svg.curve text { fill: var(--curve-text); font: 12px system-ui, sans-serif; }
svg.curve .grid { stroke: var(--curve-line); }
svg.curve polyline { fill: none; stroke-linejoin: round; }
svg.curve .raw { stroke: var(--curve-raw); stroke-width: 1; }
svg.curve .loss { stroke: var(--curve-loss); stroke-width: 2; }
svg.curve .held { stroke: var(--curve-held); stroke-width: 2; }
svg.curve circle { fill: var(--curve-held); }
)css";

// 1, 2 or 5 times a power of ten, so that about `count` of them fit.
double tick_of(double range, int count) {
  double power = std::pow(10, std::floor(std::log10(range / count)));
  for (double factor : {1., 2., 5.}) {
    if (range / (factor * power) <= count) return factor * power;
  }
  return 10 * power;
}

class Axes {
 public:
  Axes(double steps, double low, double high) : steps_(steps), low_(low), high_(high) {}
  std::string point(double step, double loss) const {
    return fmt::format("{:.1f},{:.1f}", x(step), y(loss));
  }
  double x(double step) const { return kLeft + (kWidth - kLeft - kRight) * step / steps_; }
  double y(double loss) const {
    return kTop + (kHeight - kTop - kBottom) * (high_ - loss) / (high_ - low_);
  }
  std::string lines() const {
    std::string out;
    double tick = tick_of(high_ - low_, 6);
    for (double at = std::ceil(low_ / tick) * tick; at <= high_; at += tick) {
      out += fmt::format(
          "<line class=\"grid\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>\n",
          kLeft, kWidth - kRight, y(at), y(at), kLeft - 8, y(at) + 4, at);
    }
    tick = std::max(1.0, tick_of(steps_, 8));
    for (double at = 0; at <= steps_; at += tick) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:.0f}</text>\n",
                         x(at), kHeight - kBottom + 20, at);
    }
    return out;
  }

 private:
  double steps_, low_, high_;
};

// The mean of each step and those around it.
std::vector<double> smoothed(const std::vector<double>& losses) {
  std::vector<double> sums{0}, result;
  for (double loss : losses) sums.push_back(sums.back() + loss);
  size_t reach = losses.size() / 60;
  for (size_t i = 0; i < losses.size(); i++) {
    size_t around = std::min({reach, i, losses.size() - 1 - i});
    size_t first = i - around, last = i + around + 1;
    result.push_back((sums[last] - sums[first]) / static_cast<double>(last - first));
  }
  return result;
}

std::string line(const char* name, const Axes& axes, const std::vector<double>& losses) {
  std::string points;
  size_t stride = losses.size() / kMostPoints + 1;
  for (size_t i = 0; i < losses.size(); i += stride) {
    if (!std::isfinite(losses[i])) continue;
    points += axes.point(static_cast<double>(i + 1), losses[i]) + " ";
  }
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", name, points);
}

std::string held_out_line(const Axes& axes, const std::vector<Curve::Point>& validation) {
  std::string points, circles;
  for (const Curve::Point& point : validation) {
    if (!std::isfinite(point.loss)) continue;
    auto step = static_cast<double>(point.step);
    points += axes.point(step, point.loss) + " ";
    circles += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>step {}: {:.4f}</title></circle>\n",
        axes.x(step), axes.y(point.loss), point.step, point.loss);
  }
  return fmt::format("<polyline class=\"held\" points=\"{}\"/>\n{}", points, circles);
}

std::string legend() {
  std::string out;
  double x = kLeft;
  for (auto [name, what] : {std::pair("raw", "loss of each step"), std::pair("loss", "its mean"),
                            std::pair("held", "held out")}) {
    out += fmt::format(
        "<polyline class=\"{}\" points=\"{:.0f},14 {:.0f},14\"/><text x=\"{:.0f}\" y=\"18\">{}"
        "</text>\n",
        name, x, x + 22, x + 28, what);
    x += 150;
  }
  return out;
}

}  // namespace

std::string curve_svg(const Curve& curve) {
  double low = INFINITY, high = -INFINITY;
  auto include = [&](double loss) {
    if (!std::isfinite(loss)) return;
    low = std::min(low, loss);
    high = std::max(high, loss);
  };
  for (double loss : curve.losses) include(loss);
  for (const Curve::Point& point : curve.validation) include(point.loss);
  if (!(low <= high)) low = 0, high = 1;  // there is nothing to draw
  double room = std::max(0.05, 0.05 * (high - low));
  Axes axes(std::max(1.0, static_cast<double>(curve.losses.size())), low - room, high + room);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"curve\" role=\"img\" "
             "viewBox=\"0 0 {0} {1}\"><title>Loss over steps</title><style>{2}</style>\n"
             "<rect class=\"back\" width=\"{0}\" height=\"{1}\"/>\n",
             kWidth, kHeight, kStyle) +
         axes.lines() + line("raw", axes, curve.losses) +
         line("loss", axes, smoothed(curve.losses)) + held_out_line(axes, curve.validation) +
         legend() + "</svg>\n";
}

}  // namespace fg::apps
