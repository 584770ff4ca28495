// An explanation as one page of HTML: no scripts, nothing from elsewhere, light and dark.
#pragma once

#include "explain/report.h"

namespace fg::explain {

std::string page(const Report& report);

// Its parts, each a piece of HTML.
std::string escaped(std::string_view text);
std::string bytes_text(int64_t bytes);         // "1.5 MiB"
std::string seconds_text(double seconds);      // "12.3 µs"
std::string compact(const std::string& name);  // "add add add mul" as "add×3 mul"
std::string plural(size_t count, const char* what);
std::string type_text(const ir::ValueInfo& info);
// A title over something that is folded away at first.
std::string folded(const std::string& title, const std::string& content, bool open = false);

// Bars in time: the phases of capturing and compiling a function.
std::string phases_chart(const std::vector<timing::Time>& phases);
// One call: a strip with a piece per step, as wide as its time.
std::string steps_chart(const GraphReport& report);
// Bytes in use per step, and the place of each value in the arena.
std::string memory_chart(const GraphReport& report);
// The kind of a step, for its colour: loop, product, convolution, reduction, movement, other.
const char* kind_of(const GraphReport& report, const codegen::Listing::Step& step);
std::string legend_of_kinds(const GraphReport& report);

std::string steps_table(const GraphReport& report);  // sorted by time
std::string kernels_list(const GraphReport& report);
std::string graph_picture(const ir::Graph& graph);  // or why there is none
std::string graph_table(const ir::Graph& graph);

extern const char* const kPageStyle;

}  // namespace fg::explain
