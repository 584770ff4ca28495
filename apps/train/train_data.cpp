#include "apps/train/train_data.h"

#include <algorithm>
#include <filesystem>

#include "base/digest.h"
#include "base/fail.h"
#include "base/file.h"
#include "ops/create/create.h"
#include "ops/random/random.h"
#include "ops/view/views.h"
#include "tensor/generator.h"

namespace fg::apps {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLargestText = size_t{1} << 30;
constexpr int64_t kValidationBatches = 8;
constexpr size_t kCodes = 0x110000;  // of Unicode

struct Character {
  size_t length = 0;  // in bytes; 0: there is none
  uint32_t code = 0;
};

Character character_at(std::string_view text, size_t place) {
  constexpr uint32_t kFirstBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07},
                     kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  uint32_t first = byte(place);
  size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || place + length > text.size()) return {};
  uint32_t code = first & kFirstBits[length];
  for (size_t i = 1; i < length; i++) {
    if ((byte(place + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(place + i) & 0x3f);
  }
  bool surrogate = code >= 0xd800 && code < 0xe000;
  if (first >= 0xf8 || code < kLowest[length] || code >= kCodes || surrogate) return {};
  return {length, code};
}

// Calls use(character, code) for each.
template <class F>
void each_character(std::string_view text, const std::string& path, const F& use) {
  for (size_t place = 0; place < text.size();) {
    Character found = character_at(text, place);
    if (found.length == 0) {
      fail("train: {} is not UTF-8: byte {} begins no character; convert it, as with iconv", path,
           place);
    }
    use(text.substr(place, found.length), found.code);
    place += found.length;
  }
}

}  // namespace

Corpus read_corpus(const std::string& path) {
  each_character(path, "the name of the text", [](auto, auto) {});  // it is part of checkpoints
  std::string bytes;
  try {
    bytes = read_file(path, kLargestText);
  } catch (const Error& error) {
    fail("train: the text: {}; --text FILE names another", error.what());
  }
  Corpus corpus{path, hex(digest(bytes)), {}, {}};
  std::vector<std::string_view> known(kCodes);
  each_character(bytes, path, [&](std::string_view text, uint32_t code) { known[code] = text; });
  std::vector<int32_t> places(kCodes);
  for (size_t code = 0; code < kCodes; code++) {
    if (known[code].empty()) continue;
    places[code] = static_cast<int32_t>(corpus.vocabulary.size());
    corpus.vocabulary.emplace_back(known[code]);
  }
  each_character(bytes, path, [&](auto, uint32_t code) { corpus.tokens.push_back(places[code]); });
  return corpus;
}

std::string Corpus::text(const std::vector<int64_t>& some) const {
  std::string result;
  for (int64_t token : some) result += vocabulary.at(static_cast<size_t>(token));
  return result;
}

int64_t Corpus::token_of(const std::string& character) const {
  auto found = std::find(vocabulary.begin(), vocabulary.end(), character);
  return found == vocabulary.end() ? 0 : found - vocabulary.begin();
}

std::string documentation_path() {
  constexpr const char* kName = "share/foregrad/documentation.txt";
  std::error_code none;
  fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  fs::path built = here / kName, installed = (here / ".." / kName).lexically_normal();
  for (const fs::path& path : {built, installed}) {
    if (fs::exists(path, none)) return path.lexically_proximate(fs::current_path(none)).string();
  }
  fail(
      "train: the documentation that comes with Foregrad is neither {} nor {}; give a text with "
      "--text FILE",
      built.string(), installed.string());
}

Batches::Batches(const Corpus& corpus, const Config& config)
    : tokens_(corpus.tokens), config_(config) {
  auto count = static_cast<int64_t>(tokens_.size());
  int64_t window = config.context + 1;
  if (count < 2 * window) {
    fail(
        "train: {} has {} characters; --context {} needs at least {}: a window to learn from and "
        "one that is held out",
        corpus.path, count, config.context, 2 * window);
  }
  border_ = count - std::max(count / 10, window);
}

Batch Batches::at(const std::vector<int64_t>& starts) const {
  std::vector<int64_t> inputs, targets;
  for (int64_t start : starts) {
    auto begin = tokens_.begin() + start;
    inputs.insert(inputs.end(), begin, begin + config_.context);
    targets.insert(targets.end(), begin + 1, begin + 1 + config_.context);
  }
  Dims sizes{static_cast<int64_t>(starts.size()), config_.context};
  return {tensor(inputs).view(sizes), tensor(targets).view(sizes)};
}

Batch Batches::training(int64_t step) const {
  // Numbers of their own: those of the default generator are the model's.
  constexpr uint64_t kStream = 0x9e3779b97f4a7c15;
  Generator generator(static_cast<uint64_t>(config_.seed) ^ kStream);
  generator.set_offset(static_cast<uint64_t>(step * config_.batch));
  Tensor starts = randint(border_ - config_.context, {config_.batch}, generator);
  const auto* data = starts.data_ptr<int64_t>();
  return at({data, data + config_.batch});
}

std::vector<Batch> Batches::validation() const {
  int64_t last = held_out() - config_.context - 1;  // the last start of a window
  int64_t count = std::min(kValidationBatches * config_.batch, last / config_.context + 1);
  std::vector<Batch> result;
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < count; i++) {
    starts.push_back(border_ + (count > 1 ? i * last / (count - 1) : 0));
    if (i + 1 < count && static_cast<int64_t>(starts.size()) < config_.batch) continue;
    result.push_back(at(starts));
    starts.clear();
  }
  return result;
}

}  // namespace fg::apps
