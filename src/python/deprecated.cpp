#include "python/deprecated.h"

#include <fmt/format.h>

#include "python/face.h"

namespace fg::python {

namespace {

// Factors that stood by position: between the tensors for the first two kinds, around the first
// tensor for the last.
struct Form {
  const char* functions;
  const char* alpha;  // the factor in front of the last tensors
  size_t tensors;     // how many of them follow it
  bool beta;          // whether the first tensor may have a factor, too
  const char* now;
};
constexpr Form kForms[] = {
    {" add sub ", "alpha", 1, false, "(Tensor other, *, Number alpha=1)"},
    {" addcmul addcdiv ", "value", 2, false, "(Tensor tensor1, Tensor tensor2, *, Number value=1)"},
    {" addmm ", "alpha", 2, true, "(Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1)"},
    {" addmv ", "alpha", 2, true, "(Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1)"},
    {" addr ", "alpha", 2, true, "(Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1)"},
    {" addbmm baddbmm ", "alpha", 2, true,
     "(Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1)"},
};

const Form* form_of(const std::string& function) {
  std::string base = function.ends_with('_') ? function.substr(0, function.size() - 1) : function;
  for (const Form& form : kForms) {
    if (std::string_view(form.functions).find(" " + base + " ") != std::string_view::npos) {
      return &form;
    }
  }
  return nullptr;
}

// Takes the arguments of a call one by one.
struct Reader {
  const Call& call;
  size_t next = 0;
  PyObject* take(bool (*fits)(PyObject*)) {
    return next < call.count && fits(call.arguments[next]) ? call.arguments[next++] : nullptr;
  }
};

bool is_factor(PyObject* object) { return is_number(object) && !is_tensor(object); }
bool is_operand(PyObject* object) { return is_number(object) || is_tensor(object); }

}  // namespace

Rewritten without_deprecated_form(const std::string& function, const Call& call) {
  const Form* form = form_of(function);
  if (!form) return {};
  Reader reader{call};
  PyObject *self = nullptr, *beta = nullptr;
  if (!form->beta || call.method) self = reader.take(is_tensor);
  if (form->beta) beta = reader.take(is_factor);
  if (!self) self = reader.take(is_tensor);
  PyObject* alpha = reader.take(is_factor);
  if (!self || !(form->beta ? beta : alpha) || call.count - reader.next != form->tensors) return {};
  Rewritten result{.arguments = {self}, .method = call.method};
  // A number may be added, too.
  auto last = form->tensors == 1 ? is_operand : is_tensor;
  while (PyObject* operand = reader.take(last)) result.arguments.push_back(operand);
  if (reader.next != call.count) return {};
  result.positional = result.arguments.size();
  nb::list names;
  for (auto [name, factor] : {std::pair("beta", beta), std::pair(form->alpha, alpha)}) {
    if (!factor) continue;
    names.append(nb::str(name));
    result.arguments.push_back(factor);
  }
  for (size_t i = 0; i < call.named(); i++) {  // such as out=
    names.append(nb::handle(PyTuple_GET_ITEM(call.names, static_cast<Py_ssize_t>(i))));
    result.arguments.push_back(call.arguments[call.count + i]);
  }
  result.names = nb::tuple(names);
  result.form = form->now;
  return result;
}

void warn_of_form(const std::string& function, const Rewritten& rewritten) {
  std::string text = fmt::format(
      "This overload of {0} is deprecated: a factor stands by position. Consider using the "
      "following signature instead: {0}{1}",
      function, rewritten.form);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) nb::raise_python_error();
}

}  // namespace fg::python
