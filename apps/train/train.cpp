#include "apps/train/train.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "apps/train/train_report.h"
#include "base/fail.h"
#include "base/pool.h"

namespace fg::apps {

namespace fs = std::filesystem;

namespace {

constexpr const char* kDefaultFolder = "foregrad-train";
constexpr int64_t kSampleLength = 500;

// The training itself: where it is, and one step after the other.
class Training {
 public:
  Training(const Config& config, int64_t vocabulary, const Batches& batches)
      : config_(config),
        batches_(batches),
        validation_(batches.validation()),
        trainer_(config, vocabulary) {}

  void resume(const Checkpoint& from) {
    trainer_.load(from.state);
    default_generator().set_state(from.generator);
    step_ = from.step;
    curve_ = from.curve;
  }
  // The contents of a checkpoint, less the text.
  Checkpoint checkpoint() const {
    Checkpoint result{config_, step_, default_generator().get_state()};
    result.state = trainer_.state();
    result.curve = curve_;
    return result;
  }

  bool done() const { return step_ == config_.steps; }
  void step(TrainOutput& output);
  void validate(TrainOutput& output) {
    curve_.validation.push_back({step_, validation_loss(trainer_.model(), validation_)});
    output.validated(curve_.validation.back());
  }

  int64_t at() const { return step_; }
  const Curve& curve() const { return curve_; }
  const Start& start() const { return start_; }
  Trainer& trainer() { return trainer_; }
  double seconds() const { return seconds_; }
  double tokens_per_second() const {
    auto tokens = static_cast<double>(timed_ * config_.batch * config_.context);
    return timed_ == 0 ? 0 : tokens / seconds_;
  }

 private:
  Config config_;
  const Batches& batches_;
  std::vector<Batch> validation_;
  Trainer trainer_;
  int64_t step_ = 0, timed_ = 0;
  double seconds_ = 0;  // of the steps but for the first, which is made ready first
  Start start_{};
  bool started_ = false;
  Curve curve_{};
};

void Training::step(TrainOutput& output) {
  Batch batch = batches_.training(step_);
  StartWatch watch;
  auto began = std::chrono::steady_clock::now();
  double loss = trainer_.step(step_, batch);
  if (started_) {
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    seconds_ += took.count();
    timed_++;
  } else {
    start_ = watch.stop();
    output.started(start_);
    started_ = true;
  }
  if (!std::isfinite(loss)) {
    fail("train: the loss of step {} is {}; try a smaller --lr than {}", step_ + 1, loss,
         config_.lr);
  }
  curve_.losses.push_back(loss);
  step_++;
  double rate = tokens_per_second(), left = static_cast<double>(config_.steps - step_);
  double each = static_cast<double>(config_.batch * config_.context);
  output.progress({step_, config_.steps, loss, rate, rate > 0 ? left * each / rate : 0});
}

// A training to be done: its numbers, its text and its folder.
struct Setup {
  Config config;
  Corpus corpus;
  std::string out, text;  // no text: the documentation
  std::string resumed;    // the checkpoint to go on from
  std::optional<Checkpoint> checkpoint;
};

std::string checkpoint_in(const std::string& folder) { return folder + "/checkpoint.safetensors"; }

Setup setup_of(const TrainOptions& options) {
  Setup setup;
  setup.out = options.out.empty() ? kDefaultFolder : options.out;
  if (options.resume) {
    setup.resumed = options.resume->empty()             ? checkpoint_in(setup.out)
                    : fs::is_directory(*options.resume) ? checkpoint_in(*options.resume)
                                                        : *options.resume;
    setup.checkpoint = load_checkpoint(setup.resumed);
    setup.text = setup.checkpoint->text;
    fs::path folder = fs::path(setup.resumed).parent_path();
    if (options.out.empty()) setup.out = folder.empty() ? "." : folder.string();
  }
  if (!options.text.empty()) setup.text = fs::absolute(options.text).lexically_normal();
  setup.config = setup.checkpoint ? resumed_config(options, setup.checkpoint->config,
                                                   setup.checkpoint->step, setup.resumed)
                                  : config_of(options);
  setup.corpus = read_corpus(setup.text.empty() ? documentation_path() : setup.text);
  if (setup.checkpoint) check_text(*setup.checkpoint, setup.corpus, setup.resumed);
  return setup;
}

// Warns before overwriting an unfinished training.
std::string replaced_note(const std::string& path, const std::string& program) {
  try {
    Checkpoint old = load_checkpoint(path);
    if (old.step >= old.config.steps) return "";
    return fmt::format(
        "starts anew: {} of step {} of {} will be replaced; {} train --resume {} "
        "would go on from there",
        path, old.step, old.config.steps, program, path);
  } catch (const Error&) {
    return "";  // there is none, or none that could be resumed
  }
}

TrainFacts facts_of(const Setup& setup, const Batches& batches) {
  TrainFacts facts{setup.config, setup.text.empty() ? kDocumentation : setup.text};
  facts.characters = static_cast<int64_t>(setup.corpus.tokens.size());
  facts.held_out = batches.held_out();
  facts.vocabulary = static_cast<int64_t>(setup.corpus.vocabulary.size());
  facts.parameters = parameter_count(setup.config, facts.vocabulary);
  facts.threads = pool::num_threads();
  facts.resumed = setup.resumed;
  if (setup.checkpoint) facts.step = setup.checkpoint->step;
  return facts;
}

void save(const Setup& setup, const Training& training, const TrainFolder& folder) {
  Checkpoint checkpoint = training.checkpoint();
  checkpoint.text = setup.text;
  checkpoint.text_digest = setup.corpus.digest;
  for (const std::string& character : setup.corpus.vocabulary) checkpoint.vocabulary += character;
  save_checkpoint(checkpoint, folder.checkpoint());
}

// Until it is finished or stopped; a checkpoint is there then.
void run(Training& training, const Setup& setup, const TrainFolder& folder, int64_t every,
         TrainOutput& output) {
  while (!training.done() && !StopSignals::caught()) {
    training.step(output);
    bool now = training.at() % every == 0;
    if (now || training.done()) training.validate(output);
    if (now && !training.done()) save(setup, training, folder);
  }
  save(setup, training, folder);
}

std::string quoted(const std::string& word) {
  if (word.find_first_of(" \t'\"\\$&;|<>()*?!") == word.npos) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Summary summary_of(Training& training, const Setup& setup, const TrainFolder& folder) {
  Summary summary{.step = training.at(), .steps = setup.config.steps};
  const Curve& curve = training.curve();
  summary.loss = curve.losses.empty() ? NAN : curve.losses.back();
  summary.seconds = training.seconds();
  summary.tokens_per_second = training.tokens_per_second();
  summary.weights = digest_of(training.trainer().model());
  summary.files.push_back(folder.checkpoint());
  if (!training.done()) return summary;
  summary.validation = curve.validation.back().loss;
  summary.sample = setup.corpus.text(
      sample(training.trainer().model(), setup.config, setup.corpus.token_of("\n"), kSampleLength));
  return summary;
}

}  // namespace

int train(const TrainOptions& options) {
  check_process(options);
  if (options.threads) pool::set_num_threads(static_cast<int>(*options.threads));
  Setup setup = setup_of(options);
  Batches batches(setup.corpus, setup.config);
  TrainFolder folder(setup.out);
  TrainFacts facts = facts_of(setup, batches);
  if (!setup.checkpoint) facts.replaces = replaced_note(folder.checkpoint(), options.program);
  std::unique_ptr<TrainOutput> output = make_output(options.json);
  output->begin(facts);

  std::optional<StopSignals> signals(std::in_place);
  std::optional<FirstSteps> first;
  if (options.compare && !setup.checkpoint) {
    first = compare_first_steps(setup.config, facts.vocabulary, batches);
    output->compared(*first);
  }
  Training training(setup.config, facts.vocabulary, batches);
  if (setup.checkpoint) training.resume(*setup.checkpoint);
  run(training, setup, folder, options.checkpoint_every, *output);

  Summary summary = summary_of(training, setup, folder);
  if (!training.done()) {
    summary.signal = StopSignals::caught();
    summary.resume =
        fmt::format("{} train --resume {}", options.program, quoted(folder.checkpoint()));
    output->end(summary);
    return 128 + summary.signal;
  }
  signals.reset();  // everything is on the disk
  if (options.report) {
    output->reporting();
    write_report(folder, {facts, training.curve(), first, training.start()}, training.trainer(),
                 summary);
  }
  output->end(summary);
  return 0;
}

}  // namespace fg::apps
