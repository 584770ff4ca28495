#include "apps/train/train_checkpoint.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/fail.h"
#include "nn/safetensors.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"

namespace fg::apps {

namespace {

constexpr const char* kFormat = "foregrad train 1";
constexpr const char *kLosses = "curve.losses", *kValidated = "curve.validation.losses",
                     *kValidatedAt = "curve.validation.steps";

// The digest of all fields but itself.
std::string digest_of(const OrderedDict<Tensor>& tensors, const Metadata& metadata) {
  Hasher hasher;
  for (const auto& [name, value] : metadata) {
    if (name != "digest") hasher.add_field(name, value);
  }
  std::map<std::string, Tensor> sorted;
  for (const auto& item : tensors) sorted.emplace(item.key(), item.value());
  for (const auto& [name, value] : sorted) {
    Tensor bytes = value.detach().contiguous();
    size_t size = static_cast<size_t>(bytes.numel()) * item_size(bytes.dtype());
    hasher.add_field(fmt::format("{} {}{}", name, fg::name(bytes.dtype()), text(bytes.sizes())),
                     {static_cast<const char*>(bytes.data_ptr()), size});
  }
  return hex(hasher.finish());
}

template <class T>
T number_in(const Metadata& metadata, const char* name) {
  const std::string& text = metadata.at(name);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail("its {} is \"{}\", which is no number", name, text);
  }
  return value;
}

template <class T>
std::vector<T> numbers_in(const OrderedDict<Tensor>& tensors, const char* name, DType dtype) {
  const Tensor& values = tensors[name];
  if (values.dtype() != dtype || values.dim() != 1) {
    fail("{} is {}{}; expected a list of {}", name, fg::name(values.dtype()), text(values.sizes()),
         fg::name(dtype));
  }
  const T* data = values.data_ptr<T>();
  return {data, data + values.numel()};
}

Curve curve_in(const OrderedDict<Tensor>& tensors) {
  Curve curve{numbers_in<double>(tensors, kLosses, kFloat64), {}};
  auto steps = numbers_in<int64_t>(tensors, kValidatedAt, kInt64);
  auto losses = numbers_in<double>(tensors, kValidated, kFloat64);
  if (steps.size() != losses.size()) fail("its validation losses are not one per step");
  for (size_t i = 0; i < steps.size(); i++) curve.validation.push_back({steps[i], losses[i]});
  return curve;
}

Checkpoint checkpoint_in(const SafeTensors& file) {
  auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormat) {
    fail("it is no checkpoint of this version of foregrad train");
  }
  if (file.metadata.at("digest") != digest_of(file.tensors, file.metadata)) {
    fail("its digest is wrong: it was damaged");
  }
  Checkpoint result;
  const Metadata& metadata = file.metadata;
  result.config = config_from(nlohmann::ordered_json::parse(metadata.at("config")));
  result.step = number_in<int64_t>(metadata, "step");
  result.generator = {number_in<uint64_t>(metadata, "generator.seed"),
                      number_in<uint64_t>(metadata, "generator.offset")};
  result.text = metadata.at("text");
  result.text_digest = metadata.at("text.digest");
  result.vocabulary = metadata.at("vocabulary");
  result.curve = curve_in(file.tensors);
  for (const auto& item : file.tensors) {
    if (!item.key().starts_with("curve.")) result.state.insert(item.key(), item.value());
  }
  if (result.curve.losses.size() != static_cast<size_t>(result.step)) {
    fail("it has {} losses of {} steps", result.curve.losses.size(), result.step);
  }
  return result;
}

}  // namespace

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  OrderedDict<Tensor> tensors = checkpoint.state;
  std::vector<int64_t> steps;
  std::vector<double> losses;
  for (const Curve::Point& point : checkpoint.curve.validation) {
    steps.push_back(point.step);
    losses.push_back(point.loss);
  }
  tensors.insert(kLosses, tensor(checkpoint.curve.losses, kFloat64));
  tensors.insert(kValidatedAt, tensor(steps, kInt64));
  tensors.insert(kValidated, tensor(losses, kFloat64));
  Metadata metadata{{"format", kFormat},
                    {"config", json_of(checkpoint.config).dump()},
                    {"step", std::to_string(checkpoint.step)},
                    {"generator.seed", std::to_string(checkpoint.generator.seed)},
                    {"generator.offset", std::to_string(checkpoint.generator.offset)},
                    {"text", checkpoint.text},
                    {"text.digest", checkpoint.text_digest},
                    {"vocabulary", checkpoint.vocabulary}};
  metadata["digest"] = digest_of(tensors, metadata);
  try {
    save_safetensors(tensors, path, metadata);
  } catch (const Error& error) {
    fail("train: the checkpoint {}; make room, or choose another folder with --out", error.what());
  }
}

Checkpoint load_checkpoint(const std::string& path) {
  try {
    return checkpoint_in(load_safetensors(path));
  } catch (const std::exception& error) {  // those of JSON and of missing fields too
    fail("train: the checkpoint {} cannot be used: {}; start anew without --resume", path,
         error.what());
  }
}

void check_text(const Checkpoint& checkpoint, const Corpus& corpus, const std::string& path) {
  if (checkpoint.text_digest == corpus.digest) return;
  fail(
      "train: {} was trained on {} with the digest {:.12}, and {} has the digest {:.12}; give that "
      "text with --text, or start anew without --resume",
      path, checkpoint.text.empty() ? kDocumentation : checkpoint.text, checkpoint.text_digest,
      corpus.path, corpus.digest);
}

}  // namespace fg::apps
