#include "python/arguments.h"

#include "base/fail.h"
#include "python/deprecated.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

using ir::Type;
using ir::Value;

// ---- parameters

static bool is_among(std::string_view name, std::string_view names) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

// Functions for whose every tensor PyTorch takes a number, and others that have an overload with a
// number in the first place: there another argument must be a tensor.
static constexpr std::string_view kArithmetic = " add sub mul div floor_divide copy ";
static constexpr std::string_view kNumbersFirst =
    " remainder xlogy bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift ";

// PyTorch has overloads for numbers here; elsewhere a number is no tensor. Masks and indices
// never are numbers, nor is what a function mainly works on.
static bool takes_number(std::string_view function, const ir::Argument& argument) {
  static constexpr std::string_view kOperands = " other exponent value min max src ";
  static constexpr std::string_view kNumbersBehind =
      " fmod pow rsub eq ne lt le gt ge where clamp clamp_min clamp_max masked_fill "
      "index_fill fill ";
  if (argument.type != Type::tensor && argument.type != Type::opt_tensor) return false;
  bool first = is_among(function, kArithmetic) || is_among(function, kNumbersFirst);
  if (argument.name == "self") return first || function == "where";
  return is_among(argument.name, kOperands) && (first || is_among(function, kNumbersBehind));
}

static Value default_of(const ir::Argument& argument) {
  std::string_view text = argument.default_text;
  if (text.empty() || text == "None") return {};
  if (text == "True" || text == "False") return Scalar(text == "True");
  if (text[0] == '\'') return std::string(text.substr(1, text.size() - 2));
  if (text[0] == '[') return Dims{};
  double number = ir::parse_number(text);
  if (argument.type == Type::dims || argument.type == Type::opt_dims)
    return Dims{static_cast<int64_t>(number)};
  bool real = argument.type == Type::real || argument.type == Type::opt_real ||
              text.find_first_of(".e") != std::string_view::npos;
  return real ? Scalar(number) : Scalar(static_cast<int64_t>(number));
}

// As PyTorch: one number may stand for a list of dimensions or of window sizes, not for sizes.
static bool needs_several(const ir::Argument& argument) {
  static constexpr std::string_view kNames =
      " size shape sizes dims stride repeats split_sizes normalized_shape pad source destination ";
  return is_among(argument.name, kNames) && argument.type == Type::dims && !argument.has_default;
}

Overload::Overload(const ir::FunctionInfo& function) : info(&function) {
  const ir::Schema& schema = function.schema;
  std::string_view base = schema.name;
  bool tensors = false, dtype = false;
  for (size_t i = 0; i < schema.argument_count; i++) {
    const ir::Argument& argument = schema.arguments[i];
    PyObject* name = PyUnicode_InternFromString(std::string(argument.name).c_str());
    parameters.push_back({name, argument.type, argument.has_default, argument.keyword_only,
                          needs_several(argument), takes_number(base, argument),
                          default_of(argument)});
    positional += !argument.keyword_only;
    if (argument.name == "self") self = i;
    tensors |= argument.type <= Type::opt_tensors;
    dtype |= argument.keyword_only && argument.type == Type::opt_dtype;
  }
  needs_tensor = is_among(base, kNumbersFirst) || base == "pow";
  creates = dtype && (!tensors || base.ends_with("_like") || base.starts_with("new_"));
}

// The name that a schema has for what a user may call otherwise.
static bool names_parameter(PyObject* given, PyObject* name) {
  if (given == name) return true;
  std::string_view a = name_of(given), b = name_of(name);
  if (a == b) return true;
  return (a == "input" && b == "self") || (a == "axis" && b == "dim") ||
         (a == "keepdims" && b == "keepdim") || (a == "x2" && b == "other");
}

// ---- keyword arguments that no schema has

static std::string text_of(PyObject* object) { return bytes_of(object); }

void expect_cpu(PyObject* device, const std::string& who) {
  if (device == Py_None || (PyUnicode_Check(device) && text_of(device) == "cpu")) return;
  nb::object type = nb::getattr(nb::handle(device), "type", nb::none());
  if (nb::isinstance<nb::str>(type) && bytes_of(type) == "cpu") return;
  CallsPython calls;
  nb::module_::import_("foregrad._types")
      .attr("expect_cpu")(nb::handle(device), nb::str(who.c_str()));
}

// False when the overload does not know the name at all.
static bool take_common(const Overload& overload, std::string_view name, PyObject* value,
                        Parsed& parsed) {
  std::string function(overload.info->schema.name);
  if (name == "out" && overload.info->has_out) {
    if (value == Py_None) return true;
    bool several = overload.info->schema.return_count > 1;
    if (is_tensor(value) == several) return false;
    parsed.out = several ? tensors_of(value, function.c_str()) : Tensors{tensor_of(value)};
    return parsed.out.size() == overload.info->schema.return_count;
  }
  bool shaped = overload.creates || function == "clone" || function == "contiguous";
  if (name == "memory_format" && shaped) {
    if (value == Py_None) return true;
    std::string format = text_of(value);
    if (format == "foregrad.contiguous_format") return parsed.contiguous = true;
    if (format == "foregrad.preserve_format") return true;
    fail(ErrorKind::not_implemented, "{}: memory_format is {}; only contiguous and preserve exist",
         function, format);
  }
  if (!overload.creates) return false;
  if (name == "device") return expect_cpu(value, function), true;
  if (name == "layout") {
    if (value == Py_None || text_of(value) == "foregrad.strided") return true;
    fail("{}: layout is {}; only strided exists", function, text_of(value));
  }
  if (name == "pin_memory") {
    if (value != Py_True) return true;
    fail("{}: pin_memory needs an accelerator; only cpu exists", function);
  }
  if (name == "requires_grad") {
    if (!PyBool_Check(value)) return false;
    parsed.requires_grad = value == Py_True;
    return true;
  }
  return false;
}

// ---- one overload

namespace {

struct Attempt {
  const Overload& overload;
  const Call& call;
  bool strict;
  Parsed& parsed;
  bool explain;  // say what does not fit
  std::string why{};

  template <class... Args>
  bool refuse(fmt::format_string<Args...> text, Args&&... args) {
    if (explain) why = fmt::format(text, std::forward<Args>(args)...);
    return false;
  }
  bool put(size_t parameter, PyObject* object) {
    const Parameter& wanted = overload.parameters[parameter];
    bool absent = object == Py_None && wanted.type == Type::dims && wanted.has_default;
    if (absent && std::get<Dims>(wanted.fallback).empty()) {  // amax(dim=None)
      parsed.values[parameter] = wanted.fallback;
    } else if ((wanted.several && !is_list(object)) ||
               !convert(object, wanted.type, strict || is_no_operand(object, wanted),
                        parsed.values[parameter])) {
      return refuse("argument '{}' (position {}) must be {}, not {}", PyUnicode_AsUTF8(wanted.name),
                    parameter + 1, type_name(wanted.type), kind_of(object, wanted.type));
    }
    given |= 1u << parameter;
    tensors |= is_tensor(object);
    return true;
  }
  // The type of what came; of a list that should hold integers, what else it holds.
  static std::string kind_of(PyObject* object, Type type) {
    std::string kind = Py_TYPE(object)->tp_name;
    if (!is_list(object) || (type != Type::dims && type != Type::opt_dims)) return kind;
    Value number;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++) {
      nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(object, i));
      if (!convert(item.ptr(), Type::integer, false, number)) {
        return fmt::format("a {} with a {}", kind, Py_TYPE(item.ptr())->tp_name);
      }
    }
    return kind;
  }
  static bool is_list(PyObject* object) { return PyTuple_Check(object) || PyList_Check(object); }
  // Something else than a tensor where only a tensor may stand.
  static bool is_no_operand(PyObject* object, const Parameter& wanted) {
    bool tensor = wanted.type == Type::tensor || wanted.type == Type::opt_tensor;
    return tensor && !wanted.number && !is_tensor(object);
  }
  // view(2, 3) for view((2, 3)): a list of integers that is the only positional argument.
  bool spread(size_t parameter, size_t from) {
    nb::object tuple = own(PyTuple_New(static_cast<Py_ssize_t>(call.count - from)));
    for (size_t i = from; i < call.count; i++) {
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i - from),
                       Py_NewRef(call.arguments[i]));
    }
    return put(parameter, tuple.ptr());
  }
  bool takes_spread_list() const {
    if (overload.positional != 1 + size_t{call.method}) return false;
    Type type = overload.parameters[call.method && overload.self == 0 ? 1 : 0].type;
    return type == Type::dims || type == Type::opt_dims;
  }
  bool positional() {
    size_t next = 0, argument = 0;
    if (call.method) {
      if (!put(overload.self, call.arguments[0])) return false;
      argument = 1;
    }
    size_t first = call.method && overload.self == 0 ? 1 : 0;
    size_t given_here = call.count - argument;
    bool one_list = given_here == 1 && is_list(call.arguments[argument]);
    if (takes_spread_list() && given_here > 0 && !one_list) return spread(first, argument);
    for (; argument < call.count; argument++, next++) {
      if (call.method && next == overload.self) next++;
      if (next >= overload.positional) {
        return refuse("takes at most {} positional arguments, got {}", overload.positional,
                      call.count);
      }
      if (!put(next, call.arguments[argument])) return false;
    }
    return true;
  }
  bool named() {
    for (size_t i = 0; i < call.named(); i++) {
      PyObject* name = PyTuple_GET_ITEM(call.names, static_cast<Py_ssize_t>(i));
      PyObject* object = call.arguments[call.count + i];
      size_t p = 0;
      while (p < overload.parameters.size() && !names_parameter(name, overload.parameters[p].name))
        p++;
      const char* text = name_of(name);
      if (p == overload.parameters.size()) {
        if (take_common(overload, text, object, parsed)) continue;
        return refuse("got an unexpected keyword argument '{}'", bytes_of(name));
      }
      if (given >> p & 1) return refuse("got multiple values for argument '{}'", text);
      if (!put(p, object)) return false;
    }
    return true;
  }
  bool defaults() {
    parsed.count = 0;
    for (size_t p = 0; p < overload.parameters.size(); p++) {
      if (given >> p & 1) parsed.count = p + 1;
    }
    for (size_t p = 0; p < overload.parameters.size(); p++) {
      if (given >> p & 1) continue;
      const Parameter& parameter = overload.parameters[p];
      if (!parameter.has_default && parameter.type != Type::generator) {
        return refuse("missing the required argument '{}' (position {})",
                      PyUnicode_AsUTF8(parameter.name), p + 1);
      }
      if (p < parsed.count) parsed.values[p] = parameter.fallback;
    }
    return true;
  }
  bool run() {
    if (call.count > overload.positional && !takes_spread_list() && !explain) return false;
    parsed.out.clear();
    parsed.requires_grad = parsed.contiguous = false;
    if (!positional() || !named() || !defaults()) return false;
    return tensors || !overload.needs_tensor || refuse("expected at least one Tensor");
  }
  uint32_t given = 0;    // a bit per parameter
  bool tensors = false;  // some argument was one
};

std::string describe(const Call& call) {
  std::string text;
  for (size_t i = call.method ? 1 : 0; i < call.count + call.named(); i++) {
    if (!text.empty()) text += ", ";
    if (i >= call.count) {
      text += bytes_of(PyTuple_GET_ITEM(call.names, static_cast<Py_ssize_t>(i - call.count)));
      text += '=';
    }
    text += Py_TYPE(call.arguments[i])->tp_name;
  }
  return text;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text) {
    if (c == '\n') c = ' ';
    if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
  }
  return line;
}

[[noreturn]] void refuse_all(const OverloadSet& set, const Call& call, const std::string& why) {
  if (set.overloads.size() == 1) fail(ErrorKind::type, "{}(): {}", set.name, why);
  std::string forms;
  for (const Overload& overload : set.overloads) {
    if (!forms.empty()) forms += "; ";
    forms += one_line(overload.info->schema.text);
  }
  fail(ErrorKind::type,
       "{}() received an invalid combination of arguments: got ({}), but expected one of: {}",
       set.name, describe(call), forms);
}

}  // namespace

static bool fits(const OverloadSet& set, const Call& call, Parsed& parsed) {
  for (bool strict : {true, false}) {
    for (const Overload& overload : set.overloads) {
      if (!Attempt{overload, call, strict, parsed, false}.run()) continue;
      parsed.overload = &overload;
      return true;
    }
  }
  return false;
}

void parse(const OverloadSet& set, const Call& call, Parsed& parsed) {
  if (fits(set, call, parsed)) return;
  Rewritten rewritten = without_deprecated_form(set.name, call);
  if (rewritten && fits(set, rewritten.call(), parsed)) return warn_of_form(set.name, rewritten);
  Attempt last{set.overloads.back(), call, false, parsed, true};
  last.run();
  refuse_all(set, call, last.why);
}

}  // namespace fg::python
