#include "base/level.h"

#include "base/settings.h"

namespace fg {

namespace {

#if FG_HAS_V3
// The first feature of a level that the CPU lacks, or nullptr. (The builtin takes literals only.)
const char* lacking_for_v3() {
  if (!__builtin_cpu_supports("avx2")) return "avx2";
  if (!__builtin_cpu_supports("fma")) return "fma";
  if (!__builtin_cpu_supports("f16c")) return "f16c";
  if (!__builtin_cpu_supports("bmi")) return "bmi";
  if (!__builtin_cpu_supports("bmi2")) return "bmi2";
  return nullptr;
}
const char* lacking_for_v4() {
  if (const char* lacking = lacking_for_v3()) return lacking;
  if (!__builtin_cpu_supports("avx512f")) return "avx512f";
  if (!__builtin_cpu_supports("avx512dq")) return "avx512dq";
  if (!__builtin_cpu_supports("avx512bw")) return "avx512bw";
  if (!__builtin_cpu_supports("avx512vl")) return "avx512vl";
  return nullptr;
}
#else
const char* lacking_for_v3() { return "avx2"; }
const char* lacking_for_v4() { return "avx512f"; }
#endif

const char* lacking_for(Level level) {
  switch (level) {
    case Level::v4:
      return lacking_for_v4();
    case Level::v3:
      return lacking_for_v3();
    default:
      return nullptr;
  }
}

Level best_level() {
  for (Level level : {Level::v4, Level::v3}) {
    if (!lacking_for(level)) return level;
  }
  return Level::baseline;
}

Level choose_level() {
  const std::string& wanted = settings::text(settings::Id::level);
  if (wanted == "auto") return best_level();
  for (Level level : {Level::baseline, Level::v3, Level::v4}) {
    if (wanted != name(level)) continue;
    const char* lacking = lacking_for(level);
    if (!lacking) return level;
    settings::fail_value(settings::Id::level, std::string(", but this CPU has no ") + lacking +
                                                  " and can only " + name(best_level()));
  }
  settings::fail_value(settings::Id::level);
}

}  // namespace

Level level() {
  static const Level chosen = choose_level();
  return chosen;
}

const char* name(Level level) {
  return level == Level::v4 ? "v4" : level == Level::v3 ? "v3" : "baseline";
}

}  // namespace fg
