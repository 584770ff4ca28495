// The table of functions is sane: names, documentation, alias marks.
#include "ir/schema.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/registry.h"

namespace fg::ir {
namespace {

TEST(Schema, names_with_their_overloads_are_unique) {
  std::set<std::string> names;
  for (const FunctionInfo* info : functions()) {
    EXPECT_TRUE(names.insert(info->full_name()).second) << info->full_name();
  }
  EXPECT_GT(names.size(), 50u);
}

TEST(Schema, the_table_is_in_order_and_finds_every_function) {
  for (size_t i = 0; i < functions().size(); i++) {
    const FunctionInfo* info = functions()[i];
    EXPECT_EQ(find_function(info->full_name()), info);
    if (i > 0) {
      EXPECT_LT(functions()[i - 1]->full_name(), info->full_name());
    }
  }
}

TEST(Schema, every_function_is_documented_by_a_sentence) {
  for (const FunctionInfo* info : functions()) {
    std::string text = info->documentation;
    EXPECT_GT(text.size(), 8u) << info->full_name();
    EXPECT_TRUE(!text.empty() && text.back() == '.') << info->full_name() << ": " << text;
  }
}

TEST(Schema, text_and_parse_agree) {
  Schema schema = parse_schema(
      "f.g(Tensor(a) self, int[]? dim=[1, -2], *, str mode='a,b') -> (Tensor(a) x, Tensor y)");
  EXPECT_EQ(schema.name, "f");
  EXPECT_EQ(schema.overload, "g");
  ASSERT_EQ(schema.argument_count, 3u);
  EXPECT_EQ(schema.arguments[0].alias, "a");
  EXPECT_EQ(schema.arguments[1].type, Type::opt_dims);
  EXPECT_EQ(schema.arguments[1].default_text, "[1, -2]");
  EXPECT_EQ(schema.arguments[2].default_text, "'a,b'");
  EXPECT_TRUE(schema.arguments[2].keyword_only);
  EXPECT_FALSE(schema.arguments[1].keyword_only);
  EXPECT_EQ(schema.required(), 1u);
  ASSERT_EQ(schema.return_count, 2u);
  EXPECT_EQ(schema.returns[1].name, "y");
}

// ---- alias marks

std::vector<const Storage*> storages(const Value& value) {
  std::vector<const Storage*> found;
  auto add = [&](const Tensor& tensor) {
    if (tensor.defined()) found.push_back(tensor.impl()->storage.get());
  };
  if (auto* tensor = std::get_if<Tensor>(&value)) add(*tensor);
  if (auto* list = std::get_if<Tensors>(&value)) {
    for (const Tensor& tensor : *list) add(tensor);
  }
  if (auto* values = std::get_if<std::vector<Value>>(&value)) {
    for (const Value& element : *values) {
      for (const Storage* storage : storages(element)) found.push_back(storage);
    }
  }
  return found;
}

bool shares_memory(const FunctionInfo& info, const Sample& sample) {
  std::set<const Storage*> inputs;
  for (const Value& argument : sample.arguments) {
    for (const Storage* storage : storages(argument)) inputs.insert(storage);
  }
  for (const Storage* storage : storages(info.call(info, sample.arguments))) {
    if (inputs.contains(storage)) return true;
  }
  return false;
}

TEST(Schema, a_function_with_an_alias_mark_returns_a_view_and_no_other_does) {
  // PyTorch's schema has no mark for these either, though they may return self or a view of it.
  const std::set<std::string_view> unmarked = {"alpha_dropout",   "dropout",
                                               "einsum",          "feature_alpha_dropout",
                                               "feature_dropout", "_unsafe_view"};
  for (const FunctionInfo* info : functions()) {
    if (!info->samples || unmarked.contains(info->schema.name)) continue;
    bool marked = !info->schema.returns[0].alias.empty(), shares = false;
    for (const Sample& sample : info->samples()) shares |= shares_memory(*info, sample);
    EXPECT_EQ(shares, marked) << info->full_name();
  }
}

}  // namespace
}  // namespace fg::ir
