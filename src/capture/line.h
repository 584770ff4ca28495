// The line of C++ that captured code comes from: operations name the innermost Line alive.
//
//   fg::capture::Line here;  // this file and line
#pragma once

#include <source_location>
#include <string>

namespace fg::capture {

class Line {
 public:
  explicit Line(std::source_location at = std::source_location::current());
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

 private:
  friend std::string current_line();
  std::source_location at_;
  Line* outer_;
};
std::string current_line();  // "file:line" of the innermost one; empty without

}  // namespace fg::capture
