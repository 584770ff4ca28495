// What a fork must not interrupt: in the child, what another thread was in the middle of stays half
// done for ever.
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
