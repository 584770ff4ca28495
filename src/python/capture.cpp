// Captured functions: graphs, and versions that run in the place of a Python function.
#include <Python.h>
#include <frameobject.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "base/fail.h"
#include "base/terminal.h"
#include "compile/counters.h"
#include "compile/version.h"
#include "explain/page.h"
#include "ops/elementwise/number.h"
#include "passes/plan.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/watch.h"

namespace fg::python {

namespace {

// "file:line" of the innermost frame outside of this package. A place in the code is looked up
// once: finding its line takes longer than tracing the operation that it calls.
class UserLines {
 public:
  std::string now() {
    WithLock lock;
    nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame.ptr()) {
      auto* running = reinterpret_cast<PyFrameObject*>(frame.ptr());
      nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(running)));
      File& file = file_of(code);
      if (!file.is_ours) return line_of(file, running);
      frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(running)));
    }
    return "";
  }

 private:
  struct File {
    Held code;  // so that no other one gets its address
    std::string name;
    bool is_ours;
    std::unordered_map<int, std::string> lines{};
  };
  static int place_in(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLasti(frame);
#else
    return frame->f_lasti;
#endif
  }

  File& file_of(const nb::object& code) {
    auto found = files_.find(code.ptr());
    if (found != files_.end()) return found->second;
    static const std::string package =
        bytes_of(nb::module_::import_("foregrad").attr("__path__")[nb::int_(0)]);
    std::string name = bytes_of(code.attr("co_filename"));
    bool is_ours = name.starts_with(package);
    return files_.try_emplace(code.ptr(), File{Held(code), terminal_text(name), is_ours})
        .first->second;
  }
  static const std::string& line_of(File& file, PyFrameObject* frame) {
    std::string& line = file.lines[place_in(frame)];
    if (line.empty()) line = fmt::format("{}:{}", file.name, PyFrame_GetLineNumber(frame));
    return line;
  }

  std::unordered_map<PyObject*, File> files_;
};

Callback<std::string()> user_lines() {
  return [lines = std::make_shared<UserLines>()] { return lines->now(); };
}

// A Python function of a list of tensors that returns one.
struct PythonBody {
  Held function;
  Held types;  // of the arguments: what stands for a Parameter is one
  Tensors operator()(const Tensors& arguments) const {
    WithLock lock;
    nb::list given;
    for (size_t i = 0; i < arguments.size(); i++) {
      nb::object type = types.object()[nb::int_(i)];
      given.append(nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(type.ptr()), arguments[i])));
    }
    nb::object result = function.object()(given);
    return tensors_of(result.ptr(), "capture", true);
  }
  void* face() const { return function.face(); }
};

// The callable that a Python compiler made of a graph: called with tensors, or with one list of
// them that it may empty.
struct PythonCallable {
  Held function;
  bool boxed;
  Tensors operator()(Tensors inputs) const {
    WithLock lock;
    nb::list arguments = list_of(inputs);
    inputs.clear();
    nb::object result = boxed ? function.object()(arguments)
                              : function.object()(*nb::borrow<nb::args>(nb::tuple(arguments)));
    return tensors_of(result.ptr(), "a compiled graph", true);
  }
  void* face() const { return function.face(); }
};

struct PythonGraph {
  ir::Graph graph;
  std::shared_ptr<ir::Runner> runner;
};

struct PythonBackend {
  Held compiler;
  compiler::GraphCallable operator()(const ir::Graph& graph) const {
    WithLock lock;
    Unwatched unwatched;
    nb::list examples;
    for (ir::ValueId input : graph.inputs) {
      examples.append(nb::steal(wrap(ir::abstract_tensor_of(graph.values[input]))));
    }
    nb::object made =
        compiler.object()(PythonGraph{graph, std::make_shared<ir::Runner>(graph)}, examples);
    bool boxed = nb::cast<bool>(nb::getattr(made, "_boxed_call", nb::bool_(false)));
    return PythonCallable{Held(made), boxed};
  }
  void* face() const { return compiler.face(); }
};

bool is_named(const nb::object& compiler, const char* name) {
  return nb::isinstance<nb::str>(compiler) && bytes_of(compiler) == name;
}

compiler::Backend backend_of(const nb::object& compiler) {
  // These two are the library's own, which the cache knows.
  if (compiler.is_none() || is_named(compiler, "default") || is_named(compiler, "native")) {
    return {};
  }
  if (nb::isinstance<nb::str>(compiler)) {
    return compiler::backend_named(bytes_of(compiler));
  }
  return PythonBackend{Held(compiler)};
}

compiler::Partition partition_of(const std::string& name) {
  if (name == "default") return {};
  if (name == "min_cut") return passes::partition_min_cut;
  fail(ErrorKind::value, "partition: '{}' is not known; expected 'default' or 'min_cut'", name);
}

capture::OnLift on_lift_of(const nb::object& lift) {
  return [held = Held(lift)](const Tensor& tensor, bool exactly) {
    WithLock lock;
    nb::object answer = held.object()(nb::steal(wrap(tensor)), exactly);
    if (answer.is_none()) return capture::LiftedAs{};
    ir::Role role{ir::Role::Kind::parameter, nb::cast<int64_t>(answer[nb::int_(0)]),
                  bytes_of(answer[nb::int_(1)])};
    return capture::LiftedAs{nb::cast<Tensor>(answer[nb::int_(2)]), role};
  };
}

using compiler::Version;

std::vector<std::string> texts_of(const nb::object& list) {
  std::vector<std::string> texts;
  for (nb::handle each : list) texts.push_back(terminal_text(bytes_of(each)));
  return texts;
}

// The arguments of a Version, converted from Python.
struct VersionOf {
  PythonBody body;
  Tensors arguments;
  capture::TraceOptions trace;
  compiler::ProgramOptions options;

  VersionOf(nb::object body, nb::object arguments, nb::object types, nb::object names,
            nb::object lift, nb::object forward, nb::object backward, nb::object inference,
            const std::string& partition)
      : body{Held(body), Held(types)},
        arguments(tensors_of(arguments.ptr(), "capture")),
        trace{texts_of(names), on_lift_of(lift), user_lines()},
        options{backend_of(forward), backend_of(backward), partition_of(partition)} {
    options.inference = backend_of(inference);
    options.partition_name = partition;
    options.native = is_named(forward, "native");
  }
};

template <class... Args>
void make_version(Version* self, Args... args) {
  VersionOf of(std::move(args)...);
  new (self) Version(of.body, of.arguments, of.trace, of.options);
  self->forget_lifted();
}

template <class... Args>
std::string cache_key(Args... args) {
  VersionOf of(std::move(args)...);
  return Version::cache_key(of.body, of.arguments, of.trace, of.options);
}

Tensors run_graph(const PythonGraph& graph, const nb::args& args) {
  Tensors inputs = tensors_of(args.ptr(), "a graph"), results;
  MayRelease released;
  return graph.runner->run(std::move(inputs));
}

// One entry per input, operation and output, as an fx graph has them: (op, name, target, args).
nb::tuple nodes_of(const PythonGraph& self) {
  auto named = [](ir::ValueId value) -> nb::object {
    return value == ir::kNoValue ? nb::none()
                                 : nb::object(nb::str(fmt::format("%{}", value).c_str()));
  };
  auto all = [&](const std::vector<ir::ValueId>& values) {
    nb::list names;
    for (ir::ValueId value : values) names.append(named(value));
    return nb::tuple(names);
  };
  nb::list nodes;
  const ir::Graph& graph = self.graph;
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    nodes.append(nb::make_tuple("placeholder", named(graph.inputs[i]), graph.input_roles[i].text(),
                                nb::tuple()));
  }
  for (const ir::Operation& operation : graph.operations) {
    nodes.append(nb::make_tuple("call_function", named(operation.output),
                                operation.primitive ? operation.primitive->name : "constant",
                                all(operation.inputs)));
  }
  nodes.append(nb::make_tuple("output", "output", "output", all(graph.outputs)));
  return nb::tuple(nodes);
}

PythonGraph python_graph(const ir::Graph& graph) {
  return {graph, std::make_shared<ir::Runner>(graph)};
}

// (title, graph) of every graph of a version.
nb::list graphs_of(Version& self) {
  nb::list result;
  for (compiler::Programs::CompiledGraph& made : self.programs().compiled_graphs()) {
    result.append(nb::make_tuple(made.title, python_graph(made.graph)));
  }
  return result;
}

// The report of explain(); `versions` are (version, texts that say when Python uses it).
std::string explain(const nb::str& name, const nb::str& note, const nb::list& versions) {
  explain::Report report{terminal_text(bytes_of(name)), terminal_text(bytes_of(note))};
  for (nb::handle one : versions) {
    auto& version = nb::cast<Version&>(one[nb::int_(0)]);
    std::vector<std::string> conditions = texts_of(one[nb::int_(1)]);
    {
      MayRelease released;
      report.versions.push_back(explain::explain_version(version));
    }
    auto& all = report.versions.back().conditions;
    all.insert(all.end(), conditions.begin(), conditions.end());
  }
  return explain::page(report);
}

void add_graph(nb::module_& module) {
  nb::class_<PythonGraph>(module, "Graph")
      .def("__init__",
           [](PythonGraph* self, const nb::str& text) {
             ir::Graph graph = ir::parse_graph(bytes_of(text));
             new (self) PythonGraph(python_graph(graph));
           })
      .def_prop_ro("code", [](const PythonGraph& self) { return self.graph.text(); })
      .def("__str__", [](const PythonGraph& self) { return self.graph.text(); })
      .def("__call__",
           [](const PythonGraph& self, nb::args args) { return tuple_of(run_graph(self, args)); })
      .def_prop_ro("_nodes", nodes_of);
}

}  // namespace

void add_capture(nb::module_& module) {
  add_graph(module);
  nb::class_<Version>(module, "Version")
      .def("__init__",
           make_version<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object,
                        nb::object, nb::object, std::string>,
           nb::arg("body"), nb::arg("arguments"), nb::arg("types"), nb::arg("names"),
           nb::arg("lift"), nb::arg("forward").none(), nb::arg("backward").none(),
           nb::arg("inference").none(), nb::arg("partition"))
      .def_static("cache_key",
                  cache_key<nb::object, nb::object, nb::object, nb::object, nb::object, nb::object,
                            nb::object, nb::object, std::string>,
                  nb::arg("body"), nb::arg("arguments"), nb::arg("types"), nb::arg("names"),
                  nb::arg("lift"), nb::arg("forward").none(), nb::arg("backward").none(),
                  nb::arg("inference").none(), nb::arg("partition"))
      .def_prop_ro("runs_code_of_user", &Version::runs_code_of_user)
      .def("check_gradient",
           [](Version& self, nb::object inputs) {
             self.check_gradient(tensors_of(inputs.ptr(), "capture"));
           })
      .def_prop_ro("lifted",
                   [](const Version& self) {
                     nb::list result;
                     for (const ir::Role& role : self.lifted_roles()) result.append(role.index);
                     return result;
                   })
      .def("graph",
           [](Version& self, bool training) {
             return python_graph(self.programs().forward_graph(training));
           })
      .def("graphs", graphs_of)
      .def_prop_ro("plan", [](Version& self) { return self.programs().plan(); });
  module.def("number_tensor", [](nb::handle number) { return Tensor(scalar_of(number.ptr())); });
  module.def("float_operation", [](const std::string& name, nb::args operands) {
    Tensors of = tensors_of(operands.ptr(), "a float");
    return ops::float_operation(name, of[0], of.size() == 2 ? &of[1] : nullptr);
  });
  module.def("ask_number", [](const Tensor& number) { return number_in(number).to_double(); });
  module.def("take_asked_inputs", capture::take_asked_inputs);
  module.def("asked_inputs", capture::asked_inputs);
  module.def("is_abstract", [](const Tensor& tensor) { return tensor.is_abstract(); });
  module.def("set_number_type", [](nb::handle type) { traced_number_type = type.ptr(); });
  module.def("same_storage", [](const Tensor& a, const Tensor& b) {
    return a.impl()->storage == b.impl()->storage;
  });
  module.def("capture_counters", [] {
    compiler::Counters counters = compiler::counters();
    nb::dict reasons;
    for (const auto& [reason, count] : counters.reasons) reasons[reason.c_str()] = count;
    return nb::make_tuple(counters.captured, counters.calls, counters.eager, reasons,
                          counters.interpreted, counters.seconds);
  });
  module.def("explain", explain);
  module.def("check_backend",
             [](const nb::str& name) { (void)compiler::backend_named(bytes_of(name)); });
  module.def("count_capture", compiler::count_capture);
  module.def("reset_counters", compiler::reset_counters);
  module.def("count_eager",
             [](const nb::str& why) { return compiler::count_eager(bytes_of(why)); });
  module.def("is_capturing", [] { return is_capturing(); });
}

}  // namespace fg::python
