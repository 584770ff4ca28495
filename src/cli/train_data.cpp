#include "cli/train_data.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/digest.h"
#include "base/fail.h"
#include "base/file.h"
#include "ops/create.h"
#include "ops/random.h"
#include "ops/views.h"
#include "tensor/generator.h"

namespace fg::cli {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLargestText = size_t{1} << 30;
constexpr int64_t kValidationBatches = 8;

// The bytes of the character at `place`; 0 where there is none.
size_t length_of(std::string_view text, size_t place) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(place);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  if (place + length > text.size()) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((byte(place + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::vector<std::string_view> characters_of(std::string_view text, const std::string& path) {
  std::vector<std::string_view> result;
  for (size_t place = 0; place < text.size();) {
    size_t length = length_of(text, place);
    if (length == 0) {
      fail("train: {} is not UTF-8: byte {} begins no character; convert it, as with iconv", path,
           place);
    }
    result.push_back(text.substr(place, length));
    place += length;
  }
  return result;
}

}  // namespace

Corpus read_corpus(const std::string& path) {
  characters_of(path, "the name of the text");  // it is part of checkpoints
  std::string bytes;
  try {
    bytes = read_file(path, kLargestText);
  } catch (const Error& error) {
    fail("train: the text: {}; --text FILE names another", error.what());
  }
  Corpus corpus{path, hex(digest(bytes)), {}, {}};
  std::vector<std::string_view> characters = characters_of(bytes, path);
  std::map<std::string_view, int64_t> places;
  for (std::string_view character : characters) places.emplace(character, 0);
  for (auto& [character, place] : places) {
    place = static_cast<int64_t>(corpus.vocabulary.size());
    corpus.vocabulary.emplace_back(character);
  }
  for (std::string_view character : characters) corpus.tokens.push_back(places.at(character));
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
  int64_t last = held_out() - config_.context - 1;  // where a window may begin
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

}  // namespace fg::cli
