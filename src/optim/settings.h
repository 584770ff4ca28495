// The settings of an optimiser as a list, from which FG_OPTIMIZER makes the plain struct fg::Name,
// libtorch's optim::NameOptions, and the rows that checks, Python and documentation read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace fg::optim {

using Betas = std::array<double, 2>;
using Coefficients = std::array<double, 3>;
using OptDouble = std::optional<double>;
using Epsilons = std::array<OptDouble, 2>;

// A text, or none.
class OptText {
 public:
  OptText() = default;
  OptText(std::nullopt_t) {}  // NOLINT: as std::optional
  OptText(std::string text)   // NOLINT
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  OptText(const char* text) : OptText(std::string(text)) {}  // NOLINT
  explicit operator bool() const { return text_ != nullptr; }
  const std::string& operator*() const { return *text_; }
  bool operator==(const OptText& other) const {
    return text_ && other.text_ ? *text_ == *other.text_ : text_ == other.text_;
  }

 private:
  std::shared_ptr<const std::string> text_;
};

// The value of a setting of any type.
using SettingValue = std::variant<double, bool, Betas, int64_t, Coefficients, Epsilons, OptText>;

// The numbers that a setting may be. PyTorch refuses the others.
enum class Range { any, at_least_0, at_least_0_below_1, from_0_to_1, at_most_0, at_least_1 };

template <class Settings>
struct Setting {
  const char* name;
  Range range;
  const char* documentation;
  std::variant<double Settings::*, bool Settings::*, Betas Settings::*, int64_t Settings::*,
               Coefficients Settings::*, Epsilons Settings::*, OptText Settings::*>
      field;
};

template <class Settings>
struct SettingsOf;  // `all`: its rows, in order

template <class Settings>
class EagerOptimizer;  // nn/optimizer.h

}  // namespace fg::optim

#define FG_SETTING_FIELD(Type, name, range, documentation, ...) Type name = {__VA_ARGS__};
#define FG_SETTING_ROW(Type, name, range, documentation, ...) \
  Setting<Self>{#name, Range::range, documentation, &Self::name},
#define FG_SETTING_OPTION(Type, name, range, documentation, ...) \
  auto& name(const Type& value) {                                \
    settings_.name = value;                                      \
    return *this;                                                \
  }                                                              \
  const Type& name() const { return settings_.name; }

// SETTINGS(SETTING) lists SETTING(type, name, range, documentation, default). The first is the
// rate.
#define FG_OPTIMIZER(Name, SETTINGS)                                          \
  namespace fg {                                                              \
  struct Name {                                                               \
    SETTINGS(FG_SETTING_FIELD)                                                \
  };                                                                          \
  }                                                                           \
  namespace fg::optim {                                                       \
  template <>                                                                 \
  struct SettingsOf<fg::Name> {                                               \
    using Self = fg::Name;                                                    \
    static constexpr Setting<Self> all[] = {SETTINGS(FG_SETTING_ROW)};        \
  };                                                                          \
  class Name##Options {                                                       \
   public:                                                                    \
    explicit Name##Options(double lr = fg::Name{}.lr) { settings_.lr = lr; }  \
    operator fg::Name() const { return settings_; } /* NOLINT: as settings */ \
    SETTINGS(FG_SETTING_OPTION)                                               \
                                                                              \
   private:                                                                   \
    fg::Name settings_;                                                       \
  };                                                                          \
  using Name = EagerOptimizer<fg::Name>;                                      \
  }
