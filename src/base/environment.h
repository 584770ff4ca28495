// Variables of the environment. A program with more rights than the user who started it (setuid,
// setgid, file capabilities) reads none: they are that user's, and would steer the other's rights.
#pragma once

namespace fg {

bool has_foreign_rights();
// The variable's text; null when it is unset, or not to be believed.
const char* environment(const char* name);

}  // namespace fg
