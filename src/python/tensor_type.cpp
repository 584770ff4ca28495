#include "python/tensor_type.h"

#include "base/fail.h"
#include "python/functions.h"

namespace fg::python {

namespace {

// ---- operators: each slot names a function of the table

struct Operator {
  const char* name;       // a + b
  const char* reflected;  // number + b as a function of (b, number); null: the same, swapped
  const OverloadSet* set = nullptr;
  const OverloadSet* reflected_set = nullptr;
  const OverloadSet* inplace = nullptr;
};
enum Slot : uint8_t {
  kAdd,
  kSub,
  kMul,
  kTrueDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMatmul,
  kAnd,
  kOr,
  kXor,
  kLeft,
  kRight,
  kSlots
};
Operator operators[kSlots] = {{"add", "add"},
                              {"sub", "rsub"},
                              {"mul", "mul"},
                              {"div", nullptr},
                              {"floor_divide", nullptr},
                              {"remainder", nullptr},
                              {"pow", nullptr},
                              {"matmul", nullptr},
                              {"bitwise_and", "bitwise_and"},
                              {"bitwise_or", "bitwise_or"},
                              {"bitwise_xor", "bitwise_xor"},
                              {"bitwise_left_shift", nullptr},
                              {"bitwise_right_shift", nullptr}};

bool is_operand(PyObject* object) { return is_tensor(object) || is_number(object); }

template <Slot slot>
PyObject* binary(PyObject* a, PyObject* b) {
  if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject* {
    const Operator& op = operators[slot];
    if (op.reflected_set && !is_tensor(a)) {
      PyObject* swapped[] = {b, a};
      return call(*op.reflected_set, Form::plain, {swapped, 2, nullptr, false});
    }
    if (slot == kTrueDiv && !is_tensor(a)) {  // as PyTorch records it: number * reciprocal
      PyObject* one[] = {b};
      nb::object inverse =
          own(call(*find_overloads("reciprocal"), Form::plain, {one, 1, nullptr, false}));
      PyObject* both[] = {inverse.ptr(), a};
      return call(*operators[kMul].set, Form::plain, {both, 2, nullptr, false});
    }
    PyObject* both[] = {a, b};
    return call(*op.set, Form::plain, {both, 2, nullptr, false});
  });
}

template <Slot slot>
PyObject* inplace(PyObject* a, PyObject* b) {
  if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject* {
    const Operator& op = operators[slot];
    PyObject* both[] = {a, b};
    return call(*op.inplace, Form::inplace, {both, 2, nullptr, false});
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<kPow>(a, b);
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) { return inplace<kPow>(a, b); }

PyObject* unary(const char* name, PyObject* self) {
  return guarded([&] {
    PyObject* one[] = {self};
    return call(*find_overloads(name), Form::plain, {one, 1, nullptr, false});
  });
}

// As PyTorch's operator: of floats it is not the function that is missing, but the type that is
// wrong.
PyObject* invert(PyObject* self) {
  return guarded([&] {
    if (is_floating(impl_of(self)->dtype)) {
      fail(ErrorKind::type, "~: got a tensor of {}; expected integers or bools",
           name(impl_of(self)->dtype));
    }
    return unary("bitwise_not", self);
  });
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
  static const OverloadSet* sets[] = {find_overloads("lt"), find_overloads("le"),
                                      find_overloads("eq"), find_overloads("ne"),
                                      find_overloads("gt"), find_overloads("ge")};
  return guarded([&] {
    PyObject* both[] = {a, b};
    return call(*sets[how], Form::plain, {both, 2, nullptr, false});
  });
}

// ---- as numbers

Scalar only_element(PyObject* self, const char* what, ErrorKind kind = ErrorKind::value) {
  TensorImpl* impl = impl_of(self);
  if (!(impl->numel == 1)) {
    fail(kind, "{} of a Tensor with {} elements is ambiguous; it must have one", what,
         impl->numel.text());
  }
  return tensor_of(self).item();
}

int as_bool(PyObject* self) {
  return guarded(
      [&] {
        return static_cast<int>(
            only_element(self, "the truth value", ErrorKind::runtime).to_bool());
      },
      -1);
}
PyObject* as_int(PyObject* self) {
  return guarded([&] {
    Scalar number = only_element(self, "int()");
    return number.is_floating() ? PyLong_FromDouble(number.to_double())
                                : PyLong_FromLongLong(number.to_int());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(only_element(self, "float()").to_double()); });
}
PyObject* as_index(PyObject* self) {
  return guarded([&] {
    TensorImpl* impl = impl_of(self);
    if (!(impl->numel == 1) || is_floating(impl->dtype)) {
      fail(ErrorKind::type,
           "only integer tensors of a single element can be converted to an index");
    }
    return PyLong_FromLongLong(tensor_of(self).item().to_int());
  });
}
Py_ssize_t length(PyObject* self) {
  return guarded(
      [&]() -> Py_ssize_t {
        TensorImpl* impl = impl_of(self);
        if (impl->sizes.empty()) fail(ErrorKind::type, "len() of a 0-d tensor");
        return impl->sizes[0].value();
      },
      Py_ssize_t{-1});
}

PyObject* repr(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(tensor_of(self).text().c_str()); });
}
Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

// Tensor(), Tensor(2, 3), Tensor([1., 2.]): Python's side knows what to make of it.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    CallsPython calls;
    nb::object maker = nb::module_::import_("foregrad._tensor").attr("_new_tensor");
    nb::object cls = own(PyTuple_Pack(1, type));
    nb::object all = own(PySequence_Concat(cls.ptr(), args));
    return own(PyObject_Call(maker.ptr(), all.ptr(), kwargs)).release().ptr();
  });
}

template <class F>
PyType_Slot slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

void connect_operators() {
  for (Operator& op : operators) {
    op.set = find_overloads(op.name);
    op.inplace = find_overloads(std::string(op.name) + "_");
    if (op.reflected) op.reflected_set = find_overloads(op.reflected);
  }
}

void add_tensor_type(nb::module_& module) {
  PyType_Slot slots[] = {slot(Py_tp_dealloc, face_dealloc),
                         slot(Py_tp_finalize, face_finalize),
                         slot(Py_tp_traverse, face_traverse),
                         slot(Py_tp_clear, face_clear),
                         slot(Py_tp_repr, repr),
                         slot(Py_tp_hash, hash),
                         slot(Py_tp_richcompare, compare),
                         slot(Py_tp_new, make),
                         {Py_tp_getset, tensor_properties},
                         {Py_tp_members, face_members},
                         slot(Py_mp_subscript, subscript),
                         slot(Py_mp_ass_subscript, assign_subscript),
                         slot(Py_mp_length, length),
                         slot(Py_sq_length, length),
                         slot(Py_bf_getbuffer, get_buffer),
                         slot(Py_bf_releasebuffer, release_buffer),
                         slot(Py_nb_bool, as_bool),
                         slot(Py_nb_int, as_int),
                         slot(Py_nb_float, as_float),
                         slot(Py_nb_index, as_index),
                         slot(Py_nb_add, binary<kAdd>),
                         slot(Py_nb_subtract, binary<kSub>),
                         slot(Py_nb_multiply, binary<kMul>),
                         slot(Py_nb_true_divide, binary<kTrueDiv>),
                         slot(Py_nb_floor_divide, binary<kFloorDiv>),
                         slot(Py_nb_remainder, binary<kMod>),
                         slot(Py_nb_power, power),
                         slot(Py_nb_matrix_multiply, binary<kMatmul>),
                         slot(Py_nb_and, binary<kAnd>),
                         slot(Py_nb_or, binary<kOr>),
                         slot(Py_nb_xor, binary<kXor>),
                         slot(Py_nb_lshift, binary<kLeft>),
                         slot(Py_nb_rshift, binary<kRight>),
                         slot(Py_nb_inplace_add, inplace<kAdd>),
                         slot(Py_nb_inplace_subtract, inplace<kSub>),
                         slot(Py_nb_inplace_multiply, inplace<kMul>),
                         slot(Py_nb_inplace_true_divide, inplace<kTrueDiv>),
                         slot(Py_nb_inplace_floor_divide, inplace<kFloorDiv>),
                         slot(Py_nb_inplace_remainder, inplace<kMod>),
                         slot(Py_nb_inplace_power, inplace_power),
                         slot(Py_nb_inplace_and, inplace<kAnd>),
                         slot(Py_nb_inplace_or, inplace<kOr>),
                         slot(Py_nb_inplace_xor, inplace<kXor>),
                         slot(Py_nb_inplace_lshift, inplace<kLeft>),
                         slot(Py_nb_inplace_rshift, inplace<kRight>),
                         slot(
                             Py_nb_negative, +[](PyObject* s) { return unary("neg", s); }),
                         slot(
                             Py_nb_positive, +[](PyObject* s) { return unary("positive", s); }),
                         slot(
                             Py_nb_absolute, +[](PyObject* s) { return unary("abs", s); }),
                         slot(Py_nb_invert, invert),
                         {0, nullptr}};
  PyType_Spec spec{"foregrad.Tensor", sizeof(FaceObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  nb::object type = own(PyType_FromSpec(&spec));
  module.attr("Tensor") = type;
  tensor_type = reinterpret_cast<PyTypeObject*>(type.release().ptr());
}

}  // namespace fg::python
