#include "apps/train/train_output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace fg::apps {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// A line is written again in its place on a terminal, and a new one is begun every few seconds
// elsewhere.
class ProgressLine {
 public:
  void show(const std::string& text, bool last) {
    auto wait = std::chrono::duration<double>(terminal_ ? 0.1 : 5);
    if (!last && shown_ && Clock::now() - *shown_ < wait) return;
    shown_ = Clock::now();
    if (terminal_)
      fmt::print("\r\x1b[K{:.{}}", text, columns()), open_ = true;
    else
      fmt::print("{}\n", text);
    if (last) close();
    std::fflush(stdout);
  }
  void close() {  // the next output begins a line
    if (open_) fmt::print("\n");
    open_ = false;
  }

 private:
  // A line that is longer than the terminal is wide could not be written again.
  static int columns() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
  }

  bool terminal_ = isatty(STDOUT_FILENO) != 0;
  bool open_ = false;
  std::optional<Clock::time_point> shown_{};
};

std::string counted(int64_t count, const char* what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

std::string row_of(const char* name, const FirstSteps::Timed& timed, const std::string& note) {
  return fmt::format("  {:<26}{:>12}{:>12}   {}\n", name, milliseconds_text(timed.first),
                     milliseconds_text(timed.then), note);
}

class TextOutput : public TrainOutput {
 public:
  void begin(const TrainFacts& facts) override {
    const Config& c = facts.config;
    fmt::print("A character-level GPT: {}, width {}, {}, context {}: {} parameters\n",
               counted(c.layers, "layer"), c.width, counted(c.heads, "head"), c.context,
               grouped(facts.parameters));
    fmt::print("on {}: {} characters, {} different ones, the last {} held out\n", facts.text,
               grouped(facts.characters), facts.vocabulary, grouped(facts.held_out));
    fmt::print("{} of {}, seed {}, {}\n", counted(c.steps, "step"), counted(c.batch, "window"),
               c.seed, counted(facts.threads, "thread"));
    if (!facts.resumed.empty()) {
      fmt::print("goes on from {} after step {}\n", facts.resumed, grouped(facts.step));
    }
    if (!facts.replaces.empty()) fmt::print("{}\n", facts.replaces);
    fmt::print("\n");
    std::fflush(stdout);
  }
  void compared(const FirstSteps& first) override {
    fmt::print("  {:<26}{:>12}{:>12}\n", "one step", "the first", "another");
    fmt::print("{}", row_of("eager", first.eager, "one operation at a time"));
    bool found = first.start.how == Start::How::found;
    fmt::print("{}", row_of(found ? "compiled, warm" : "compiled, cold", first.compiled,
                            text_of(first.start)));
    if (first.again) {
      fmt::print("{}", row_of("compiled, warm", *first.again, text_of(first.again_start)));
    }
    fmt::print("  {}\n", first.same_bits
                             ? "the losses of eager and compiled steps are identical in bits"
                             : "THE LOSSES OF EAGER AND COMPILED STEPS DIFFER, which is a bug");
    if (found) {
      fmt::print("  this is a warm start: {} until the first step could run; compiling took {}\n",
                 milliseconds_text(first.start.milliseconds), milliseconds_text(first.start.saved));
    }
    fmt::print("\n");
    std::fflush(stdout);
    compared_ = true;
  }
  void started(const Start& start) override {
    if (!compared_) fmt::print("first step: {}\n", text_of(start));
  }
  void progress(const Progress& p) override {
    std::string text = fmt::format("step {:>5}/{}   loss {:.4f}", p.step, p.steps, p.loss);
    text += validation_;
    if (p.tokens_per_second > 0) {
      text += fmt::format("   {} tokens/s   {} left", grouped(std::llround(p.tokens_per_second)),
                          clock_text(p.seconds_left));
    }
    line_.show(text, p.step == p.steps);
  }
  void validated(const Curve::Point& point) override {
    validation_ = fmt::format("   held out {:.4f}", point.loss);
  }
  void reporting() override {
    line_.close();
    fmt::print("writing the report ...\n");
    std::fflush(stdout);
  }
  void end(const Summary& summary) override {
    line_.close();
    if (summary.signal) {
      fmt::print("stopped after step {} of {}; the checkpoint is written. To go on:\n  {}\n",
                 summary.step, summary.steps, summary.resume);
      return;
    }
    fmt::print("\nThe model writes:\n{}\n\n", indented(summary.sample));
    fmt::print("loss {:.4f}, held out {:.4f}, after {}; {:.1f} s, {} tokens/s\n", summary.loss,
               summary.validation, counted(summary.step, "step"), summary.seconds,
               grouped(std::llround(summary.tokens_per_second)));
    for (const std::string& note : summary.notes) fmt::print("{}\n", note);
    for (const std::string& file : summary.files) fmt::print("  {}\n", file);
  }

 private:
  static std::string indented(const std::string& text) {
    std::string out = "  | ";
    for (char c : text) {
      out += c;
      if (c == '\n') out += "  | ";
    }
    return out;
  }

  ProgressLine line_{};
  std::string validation_{};
  bool compared_ = false;
};

Json json_of(const Start& start) {
  const char* how[] = {"found", "compiled", "uncached"};
  return {{"how", how[static_cast<int>(start.how)]},
          {"ready_milliseconds", start.milliseconds},
          {"saved_milliseconds", start.saved}};
}

Json json_of(const FirstSteps::Timed& timed) {
  return {{"first_milliseconds", timed.first},
          {"step_milliseconds", timed.then},
          {"losses", timed.losses}};
}

class JsonOutput : public TrainOutput {
 public:
  void begin(const TrainFacts& facts) override {
    Json json = {{"event", "begin"},
                 {"config", apps::json_of(facts.config)},
                 {"text", facts.text},
                 {"characters", facts.characters},
                 {"held_out", facts.held_out},
                 {"vocabulary", facts.vocabulary},
                 {"parameters", facts.parameters},
                 {"threads", facts.threads},
                 {"step", facts.step}};
    if (!facts.resumed.empty()) json["resumed"] = facts.resumed;
    print(json);
  }
  void compared(const FirstSteps& first) override {
    Json json = {{"event", "compared"},
                 {"eager", json_of(first.eager)},
                 {"compiled", json_of(first.compiled)},
                 {"start", json_of(first.start)},
                 {"same_bits", first.same_bits}};
    if (first.again) {
      json["again"] = json_of(*first.again);
      json["again_start"] = json_of(first.again_start);
    }
    print(json);
  }
  void started(const Start& start) override {
    print({{"event", "started"}, {"start", json_of(start)}});
  }
  void progress(const Progress& p) override {
    auto now = Clock::now();
    if (p.step < p.steps && shown_ && now - *shown_ < std::chrono::seconds(1)) return;
    shown_ = now;
    print({{"event", "progress"},
           {"step", p.step},
           {"loss", p.loss},
           {"tokens_per_second", p.tokens_per_second},
           {"seconds_left", p.seconds_left}});
  }
  void validated(const Curve::Point& point) override {
    print({{"event", "validated"}, {"step", point.step}, {"loss", point.loss}});
  }
  void reporting() override {}
  void end(const Summary& summary) override {
    Json json = {{"event", summary.signal ? "stopped" : "finished"},
                 {"step", summary.step},
                 {"steps", summary.steps},
                 {"loss", summary.loss},
                 {"seconds", summary.seconds},
                 {"tokens_per_second", summary.tokens_per_second},
                 {"weights", summary.weights},
                 {"files", summary.files}};
    if (summary.signal) json["resume"] = summary.resume;
    if (!summary.signal) {
      json["validation_loss"] = summary.validation;
      json["sample"] = summary.sample;
      json["notes"] = summary.notes;
    }
    print(json);
  }

 private:
  static void print(const Json& json) {
    fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
  }
  std::optional<Clock::time_point> shown_{};
};

}  // namespace

std::unique_ptr<TrainOutput> make_output(bool json) {
  if (json) return std::make_unique<JsonOutput>();
  return std::make_unique<TextOutput>();
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
  return digits;
}

std::string clock_text(double seconds) {
  int64_t all = std::llround(std::max(0.0, seconds));
  if (all < 3600) return fmt::format("{}:{:02}", all / 60, all % 60);
  return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

std::string milliseconds_text(double milliseconds) {
  if (milliseconds < 100) return fmt::format("{:.1f} ms", milliseconds);
  return grouped(std::llround(milliseconds)) + " ms";
}

std::string text_of(const Start& start) {
  std::string time = milliseconds_text(start.milliseconds);
  switch (start.how) {
    case Start::How::found:
      return fmt::format("found in the cache, ready in {}", time);
    case Start::How::compiled:
      return fmt::format("compiled in {}", time);
    case Start::How::uncached:
      return fmt::format("compiled in {}, the cache was not used", time);
  }
  return time;
}

}  // namespace fg::apps
