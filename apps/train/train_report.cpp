#include "apps/train/train_report.h"

#include <cmath>

#include "apps/train/train_curve.h"
#include "base/fail.h"
#include "base/version.h"
#include "compile/graphs.h"
#include "explain/page.h"
#include "ir/picture.h"
#include "ops/create/create.h"

namespace fg::apps {

using explain::escaped;

namespace {

constexpr double kSecondsToDraw = 20;

constexpr const char* kStyle = R"css(
.sample { white-space: pre-wrap; max-height: none; }
.curve { width: 100%; height: auto; display: block; }
.picture { border: 1px solid var(--line); border-radius: 8px; }
table.narrow { width: auto; } table.narrow th, table.narrow td { padding-right: 28px; }
)css";

// One block of the model, forward and backward: all blocks are alike, and the whole is too large
// to be looked at.
std::string graph_svg(Trainer& trainer, const Config& config) {
  const BlockImpl& block = trainer.model()->blocks->at<BlockImpl>(0);
  Tensor x = zeros({config.batch, config.context, config.width}).requires_grad_();
  ir::Graph graph =
      capture::joint([&](const Tensors& inputs) { return Tensors{block.forward(inputs[0])}; }, {x});
  return ir::svg(graph, kSecondsToDraw);
}

std::string card(const std::string& number, const std::string& what) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>", escaped(number),
                     escaped(what));
}

std::string cards_of(const TrainReport& report, const Summary& summary) {
  std::string out = "<div class=\"cards\">";
  out += card(fmt::format("{:.3f}", summary.loss), "loss of the last step");
  out += card(fmt::format("{:.3f}", summary.validation), "loss of what was held out");
  out += card(grouped(std::llround(summary.tokens_per_second)), "tokens per second");
  out += card(clock_text(summary.seconds), "minutes and seconds of training");
  const Start& start = report.first ? report.first->start : report.start;
  out += card(milliseconds_text(start.milliseconds), start.how == Start::How::found
                                                         ? "to find the first step in the cache"
                                                         : "to compile the first step");
  return out + "</div>";
}

std::string time_row(const char* name, const FirstSteps::Timed& timed, const std::string& note) {
  return fmt::format(
      "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>",
      name, milliseconds_text(timed.first), milliseconds_text(timed.then), escaped(note));
}

std::string times_of(const TrainReport& report) {
  if (!report.first) return fmt::format("<p>The step was {}.</p>", escaped(text_of(report.start)));
  const FirstSteps& first = *report.first;
  bool found = first.start.how == Start::How::found;
  std::string out =
      "<table class=\"narrow\"><tr><th>one step</th><th class=\"number\">the first</th>"
      "<th class=\"number\">another</th><th></th></tr>";
  out += time_row("eager", first.eager, "one operation at a time");
  out +=
      time_row(found ? "compiled, warm" : "compiled, cold", first.compiled, text_of(first.start));
  if (first.again) {
    out += time_row("compiled, warm", *first.again, text_of(first.again_start));
  }
  return out + fmt::format("</table><p>The losses of eager and compiled steps {}.</p>",
                           first.same_bits ? "are identical in bits" : "differ, which is a bug");
}

std::string config_of(const TrainFacts& facts) {
  std::string rows;
  auto row = [&](const std::string& name, const std::string& value) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>", escaped(name), escaped(value));
  };
  each_number([&](const char* name, auto number, auto) {
    row(name, fmt::format("{}", facts.config.*number));
  });
  row("parameters", grouped(facts.parameters));
  row("text", facts.text);
  row("characters",
      fmt::format("{}, {} different ones, the last {} held out", grouped(facts.characters),
                  facts.vocabulary, grouped(facts.held_out)));
  row("threads", std::to_string(facts.threads));
  if (!facts.resumed.empty()) row("went on after step", grouped(facts.step));
  return "<table class=\"narrow\">" + rows + "</table>";
}

std::string page_of(const TrainReport& report, const Summary& summary, const std::string& graph) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>foregrad train</title>"
      "<style>{}{}</style></head><body><h1>foregrad train</h1>"
      "<p class=\"muted\">A character-level GPT, trained by Foregrad {}.</p>",
      explain::kPageStyle, kStyle, version());
  out += cards_of(report, summary) + "<h3>Loss</h3>" + curve_svg(report.curve);
  out +=
      "<h3>What the model writes</h3><pre class=\"sample\">" + escaped(summary.sample) + "</pre>";
  out += "<h3>First steps</h3>" + times_of(report);
  out +=
      "<p><a href=\"step.html\">The compiled step</a>: where its time and memory go, its kernels "
      "and graph.</p>";
  out += "<h3>Training</h3>" + config_of(report.facts);
  out += "<h3>Graph of one block, forward and backward</h3>";
  if (!graph.empty()) out += "<div class=\"picture\">" + graph + "</div>";
  for (const std::string& note : summary.notes) {
    out += fmt::format("<p class=\"note\">{}</p>", escaped(note));
  }
  return out + "</body></html>\n";
}

}  // namespace

void write_report(const TrainFolder& folder, const TrainReport& report, Trainer& trainer,
                  Summary& summary) {
  auto write = [&](const char* name, const std::string& text) {
    folder.write(name, text);
    summary.files.push_back(folder.file(name));
  };
  write("loss.svg", curve_svg(report.curve));
  std::string graph;
  try {
    graph = graph_svg(trainer, report.facts.config);
    write("graph.svg", graph);
    graph.erase(0, graph.find("<svg"));
  } catch (const Error& error) {
    summary.notes.push_back(fmt::format("There is no picture of the graph: {}.", error.what()));
  }
  write("step.html", trainer.explain());
  write("report.html", page_of(report, summary, graph));
}

}  // namespace fg::apps
