// Helpers of tests of compiled functions with the cache: an empty store, and one compiled function
// after the other in it.
#pragma once

#include <fmt/format.h>
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "cache/cache.h"
#include "tests/passes/random_graph.h"

namespace fg {

using autograd::GraphPoints;
using Loss = std::function<Tensor(const Tensors&)>;

inline Tensor some(const Dims& sizes) {
  int64_t count = product(sizes).value();
  return (arange(0, count, 1, kFloat32) * 12.9898).sin().mul(0.5).reshape(sizes);
}

// An empty store in a folder of its own, strict.
class Cached : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("cached_{}_{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    cache::Config config;
    config.remote = false;
    config.directory = folder_ / "store";
    config.key_directory = folder_ / "key";
    config.memory_limit = 0;  // hits are read from files
    config.strict = true;
    cache::configure(config);
    cache::reset_stats();
  }
  void TearDown() override {
    cache::Config off;
    off.local = off.remote = false;
    cache::configure(off);
    std::filesystem::remove_all(folder_);
  }

  struct Run {
    std::vector<std::string> bits;
    uint64_t hits, misses;
    std::string page;  // names the phases of all that was made
    bool has_phase(const std::string& name) const {
      return page.find(">" + name + "<") != std::string::npos;
    }
  };
  // A new compiled function: nothing but the cache connects it to earlier ones.
  Run run(const Loss& loss, const std::vector<Dims>& sizes, bool grad = true) {
    cache::Stats before = cache::stats();
    Run result;
    Tensors inputs;
    for (const Dims& one : sizes) inputs.push_back(some(one).requires_grad_(grad));
    auto compiled = compile([&loss](const Tensors& in) { return loss(in); });
    Tensor value = compiled(inputs);
    result.bits.push_back(passes::bits(value.detach()));
    if (grad) {
      for (const Tensor& g :
           autograd::grad({value.sum()}, GraphPoints(inputs.begin(), inputs.end()), {},
                          {.allow_unused = true})) {
        result.bits.push_back(g.defined() ? passes::bits(g) : "none");
      }
    }
    result.page = compiled.explain();
    cache::Stats after = cache::stats();
    result.hits = after.hits() - before.hits();
    result.misses = after.misses - before.misses;
    return result;
  }

  std::filesystem::path folder_;
};

}  // namespace fg
