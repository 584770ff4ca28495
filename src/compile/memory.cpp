// Comparing what a function does now with what was captured of it.
#include "capture/identity.h"
#include "compile/version.h"

namespace fg::compiler {

TraceMemory::TraceMemory(const capture::Trace& trace, size_t arguments) {
  capture::AnonymousGraph graph = capture::anonymous(trace.tracer.graph);
  text = std::move(graph.text) + graph.constants;
  for (size_t i = arguments; i < trace.inputs().size(); i++) {
    lifted.push_back(trace.inputs()[i].real);
    places.push_back(trace.inputs()[i].role.index);
  }
}

bool TraceMemory::same(const TraceMemory& other, size_t parameters) const {
  if (text != other.text || places != other.places) return false;
  for (size_t i = 0; i < lifted.size(); i++) {
    bool anew = static_cast<size_t>(places[i]) < parameters;
    if (!anew && !lifted[i].is_same(other.lifted[i])) return false;
  }
  return true;
}

bool Version::is_current(const capture::Body& body, const Tensors& arguments,
                         const capture::TraceOptions& options, size_t parameters) const {
  auto trace = capture::trace(body, arguments, options);
  return TraceMemory(*trace, arguments.size()).same(memory_, parameters);
}

}  // namespace fg::compiler
