// Sections that a fork must not interrupt: what another thread has half done at that time stays so
// in the child for ever.
#pragma once

namespace fg {

// While one exists, fork() in another thread waits. For what ends by itself, and needs neither
// Python's lock nor one that fork() takes.
class Unforked {
 public:
  Unforked();
  ~Unforked();
  Unforked(const Unforked&) = delete;
  Unforked& operator=(const Unforked&) = delete;
};

}  // namespace fg
