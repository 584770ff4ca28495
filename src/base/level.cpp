#include "base/level.h"

#include "base/settings.h"

namespace fg {

namespace {

// The first feature of v3 that the CPU lacks, or nullptr.
const char* lacking_for_v3() {
#if FG_HAS_V3
  if (!__builtin_cpu_supports("avx2")) return "avx2";
  if (!__builtin_cpu_supports("fma")) return "fma";
  if (!__builtin_cpu_supports("f16c")) return "f16c";
  if (!__builtin_cpu_supports("bmi")) return "bmi";
  if (!__builtin_cpu_supports("bmi2")) return "bmi2";
  return nullptr;
#else
  return "avx2";
#endif
}

Level choose_level() {
  const std::string& wanted = settings::text(settings::Id::level);
  const char* lacking = lacking_for_v3();
  if (wanted == "auto") return lacking ? Level::baseline : Level::v3;
  if (wanted == "baseline") return Level::baseline;
  if (wanted != "v3") settings::fail_value(settings::Id::level);
  if (lacking) {
    settings::fail_value(settings::Id::level, std::string(", but this CPU has no ") + lacking +
                                                  " and can only baseline");
  }
  return Level::v3;
}

}  // namespace

Level level() {
  static const Level chosen = choose_level();
  return chosen;
}

const char* name(Level level) { return level == Level::v3 ? "v3" : "baseline"; }

}  // namespace fg
