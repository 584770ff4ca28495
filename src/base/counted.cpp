#include "base/counted.h"

namespace fg {

static LanguageHooks hooks{};

void set_language_hooks(LanguageHooks new_hooks) { hooks = new_hooks; }

void Counted::retain_language(uintptr_t object) noexcept {
  hooks.retain(reinterpret_cast<void*>(object));
}

void Counted::release_language(uintptr_t object) noexcept {
  hooks.release(reinterpret_cast<void*>(object));
}

}  // namespace fg
