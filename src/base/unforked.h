// Sections that a fork must not interrupt: work that another thread has half done then would stay
// half done in the child for ever.
#pragma once

namespace fg {

// While one exists, fork() in another thread waits. Only for sections that end by themselves and
// need neither Python's lock nor one that fork() takes.
class Unforked {
 public:
  Unforked();
  ~Unforked();
  Unforked(const Unforked&) = delete;
  Unforked& operator=(const Unforked&) = delete;
};

}  // namespace fg
