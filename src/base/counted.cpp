#include "base/counted.h"

namespace fg {

static void (*release_in_language)(void* face) noexcept = nullptr;

void set_face_release(void (*release)(void* face) noexcept) { release_in_language = release; }

void release_face(void* face) noexcept { release_in_language(face); }

}  // namespace fg
