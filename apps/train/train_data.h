// The text of a training as numbers of characters, and the batches taken from it.
#pragma once

#include <string>
#include <vector>

#include "apps/train/train_config.h"
#include "tensor/tensor.h"

namespace fg::apps {

// A text in UTF-8; a character is a code point.
struct Corpus {
  std::string path, digest;             // the digest is of its bytes
  std::vector<std::string> vocabulary;  // every character of the text once, in order
  std::vector<int32_t> tokens;          // places in the vocabulary

  std::string text(const std::vector<int64_t>& some) const;
  int64_t token_of(const std::string& character) const;  // 0 for one that does not occur
};
Corpus read_corpus(const std::string& path);
inline constexpr const char* kDocumentation = "Foregrad's documentation";
// The documentation that comes with Foregrad: beside the program in a build tree, in share/foregrad
// where it is installed.
std::string documentation_path();

struct Batch {
  Tensor inputs, targets;  // [windows, context]: the characters, and those that follow them
};

// The last tenth of the text is held out.
class Batches {
 public:
  Batches(const Corpus& corpus, const Config& config);

  // The batch of a step: a function of the seed and the step alone.
  Batch training(int64_t step) const;
  // Windows all over the part that is held out.
  std::vector<Batch> validation() const;
  int64_t held_out() const { return static_cast<int64_t>(tokens_.size()) - border_; }

 private:
  Batch at(const std::vector<int64_t>& starts) const;

  const std::vector<int32_t>& tokens_;  // of the corpus
  Config config_;
  int64_t border_;  // start of the part that is held out
};

}  // namespace fg::apps
