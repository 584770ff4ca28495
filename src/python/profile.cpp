#include "python/profile.h"

#include <fmt/format.h>
#include <frameobject.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "base/level.h"
#include "python/bindings.h"
#include "python/face.h"
#include "tensor/allocator.h"
#include "tensor/format.h"

namespace fg::python {

namespace {

constexpr int kMostFrames = 30;

void add_shapes(PyObject* object, std::string& text) {
  if (!text.empty()) text += ';';
  if (is_tensor(object)) text += tuple_text(values(impl_of(object)->sizes));
}

// Sizes as tuples, separated by semicolons; nothing for what is no tensor.
std::string shapes_of(const Call& call) {
  std::string text;
  for (size_t i = 0; i < call.count + call.named(); i++) add_shapes(call.arguments[i], text);
  return text;
}

// The innermost frames, one per line.
std::string stack_now() {
  std::string text;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (int i = 0; i < kMostFrames && frame.is_valid() && !frame.is_none(); i++) {
    auto* at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    text += fmt::format("{}({}): {}\n", bytes_of(code.attr("co_filename")),
                        PyFrame_GetLineNumber(at), bytes_of(code.attr("co_name")));
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return text;
}

int64_t live_bytes() { return memory_stats().live_bytes; }

nb::list stop() {
  nb::list result;
  for (const timing::Record& one : timing::stop_recording()) {
    result.append(nb::make_tuple(one.time.category, text_of_bytes(one.time.name), one.time.begin,
                                 one.time.end, one.thread, one.memory, one.shapes,
                                 text_of_bytes(one.stack)));
  }
  return result;
}

// A block that the user names: record_function.
class RecordedBlock {
 public:
  explicit RecordedBlock(std::string name) : name_(std::move(name)) {}
  void enter() { operation_.emplace("user", name_); }
  void exit() { operation_.reset(); }

 private:
  std::string name_;
  std::optional<timing::Operation> operation_;
};

}  // namespace

void note_call(timing::Operation& operation, const Call& call) {
  const timing::RecorderOptions& options = timing::recorder_options();
  if (!options.shapes && !options.stacks) return;
  operation.note(options.shapes ? shapes_of(call) : "", options.stacks ? stack_now() : "");
}

void add_profile(nb::module_& module) {
  module.def("_start_recording", [](bool shapes, bool stacks, bool memory) {
    timing::start_recording(
        {.shapes = shapes, .stacks = stacks, .live_bytes = memory ? live_bytes : nullptr});
  });
  module.def("_stop_recording", stop);
  module.def("_is_recording", timing::is_recording);
  module.def("_now", timing::now);
  module.def("_level", [] { return name(level()); });
  module.def("_memory_stats", [] {
    MemoryStats now = memory_stats();
    nb::dict result;
    result["live_bytes"] = now.live_bytes;
    result["peak_live_bytes"] = now.peak_live_bytes;
    result["kept_bytes"] = now.kept_bytes;
    return result;
  });
  nb::class_<RecordedBlock>(module, "RecordedBlock")
      .def(nb::init<std::string>())
      .def("enter", &RecordedBlock::enter)
      .def("exit", &RecordedBlock::exit);
  module.def(
      "_set_print_options",
      [](int precision, int64_t threshold, int64_t edgeitems, int linewidth,
         std::optional<bool> sci_mode) {
        set_print_options({precision, threshold, edgeitems, linewidth, sci_mode});
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace fg::python
