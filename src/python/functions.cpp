#include "python/functions.h"

#include <nanobind/stl/string.h>

#include <map>

#include "base/fail.h"
#include "base/recorder.h"
#include "ops/copy/copy.h"
#include "python/face.h"
#include "python/profile.h"
#include "python/types.h"

namespace fg::python {

using ir::Type;
using ir::Value;

// ---- results

namespace {

// Result types with names, as torch.return_types.max: one per function.
PyObject* result_repr(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  std::string text = std::string(type->tp_name) + "(";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    nb::object item = nb::steal(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
    if (!item.is_valid()) return nullptr;
    text += fmt::format("{}\n{}={}", i > 0 ? "," : "", type->tp_members[i].name,
                        nb::borrow<nb::str>(item).c_str());
  }
  return PyUnicode_FromString((text + ")").c_str());
}

PyTypeObject* result_type_of(const ir::Schema& schema) {
  static std::map<std::string_view, PyTypeObject*> types;
  PyTypeObject*& type = types[schema.name];
  if (type) return type;
  auto* fields = new PyStructSequence_Field[schema.return_count + 1]{};  // kept by the type
  for (size_t i = 0; i < schema.return_count; i++) {
    fields[i].name = strdup(std::string(schema.returns[i].name).c_str());
  }
  char* name = strdup(("foregrad.return_types." + std::string(schema.name)).c_str());
  PyStructSequence_Desc desc{name, nullptr, fields, static_cast<int>(schema.return_count)};
  type = PyStructSequence_NewType(&desc);
  if (!type) nb::raise_python_error();
  type->tp_repr = result_repr;
  return type;
}

PyObject* to_python(const Value& value, const ir::Schema& schema);

PyObject* several_to_python(const std::vector<Value>& values, const ir::Schema& schema) {
  auto count = static_cast<Py_ssize_t>(values.size());
  bool names = schema.return_count == values.size() && !schema.returns[0].name.empty();
  PyTypeObject* type = names ? result_type_of(schema) : nullptr;
  nb::object result = own(type ? PyStructSequence_New(type) : PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject* item = to_python(values[static_cast<size_t>(i)], schema);
    type ? PyStructSequence_SetItem(result.ptr(), i, item)
         : (void)PyTuple_SetItem(result.ptr(), i, item);
  }
  return result.release().ptr();
}

PyObject* to_python(const Value& value, const ir::Schema& schema) {
  if (auto* tensor = std::get_if<Tensor>(&value)) return wrap(*tensor);
  if (auto* tensors = std::get_if<Tensors>(&value)) return tuple_of(*tensors).release().ptr();
  if (auto* number = std::get_if<Scalar>(&value)) return number_object(*number);
  if (auto* values = std::get_if<std::vector<Value>>(&value)) {
    return several_to_python(*values, schema);
  }
  Py_RETURN_NONE;
}

// ---- calls

// Below this the work is shorter than handing the lock over and back.
constexpr int64_t kElementsWorthReleasing = 16 * 1024;

bool is_long(std::span<const Value> arguments) {
  if (modes.interpreter) return false;  // no work is done
  int64_t elements = 0;
  for (const Value& value : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&value)) {
      if (tensor->defined()) elements += tensor->numel();
    } else if (auto* tensors = std::get_if<Tensors>(&value)) {
      for (const Tensor& one : *tensors) elements += one.defined() ? one.numel() : 0;
    } else if (auto* dims = std::get_if<Dims>(&value)) {
      double product = 1;
      for (const Dim& size : *dims) product *= std::abs(static_cast<double>(size.value()));
      elements += static_cast<int64_t>(std::min(product, 1e9));
    }
  }
  return elements >= kElementsWorthReleasing;
}

// As PyTorch: a tensor with elements that out= has to resize was probably meant to fit.
void warn_of_resizing(const Tensors& before, const std::vector<Dims>& sizes) {
  for (size_t i = 0; i < before.size(); i++) {
    if (before[i].sizes() == sizes[i] || product(sizes[i]) == 0) continue;
    std::string message = fmt::format(
        "an output with one or more elements was resized since it had shape {}, which does not "
        "match the required output shape {}",
        text(sizes[i]), text(before[i].sizes()));
    if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) nb::raise_python_error();
  }
}

Value run_out(const Parsed& parsed) {
  const ir::FunctionInfo& info = *parsed.overload->info;
  std::vector<Dims> sizes;
  for (const Tensor& out : parsed.out) sizes.push_back(out.sizes());
  Value result;
  {
    MayRelease released(is_long(parsed.arguments()));
    result = ir::call_out(info, parsed.arguments(), parsed.out);
  }
  warn_of_resizing(parsed.out, sizes);
  return result;
}

Value run(const Parsed& parsed, Form form) {
  const ir::FunctionInfo& info = *parsed.overload->info;
  if (!parsed.out.empty()) return run_out(parsed);
  MayRelease released(is_long(parsed.arguments()));
  if (form == Form::inplace) return info.call_inplace(info, parsed.arguments());
  return info.call(info, parsed.arguments());
}

}  // namespace

PyObject* call(const OverloadSet& set, Form form, const Call& arguments) {
  std::string shown;  // while a recording is on
  if (timing::is_recording()) [[unlikely]]
    shown = set.name + (form == Form::inplace ? "_" : "");
  timing::Operation operation("op", shown);
  if (timing::is_recording()) [[unlikely]]
    note_call(operation, arguments);
  Parsed parsed;
  parse(set, arguments, parsed);
  Value result = run(parsed, form);
  if (parsed.contiguous) result = contiguous(std::get<Tensor>(result));
  if (parsed.requires_grad) std::get<Tensor>(result).requires_grad_();
  return to_python(result, parsed.overload->info->schema);
}

// ---- callables

namespace {

struct FunctionObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  const OverloadSet* set;
  Form form;
};

FunctionObject* function_in(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

template <bool method>
PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    FunctionObject* function = function_in(self);
    Call given{args, static_cast<size_t>(PyVectorcall_NARGS(count)), names, method};
    if (method && (given.count == 0 || !is_tensor(args[0]))) {
      fail(ErrorKind::type, "{}() needs a Tensor as its object", function->set->name);
    }
    return call(*function->set, function->form, given);
  });
}

std::string shown_name(const FunctionObject& function) {
  return function.set->name + (function.form == Form::inplace ? "_" : "");
}
PyObject* function_repr(PyObject* self) {
  std::string text = "<built-in function " + shown_name(*function_in(self)) + ">";
  return PyUnicode_FromString(text.c_str());
}
PyObject* function_name(PyObject* self, void*) {
  return PyUnicode_FromString(shown_name(*function_in(self)).c_str());
}
PyObject* function_doc(PyObject* self, void*) {
  std::string text;
  for (const Overload& overload : function_in(self)->set->overloads) {
    text +=
        std::string(overload.info->schema.text) + "\n\n" + overload.info->documentation + "\n\n";
  }
  return PyUnicode_FromString(text.c_str());
}
PyObject* function_reduce(PyObject* self, PyObject*) {
  // Found again by name: in the module, or on the Tensor type.
  if (!Py_TYPE(self)->tp_descr_get) return function_name(self, nullptr);
  nb::object name = nb::steal(function_name(self, nullptr));
  nb::object getattr = nb::module_::import_("builtins").attr("getattr");
  return Py_BuildValue("(O(OO))", getattr.ptr(), tensor_type, name.ptr());
}
PyObject* bind_method(PyObject* self, PyObject* object, PyObject*) {
  return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyTypeObject* make_type(const char* name, bool method) {
  static PyGetSetDef properties[] = {{"__name__", function_name, nullptr, nullptr, nullptr},
                                     {"__qualname__", function_name, nullptr, nullptr, nullptr},
                                     {"__doc__", function_doc, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", function_reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                         {Py_tp_getset, properties},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {method ? Py_tp_descr_get : 0, reinterpret_cast<void*>(bind_method)},
                         {0, nullptr}};
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  if (method) flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec{name, sizeof(FunctionObject), 0, flags, slots};
  return reinterpret_cast<PyTypeObject*>(own(PyType_FromSpec(&spec)).release().ptr());
}

nb::object make_function(PyTypeObject* type, bool method, const OverloadSet& set, Form form) {
  nb::object object = own(type->tp_alloc(type, 0));
  FunctionObject* function = function_in(object.ptr());
  function->vectorcall = method ? vectorcall<true> : vectorcall<false>;
  function->set = &set;
  function->form = form;
  return object;
}

std::map<std::string, OverloadSet, std::less<>>& table() {
  static auto* sets = new std::map<std::string, OverloadSet, std::less<>>;
  return *sets;
}

// The in-place form takes only the overloads that have one.
OverloadSet with_inplace(const OverloadSet& set) {
  OverloadSet some{set.name, {}};
  for (const Overload& overload : set.overloads) {
    if (!overload.info->has_inplace) continue;
    some.overloads.push_back(overload);
    Overload& written = some.overloads.back();  // a number cannot be written to
    written.parameters[written.self].number = false;
  }
  return some;
}

}  // namespace

const OverloadSet* find_overloads(std::string_view name) {
  auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

// The table for make_stubs.py: (name, schema, documentation, has an in-place form, takes out=).
static nb::list schemas() {
  nb::list all;
  for (const ir::FunctionInfo* info : ir::functions()) {
    all.append(nb::make_tuple(std::string(info->schema.name), std::string(info->schema.text),
                              info->documentation, info->has_inplace, info->has_out));
  }
  return all;
}

static const ir::FunctionInfo& info_of(const OverloadSet& set) {
  return *set.overloads.front().info;
}

// The Python names of all functions, by the name in the schema; overloads are one function.
static nb::dict python_names() {
  static constexpr const char* kShown[] = {"everywhere", "as_function", "as_method", "in_nn",
                                           "nowhere"};
  nb::dict all;
  for (const ir::FunctionInfo* info : ir::functions()) {
    nb::str name(info->schema.name.data(), info->schema.name.size());
    const ir::PythonNames& names = info->python;
    bool says =
        names.shown != ir::Shown::everywhere || !names.aliases.empty() || names.inplace_function;
    if (all.contains(name) && !says) continue;
    nb::list aliases;
    for (const char* alias : names.aliases) aliases.append(alias);
    nb::dict one;
    one["shown"] = kShown[static_cast<size_t>(names.shown)];
    one["aliases"] = aliases;
    one["inplace_function"] = names.inplace_function;
    all[name] = one;
  }
  return all;
}

void add_functions(nb::module_& functions) {
  functions.def("__schemas__", schemas);
  functions.def("__python_names__", python_names);
  for (const ir::FunctionInfo* info : ir::functions()) {
    std::string name(info->schema.name);
    table().try_emplace(name, OverloadSet{name, {}}).first->second.overloads.emplace_back(*info);
  }
  PyTypeObject* function_type = make_type("foregrad.builtin_function", false);
  PyTypeObject* method_type = make_type("foregrad.method", true);
  std::map<std::string, OverloadSet> inplace;
  for (auto& [name, set] : table()) {
    if (OverloadSet some = with_inplace(set); !some.overloads.empty()) {
      inplace.emplace(name + "_", std::move(some));
    }
  }
  nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  auto add = [&](const std::string& name, const OverloadSet& set, Form form) {
    functions.attr(name.c_str()) = make_function(function_type, false, set, form);
    const Overload& first = set.overloads.front();
    if (first.parameters.empty() || first.parameters[first.self].type != Type::tensor) return;
    if (info_of(set).schema.arguments[first.self].name != "self") return;
    if (PyDict_GetItemString(tensor_type->tp_dict, name.c_str())) return;  // a property
    nb::setattr(tensor, name.c_str(), make_function(method_type, true, set, form));
  };
  std::vector<std::string> names;
  for (auto& [name, set] : table()) names.push_back(name);
  for (const std::string& name : names) add(name, table().at(name), Form::plain);
  for (auto& [name, set] : inplace) {
    add(name, table().try_emplace(name, std::move(set)).first->second, Form::inplace);
  }
}

}  // namespace fg::python
