// Variables of the environment. A program with more rights than its user (setuid, setgid, file
// capabilities) reads none: they belong to that user, and would steer the program's rights.
#pragma once

namespace fg {

bool has_foreign_rights();
// The variable's text; null when it is unset, or not to be believed.
const char* environment(const char* name);

}  // namespace fg
