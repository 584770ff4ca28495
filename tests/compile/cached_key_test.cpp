// The keys of compiled functions: parts that they must have, and keys without compiling. See also
// pytorch issues 144344 (an edited backward) and 194658 (opaque code).
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <map>

#include "base/build_id.h"
#include "base/fail.h"
#include "base/level.h"
#include "base/version.h"
#include "cache/entry.h"
#include "cache/local_store.h"
#include "cache/secret.h"
#include "compile/programs.h"
#include "compile/stored_programs.h"
#include "ir/params.h"
#include "tests/base/child_process.h"
#include "tests/compile/cached.h"

namespace fg {
namespace {

class CachedKeys : public Cached {
 protected:
  struct Answer {
    std::string numbers;
    int hits = -1, misses = -1;
  };
  // A program of the user, built with this number in one place.
  Answer run_built_with(int factor, const std::string& place) {
    Outcome done = run_command(fmt::format(
        "env FOREGRAD_CACHE=local FOREGRAD_CACHE_STRICT=1 FOREGRAD_CACHE_DIR={0}/programs "
        "XDG_CONFIG_HOME={0}/config {1}/rebuilt_{2} {3}",
        folder_.string(), FOREGRAD_REBUILT, factor, place));
    EXPECT_EQ(done.status, 0) << done.output;
    Answer answer;
    size_t last = done.output.rfind(' '), before = done.output.rfind(' ', last - 1);
    answer.numbers = done.output.substr(0, before);
    answer.hits = std::stoi(done.output.substr(before));
    answer.misses = std::stoi(done.output.substr(last));
    return answer;
  }
  cache::LocalStore open_store() const {
    cache::Config config = cache::config();
    return {config.directory, cache::user_key(config.key_directory), config.size_limit};
  }
};

// A backward and a hook are traced; of a rule too the graph is known, and the formula of a
// primitive, which no graph shows, is known by the build-id of the program.
TEST_F(CachedKeys, miss_when_a_program_is_rebuilt_with_another_number_in_one_place) {
  for (const char* place : {"function", "hook", "rule", "formula"}) {
    Answer two = run_built_with(2, place), three = run_built_with(3, place);
    EXPECT_EQ(two.misses, 2) << place;
    EXPECT_EQ(three.hits, 0) << place;
    EXPECT_NE(two.numbers, three.numbers) << place;
    for (int factor : {2, 3}) {
      Answer again = run_built_with(factor, place);
      EXPECT_EQ(again.numbers, factor == 2 ? two.numbers : three.numbers) << place;
      EXPECT_EQ(again.hits, 2) << place;
      EXPECT_EQ(again.misses, 0) << place;
    }
  }
}

Tensor hooked_loss(const Tensor& x, double factor) {
  Tensor y = x.sin();
  y.register_hook([factor](const Tensor& grad) { return grad * factor; });
  return (y * x).sum();
}

TEST_F(CachedKeys, can_be_asked_for_without_compiling) {
  Tensor x = some({6}).requires_grad_(), plain = some({6});
  auto check = [&](const auto& compiled, const Tensor& input) {
    cache::reset_stats();
    std::string key = compiled.cache_key(input);
    EXPECT_EQ(key.size(), 64u);
    EXPECT_EQ(cache::stats().lookups.size(), 0u);
    compiled(input);
    EXPECT_EQ(cache::stats().lookups.at(0).key, key);
    EXPECT_EQ(cache::stats().misses, 1u);
    EXPECT_EQ(compiled.cache_key(input), key);
    return key;
  };
  auto sine = compile([](const Tensor& in) { return (in.sin() * in).sum(); });
  std::string recorded = check(sine, x);
  EXPECT_NE(recorded, check(compile([](const Tensor& in) { return (in.cos() * in).sum(); }), x));
  EXPECT_NE(recorded, check(sine, plain));
  auto two = compile([](const Tensor& in) { return hooked_loss(in, 2); });
  auto three = compile([](const Tensor& in) { return hooked_loss(in, 3); });
  EXPECT_NE(check(two, x), check(three, x));
}

TEST_F(CachedKeys, of_numbers_that_are_arguments_and_of_steps) {
  Tensor x = some({6}).requires_grad_();
  auto asking = compile([](const Tensor& in, const Scalar& s) {
    return s.to_double() > 1 ? in * s : in + s;  // its value is asked for: a constant
  });
  EXPECT_NE(asking.cache_key(x, 2.0), asking.cache_key(x, 3.0));
  Tensor w = some({6}).requires_grad_();
  auto step = compile_step([&](const Tensor& in) { return (in * w).sin().sum(); }, Tensors{w},
                           AdamW{.lr = 0.1});
  std::string key = step.cache_key(some({6}));
  cache::reset_stats();
  step(some({6}));
  EXPECT_EQ(cache::stats().lookups.at(0).key, key);
}

TEST_F(CachedKeys, that_there_are_not_are_refused_with_the_reason) {
  compiler::ProgramOptions options;
  options.passes = false;
  compiler::CompiledFunction compiled([](const Tensor& in) { return in.sin(); },
                                      compiler::make_versions({}, options));
  try {
    compiled.cache_key(some({3}));
    FAIL() << "it has a key";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cache_key: the cache does not keep this function: no passes");
  }
}

// Code that cannot be written down is no error of the user: there is no entry, and the reason.
TEST_F(CachedKeys, of_code_that_cannot_be_written_down_have_no_entry_but_a_reason) {
  cache::Config config = cache::config();
  config.strict = false;
  cache::configure(config);
  cache::Key key{{{"kind", "forward"}}};
  compiler::store_or_count(
      key,
      []() -> compiler::StoredSections { fail(ErrorKind::value, "section 'plan' has no text"); },
      compiler::Stopwatch());
  EXPECT_EQ(
      cache::stats().bypasses.at("compiled code cannot be stored: section 'plan' has no text"), 1u);
  EXPECT_EQ(cache::stats().saved, 0u);
  EXPECT_FALSE(cache::find(key));
}

TEST_F(CachedKeys, do_not_depend_on_names_of_custom_functions) {
  struct One : autograd::Function<One> {
    static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2.0; }
    static Tensors backward(autograd::AutogradContext*, const Tensors& g) { return {g[0] * 5.0}; }
  };
  struct Another : autograd::Function<Another> {
    static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2.0; }
    static Tensors backward(autograd::AutogradContext*, const Tensors& g) { return {g[0] * 5.0}; }
  };
  Run one = run([](const Tensors& in) { return One::apply(in[0]).sum(); }, {{5}});
  Run another = run([](const Tensors& in) { return Another::apply(in[0]).sum(); }, {{5}});
  EXPECT_EQ(another.misses, 0u);
  EXPECT_EQ(another.bits, one.bits);
}

// Numbers in graphs are text, in keys and in entries: all bits must come back.
TEST_F(CachedKeys, have_all_bits_of_numbers) {
  std::set<std::string> texts;
  const uint64_t all[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001,
                          0x7ff0000000000001, 0x7ff0000000000000, 0x8000000000000000,
                          0x0000000000000000, 0x0000000000000001, 0x3fb999999999999a,
                          0x3fb999999999999b};
  for (uint64_t bits : all) {
    std::string text;
    ir::print_field(text, std::bit_cast<double>(bits));
    EXPECT_TRUE(texts.insert(text).second) << text;
    double back = 0;
    Scalar scalar = 0.0;
    ir::TextReader in(text), again(text);
    parse_field(in, back);
    parse_field(again, scalar);
    EXPECT_EQ(std::bit_cast<uint64_t>(back), bits) << text;
    EXPECT_EQ(std::bit_cast<uint64_t>(scalar.to_double()), bits) << text;
  }
  for (const char* wrong : {"nan7ff0000000000000", "nan7ff800000000000g"}) {
    ir::TextReader in(wrong);
    double value = 0;
    EXPECT_THROW(parse_field(in, value), Error) << wrong;
  }
}

TEST_F(CachedKeys, of_constants_know_what_is_no_number) {
  auto shifted = [](uint32_t bits) {
    return [bits](const Tensors& in) {
      Tensor constant = tensor({1.0, 2.0, 3.0}, kFloat32);
      constant.data_ptr<float>()[1] = std::bit_cast<float>(bits);
      return (in[0] * constant).sum();
    };
  };
  run(shifted(0x7fc00000), {{3}});
  EXPECT_EQ(run(shifted(0x7fc00000), {{3}}).misses, 0u);
  EXPECT_EQ(run(shifted(0x7fc00001), {{3}}).hits, 0u);
  EXPECT_EQ(run(shifted(0xffc00000), {{3}}).hits, 0u);
}

TEST_F(CachedKeys, name_the_library_and_the_level) {
  run([](const Tensors& in) { return in[0].sin().sum(); }, {{3}});
  for (const cache::Lookup& lookup : cache::stats().lookups) {
    std::map<std::string, std::string> fields;
    for (const cache::Field& field : lookup.fields) fields[field.name] = field.value;
    EXPECT_EQ(fields["library"], std::string(version()) + " " + build_id());
    EXPECT_EQ(fields["level"], name(level()));
  }
  EXPECT_EQ(cache::stats().lookups.size(), 2u);
  EXPECT_FALSE(build_id().empty());
}

// A warm function shows what a cold one does, and says where it has it from.
TEST_F(CachedKeys, lead_to_graphs_that_say_where_they_are_from) {
  Loss loss = [](const Tensors& in) { return (in[0].sin() * in[1]).sum(); };
  Run cold = run(loss, {{5}, {5}}), warm = run(loss, {{5}, {5}});
  const std::string label = "Its code is from the cache, where it is since it was compiled in";
  EXPECT_EQ(cold.page.find(label), std::string::npos);
  size_t first = warm.page.find(label);
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(warm.page.find(label, first + 1), std::string::npos);  // forward and backward
  auto graphs = [](const std::string& page) {
    std::vector<std::string> found;
    for (size_t at = 0; (at = page.find("<pre>graph(", at)) != std::string::npos; at++) {
      found.push_back(page.substr(at, page.find("</pre>", at) - at));
    }
    return found;
  };
  EXPECT_EQ(graphs(cold.page).size(), 2u);
  EXPECT_EQ(graphs(cold.page), graphs(warm.page));
}

TEST_F(CachedKeys, lead_to_entries_with_everything_that_was_decided) {
  run([](const Tensors& in) { return (in[0].sin() * in[1]).sum(); }, {{5}, {5}});
  cache::LocalStore store = open_store();
  std::map<std::string, std::set<std::string>> sections;
  for (const cache::StoredFile& file : store.list()) {
    Bytes content = store.read(file);
    cache::Entry entry = cache::unpack(content);
    auto& names = sections[cache::key_of(content).fields[0].value];
    for (const cache::Section& section : entry.sections) names.insert(section.name);
    EXPECT_EQ(entry.made.level, name(level()));
    EXPECT_EQ(entry.made.build_id.size(), 40u);
    EXPECT_GT(entry.made.compile_milliseconds, 0);
  }
  EXPECT_EQ(sections["forward"], (std::set<std::string>{"graph", "guards", "joint", "meta",
                                                        "object", "partition", "plan"}));
  EXPECT_EQ(sections["backward"], (std::set<std::string>{"graph", "meta", "object", "plan"}));
}

// An entry that only a bug of ours can write is not the user's error either.
TEST_F(CachedKeys, lead_to_entries_that_cannot_be_loaded_and_are_compiled_anew) {
  Loss loss = [](const Tensors& in) { return (in[0].sin() * in[1]).sum(); };
  Run cold = run(loss, {{5}, {5}});
  cache::Config config = cache::config();
  config.strict = false;
  cache::configure(config);
  std::vector<cache::Key> keys;
  {
    cache::LocalStore store = open_store();
    for (const cache::StoredFile& file : store.list()) {
      keys.push_back(cache::key_of(store.read(file)));
    }
  }
  cache::clear();
  for (const cache::Key& key : keys) {
    cache::Entry entry;
    entry.sections = {{"meta", "no meta"}, {"plan", "no plan"}};
    cache::store(key, entry);
  }
  Run again = run(loss, {{5}, {5}});
  EXPECT_EQ(again.bits, cold.bits);
  EXPECT_EQ(cache::stats().bypasses["unloadable code"], 2u);
}

}  // namespace
}  // namespace fg
