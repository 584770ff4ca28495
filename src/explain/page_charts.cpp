// The pictures of a page.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explain/page.h"

namespace fg::explain {

namespace {

constexpr double kWidth = 1060;  // of a chart, in its own units
constexpr double kLeft = 70;     // left end of its plot
constexpr size_t kMostLives = 600;

// A round number of bytes, so that about four lines fit under `most`.
int64_t grid_step(int64_t most) {
  int64_t step = 1;
  while (step * 4 < most) step *= 2;
  return step;
}

// Steps from left to right, bytes from the bottom to the top.
class Plot {
 public:
  Plot(size_t steps, int64_t most, double height)
      : steps_(std::max<size_t>(steps, 1)), most_(std::max<int64_t>(most, 1)), height_(height) {}
  double x(size_t step) const {
    return kLeft + (kWidth - kLeft) * static_cast<double>(step) / static_cast<double>(steps_);
  }
  double y(int64_t bytes) const {
    return height_ - (height_ - 16) * static_cast<double>(bytes) / static_cast<double>(most_);
  }
  std::string rectangle(size_t first, size_t last, int64_t low, int64_t high,
                        const std::string& kind, const std::string& title) const {
    return fmt::format(R"(<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}">)"
                       "<title>{}</title></rect>",
                       kind, x(first), y(high), x(last + 1) - x(first), y(low) - y(high),
                       escaped(title));
  }
  std::string begin() const {
    std::string out =
        fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}">)", kWidth, height_ + 18);
    int64_t step = grid_step(most_);
    for (int64_t bytes = 0; bytes <= most_; bytes += step) {
      out += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)"
                         R"(<text x="{3}" y="{4:.1f}" text-anchor="end">{5}</text>)",
                         kLeft, kWidth, y(bytes), kLeft - 8, y(bytes) + 4, bytes_text(bytes));
    }
    return out + fmt::format(R"(<text x="{}" y="{}">step 1</text>)"
                             R"(<text x="{}" y="{}" text-anchor="end">step {}</text>)",
                             kLeft, height_ + 14, kWidth, height_ + 14, steps_);
  }

 private:
  size_t steps_;
  int64_t most_;
  double height_;
};

// All memory of a call, side by side.
std::string parts_chart(const MemoryUse& use) {
  struct Bar {
    const char *kind, *name;
    int64_t bytes;
  };
  const Bar parts[] = {{"other", "inputs", use.inputs},
                       {"product", "results", use.results},
                       {"reduction", "kept for the backward", use.saved},
                       {"use", "block", use.block}};
  auto sum = static_cast<double>(use.inputs + use.results + use.saved + use.block);
  std::string out = "<div class=\"parts\">", legend = "<p class=\"muted\">";
  for (const Bar& part : parts) {
    if (part.bytes == 0) continue;
    out += fmt::format(R"(<span class="{}" style="width:{:.2f}%"></span>)", part.kind,
                       100 * static_cast<double>(part.bytes) / sum);
    legend += fmt::format(R"(<span class="dot {}"></span>{}: {})", part.kind, part.name,
                          bytes_text(part.bytes));
  }
  return out + "</div>" + legend + "</p>";
}

std::string use_chart(const GraphReport& report) {
  const MemoryUse& use = report.memory;
  Plot plot(use.bytes.size(), use.block, 200);
  std::string out = plot.begin();
  size_t last = use.bytes.size() - 1;
  for (size_t i = 0; i < use.bytes.size();) {  // equal ones are one piece
    size_t end = i;
    while (end < last && use.bytes[end + 1] == use.bytes[i]) end++;
    out += plot.rectangle(i, end, 0, use.bytes[i], "use",
                          fmt::format("step {}: {} in use\n{}", i + 1, bytes_text(use.bytes[i]),
                                      report.listing.steps[i].name));
    i = end + 1;
  }
  double top = plot.y(use.block), peak = plot.y(use.bytes[use.peak]);
  double x = (plot.x(use.peak) + plot.x(use.peak + 1)) / 2;
  bool left = x < kWidth / 2;
  out += fmt::format(
      R"(<line class="block" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)"
      R"(<circle class="peak" cx="{:.1f}" cy="{:.1f}" r="3.5"/>)"
      R"(<text class="peak" x="{:.1f}" y="{:.1f}" text-anchor="{}">most: {} at step {}</text>)",
      kLeft, kWidth, top, top, x, peak, left ? x + 8 : x - 8, peak - 5, left ? "start" : "end",
      bytes_text(use.bytes[use.peak]), use.peak + 1);
  return out + "</svg>";
}

std::string block_chart(const GraphReport& report) {
  const MemoryUse& use = report.memory;
  std::vector<Life> lives = use.lives;
  auto area = [](const Life& life) { return life.bytes * int64_t(life.last + 1 - life.first); };
  std::stable_sort(lives.begin(), lives.end(),
                   [&](const Life& a, const Life& b) { return area(a) > area(b); });
  bool many = lives.size() > kMostLives;
  if (many) lives.resize(kMostLives);
  Plot plot(use.bytes.size(), use.block, 260);
  std::string out = plot.begin();
  for (const Life& life : lives) {
    const codegen::Listing::Step& maker = report.listing.steps[life.first];
    out += plot.rectangle(
        life.first, life.last, life.offset, life.offset + life.bytes,
        std::string("piece ") + kind_of(report, maker),
        fmt::format("%{} {}, {}\nsteps {} to {}, made by {}", life.value,
                    type_text(report.graph.values[life.value]), bytes_text(life.bytes),
                    life.first + 1, life.last + 1, maker.name));
  }
  out += "</svg>";
  if (many)
    out += fmt::format("<p class=\"muted\">The {} largest values are drawn.</p>", kMostLives);
  return out;
}

}  // namespace

std::string phases_chart(const std::vector<timing::Time>& phases) {
  int64_t end = 1;
  for (const timing::Time& phase : phases) end = std::max(end, phase.end);
  double unit = 100 / static_cast<double>(end);
  std::string out = "<div class=\"phases\">";
  for (const timing::Time& phase : phases) {
    out += fmt::format(
        R"(<div class="phase"><span style="padding-left:{}px">{}</span><span class="track">)"
        R"(<span class="bar" style="margin-left:{:.2f}%;width:{:.2f}%"></span></span>)"
        R"(<span class="number">{}</span><small>{}</small></div>)",
        14 * phase.depth, escaped(phase.name), static_cast<double>(phase.begin) * unit,
        static_cast<double>(phase.end - phase.begin) * unit, seconds_text(phase.seconds()),
        escaped(phase.note));
  }
  return out + "</div>";
}

std::string steps_chart(const GraphReport& report) {
  double unit = kWidth / std::max(report.total_seconds(), 1e-12), x = 0, skipped = 0;
  std::string out = fmt::format(R"(<svg class="chart" viewBox="0 0 {} 46">)", kWidth);
  for (size_t i = 0; i < report.seconds.size(); i++) {
    const codegen::Listing::Step& step = report.listing.steps[i];
    double width = report.seconds[i] * unit;
    skipped += width;  // pieces that cannot be seen are drawn with the next
    if (skipped < 0.1) continue;
    out += fmt::format(
        R"(<rect class="{}{}" x="{:.2f}" y="2" width="{:.2f}" height="42"><title>step {}: {})"
        "\n{}</title></rect>",
        skipped < 2 ? "" : "piece ", kind_of(report, step), x, skipped, i + 1,
        seconds_text(report.seconds[i]),
        escaped(step.parts > 1 ? fmt::format("{} x {}", step.parts, step.name) : step.name));
    x += skipped;
    skipped = 0;
  }
  return out + "</svg>" + legend_of_kinds(report);
}

std::string memory_chart(const GraphReport& report) {
  const MemoryUse& use = report.memory;
  std::string out = parts_chart(use);
  if (use.bytes.empty() || use.block == 0) return out;
  if (use.consuming < use.block) {
    out += fmt::format(
        "<p>Where the engine frees the graph, values lie where saved ones were that nothing reads "
        "any more: the block has {} then, not {}.</p>",
        bytes_text(use.consuming), bytes_text(use.block));
  }
  out +=
      "<p class=\"muted\">Everything between inputs and results lies in one block, whose bytes are "
      "used again. In use while each step runs; the dashed line is the size of the block:</p>";
  out += use_chart(report);
  return out + folded("Where each value lies in the block", block_chart(report));
}

const char* kind_of(const GraphReport& report, const codegen::Listing::Step& step) {
  if (step.is_tiled()) return "tiles";
  if (step.is_loop()) return "loop";
  switch (report.graph.operations[step.operations[0]].primitive->kind) {
    case ir::Kind::contract:
      return "product";
    case ir::Kind::convolve:
      return "convolution";
    case ir::Kind::reduce:
    case ir::Kind::scan:
      return "reduction";
    case ir::Kind::gather:
    case ir::Kind::scatter:
    case ir::Kind::sort:
    case ir::Kind::view:
      return "movement";
    default:
      return "other";
  }
}

std::string legend_of_kinds(const GraphReport& report) {
  static constexpr const char* kKinds[][2] = {{"loop", "compiled loop"},
                                              {"tiles", "tiles of rows"},
                                              {"product", "matrix product"},
                                              {"convolution", "convolution"},
                                              {"reduction", "reduction"},
                                              {"movement", "indexing"},
                                              {"other", "other"}};
  std::set<std::string_view> present;
  for (const codegen::Listing::Step& step : report.listing.steps) {
    present.insert(kind_of(report, step));
  }
  std::string out = "<p class=\"muted\">";
  for (const auto& [kind, text] : kKinds) {
    if (!present.contains(kind)) continue;
    out += fmt::format(R"(<span class="dot {}"></span>{})", kind, text);
  }
  return out + "</p>";
}

}  // namespace fg::explain
