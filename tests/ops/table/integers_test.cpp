// Every function of the table that takes integers, called with the largest, the smallest and those
// that would be symbols, at every place: an error or a result, never a crash, a hang or an error
// that blames the library. Each function has a child process of its own, with little memory.
#include <algorithm>
#include <limits>
#include <new>

#include "tests/ops/table/table_cases.h"
#include "tests/ops/told.h"

namespace fg::table {
namespace {

using ir::Type;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max(),
                  kMin = std::numeric_limits<int64_t>::min(), kLowest = kMin + (1LL << 32);
constexpr int64_t kValues[] = {
    kMax,        kMax - 4, 1LL << 62, (1LL << 62) - 1, 1LL << 61,    kMin, kMin + 1, kMin + 100,
    kLowest - 1, kLowest,  -kMax / 2, 1LL << 32,       -(1LL << 32), -1,   0};
constexpr int64_t kPairs[] = {kMax, 1LL << 62, (1LL << 61) + 1, kLowest, 3};

// One integer among the arguments of a call: an argument, or an entry of a list.
struct Place {
  size_t argument, entry;
};

bool is_integer(Type type) {
  return type == Type::integer || type == Type::opt_integer || type == Type::dim ||
         type == Type::opt_dim || type == Type::scalar || type == Type::opt_scalar;
}
bool is_list(Type type) { return type == Type::dims || type == Type::opt_dims; }

// Integers that a sample leaves to their defaults are places too.
std::vector<Place> places_of(const FunctionInfo& info, const Arguments& arguments) {
  std::vector<Place> places;
  for (size_t i = 0; i < info.schema.argument_count; i++) {
    Type type = info.schema.arguments[i].type;
    auto* dims = i < arguments.size() ? std::get_if<Dims>(&arguments[i]) : nullptr;
    if (is_integer(type)) places.push_back({i, 0});
    if (is_list(type) && (!dims || dims->empty())) places.push_back({i, 0});
    for (size_t entry = 0; is_list(type) && dims && entry < dims->size(); entry++) {
      places.push_back({i, entry});
    }
  }
  return places;
}

// The argument with one integer changed. Refused values come as a Scalar, as Python gives them.
Value changed(const Value& argument, Type type, size_t entry, int64_t value) {
  auto* dims = std::get_if<Dims>(&argument);
  if (!is_list(type) || value < kLowest) return Scalar(value);
  if (!dims || entry >= dims->size()) return Dims{value};
  Dims copied = *dims;
  copied[entry] = value;
  return copied;
}

Arguments with_integer(const Arguments& arguments, const FunctionInfo& info, Place place,
                       int64_t value) {
  Arguments result;
  for (size_t i = 0; i < std::max(arguments.size(), place.argument + 1); i++) {
    const Value& given = i < arguments.size() ? arguments[i] : Value();
    if (i == place.argument)
      result.push_back(changed(given, info.schema.arguments[i].type, place.entry, value));
    else
      result.push_back(given);
  }
  return result;
}

std::string described(const Arguments& arguments) {
  std::string out;
  for (const Value& value : arguments) {
    if (auto* number = std::get_if<Scalar>(&value)) out += number->text() + " ";
    if (auto* dims = std::get_if<Dims>(&value)) out += text(*dims) + " ";
    if (auto* tensor = std::get_if<Tensor>(&value)) out += "tensor" + text(tensor->sizes()) + " ";
  }
  return out;
}

// Reads what came out, and its gradient.
void use(const FunctionInfo& info, const Arguments& arguments) {
  Tensors results = call(info, arguments);
  for (const Tensor& result : results) {
    if (result.numel() > 1 << 16) return;
    result.to_vector<double>();
  }
  if (info.gradient && !is_uninitialised(info)) run(info, arguments, true);
}

void attempt(const FunctionInfo& info, const Arguments& arguments, Told& told) {
  told.begin(info.full_name() + "(" + described(arguments) + ")");
  try {
    use(info, map_tensors(arguments, plain_copy));
  } catch (const Error& error) {
    std::string_view text = error.what();
    bool ours = error.kind() == ErrorKind::internal || text.empty() ||
                text.find("std::") != text.npos || text.find("vector::") != text.npos;
    if (ours) told.blame(error.what());
  } catch (const std::bad_alloc&) {
  } catch (const std::exception& error) {
    told.blame(error.what());
  }
}

void try_everything(const FunctionInfo& info, const Sample& sample, Told& told) {
  std::vector<Place> places = places_of(info, sample.arguments);
  auto with = [&](std::initializer_list<std::pair<Place, int64_t>> changes) {
    Arguments given = sample.arguments;
    for (auto [place, value] : changes) given = with_integer(given, info, place, value);
    attempt(info, given, told);
  };
  for (Place place : places) {
    for (int64_t value : kValues) with({{place, value}});
  }
  for (size_t i = 0; i < places.size(); i++) {
    for (size_t j = i + 1; j < places.size(); j++) {
      for (int64_t a : kPairs) {
        for (int64_t b : kPairs) with({{places[i], a}, {places[j], b}});
      }
    }
  }
}

class Integers : public testing::TestWithParam<const FunctionInfo*> {};
std::vector<const FunctionInfo*> with_integers() {
  std::vector<const FunctionInfo*> result;
  for (const FunctionInfo* info : ir::functions()) {
    bool any = false;
    for (size_t i = 0; i < info->schema.argument_count; i++) {
      any |= is_integer(info->schema.arguments[i].type) || is_list(info->schema.arguments[i].type);
    }
    if (any && info->samples) result.push_back(info);
  }
  return result;
}
INSTANTIATE_TEST_SUITE_P(Functions, Integers, testing::ValuesIn(with_integers()), test_name);

TEST_P(Integers, of_any_value_give_an_error_or_a_result) {
  Told told = told_by_child([&](Told& told) {
    for (const Sample& sample : GetParam()->samples()) try_everything(*GetParam(), sample, told);
  });
  EXPECT_EQ(told.status, 0) << "ended or hung in " << told.now;
  EXPECT_STREQ(told.wrong, "");
}

}  // namespace
}  // namespace fg::table
