#include "capture/line.h"

#include <utility>

namespace fg::capture {

static thread_local Line* innermost = nullptr;

Line::Line(std::source_location at) : at_(at), outer_(std::exchange(innermost, this)) {}
Line::~Line() { innermost = outer_; }

std::string current_line() {
  if (!innermost) return {};
  return std::string(innermost->at_.file_name()) + ":" + std::to_string(innermost->at_.line());
}

}  // namespace fg::capture
