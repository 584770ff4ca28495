"""Signatures of the functions of the table, as functions and as methods."""

import keyword
from dataclasses import dataclass, field

_TYPES = {"Tensor": "Tensor", "Scalar": "_Number", "int": "_int", "Dim": "_int", "int[]": "_Ints",
          "Dim[]": "_Ints", "float": "_float", "bool": "_bool", "str": "str", "DType": "_dtype",
          "Generator": "Generator", "Tensor[]": "Sequence[Tensor]",
          "Tensor?[]": "Sequence[Tensor | None]"}
_DEVICE = ("device: _Device = None", "layout: _layout | None = None",
           "requires_grad: _bool = False", "pin_memory: _bool = False")
_FORMAT = "memory_format: _memory_format | None = None"

# Products of vectors and matrices, and comparisons of whole tensors, take no numbers.
_ONLY_TENSORS = {"allclose", "equal", "expand_as", "inner", "isclose", "matmul", "reshape_as",
                 "vdot", "view_as"}


@dataclass
class Signature:
    """One `def` without its name: parameters as text, the result, a sentence."""

    result: str
    documentation: str = ""
    before: list = field(default_factory=list)  # positional only: their names are no names
    positional: list = field(default_factory=list)
    variadic: str = "*"
    keywords: list = field(default_factory=list)

    def parameters(self):
        before = [*self.before, "/"] if self.before else []
        named = [self.variadic, *self.keywords] if self.keywords or self.variadic != "*" else []
        return ", ".join(before + self.positional + named)


class ResultTypes:
    """Named results, as (values, indices) of max: one class for each list of names."""

    def __init__(self):
        self.classes = {}

    def of(self, schema):
        types = [_type(value).replace("_Ints", "tuple[_int, ...]") for value in schema.returns]
        if len(types) == 1:
            return "tuple[Tensor, ...]" if types[0] == "Sequence[Tensor]" else types[0]
        names = [value.name for value in schema.returns]
        if not all(names):
            return f"tuple[{', '.join(types)}]"
        name = "_" + "".join(n.title() for n in names)
        fields = "\n".join(f"    {n}: {t}" for n, t in zip(names, types))
        self.classes[name] = f"class {name}(NamedTuple):\n{fields}\n"
        return name


def _type(value):
    base = value.type[:-1] if value.type.endswith("?") else value.type
    return _TYPES[base] + (" | None" if value.optional else "")


def _default(value):
    if value.default is None:
        return " = None" if value.type.startswith("Generator") else ""
    return f" = {'()' if value.default == '[]' else value.default}"


def _takes_numbers(schema, overloads, value):
    """Whether a number may stand for the tensor: arithmetic, and no other overload is for it."""
    if value.type != "Tensor" or schema.name in _ONLY_TENSORS:
        return False
    if value.name != "other" and not (schema.name == "where" and value.name == "self"):
        return False
    place = schema.arguments.index(value)
    others = [o.arguments[place].type for o in overloads
              if o is not schema and len(o.arguments) > place]
    return not any(t.startswith(("Scalar", "int", "float")) for t in others)


class TableSignatures:
    """Makes signatures from the table."""

    def __init__(self, table):
        self.table = table
        self.results = ResultTypes()

    def of(self, name, method):
        """All signatures of a function or method, by its name in the table or in-place name."""
        inplace = name not in self.table
        overloads = self.table[name[:-1] if inplace else name]
        if inplace:
            overloads = [schema for schema in overloads if schema.has_inplace]
        found = []
        for schema in overloads:
            if method and schema.arguments[schema.self_at].type != "Tensor":
                continue
            if not any(_covers(earlier, schema) for earlier in overloads[:overloads.index(schema)]):
                found += self._forms(schema, overloads, method, inplace)
        return found

    def _forms(self, schema, overloads, method, inplace):
        result = "Self" if inplace and method else "Tensor" if inplace else self.results.of(schema)
        plain = Signature(result, schema.documentation)
        for i, value in enumerate(schema.arguments):
            if not (method and i == schema.self_at):
                self._add(plain, schema, overloads, value)
        _add_common(plain, schema, method, inplace)
        if method:
            (plain.before or plain.positional).insert(0, "self")
        return [plain, *_spread(plain, schema, method)]

    def _add(self, signature, schema, overloads, value):
        kind = _type(value)
        if _takes_numbers(schema, overloads, value):
            kind += " | _Number"
        name = "input" if value.name == "self" else value.name
        if keyword.iskeyword(name):  # `from`: no caller can name it
            text = f"{name}_: {kind}{_default(value)}"
            signature.before += [*signature.positional, text]
            signature.positional = []
            return
        place = signature.keywords if value.keyword_only else signature.positional
        place.append(f"{name}: {kind}{_default(value)}")


def _covers(wide, narrow):
    """Whether all calls of one overload fit an earlier one, which only has more defaults."""
    return ([(a.type, a.name, a.keyword_only) for a in wide.arguments]
            == [(a.type, a.name, a.keyword_only) for a in narrow.arguments])


def _add_common(signature, schema, method, inplace):
    """The keyword arguments that no schema has: src/python/arguments.cpp takes them."""
    if schema.has_out and not inplace and not method:
        out = "Tensor" if len(schema.returns) == 1 else "Sequence[Tensor]"
        signature.keywords.append(f"out: {out} | None = None")
    if schema.creates:
        signature.keywords += _DEVICE
    if schema.name.endswith("_like") or schema.name in ("clone", "contiguous"):
        signature.keywords.append(_FORMAT)


def _spread(plain, schema, method):
    """view(2, 3) beside view((2, 3)): the only positional argument is a list of integers."""
    lists = [a for i, a in enumerate(schema.arguments)
             if not a.keyword_only and not (method and i == schema.self_at)]
    if len(lists) != 1 or not lists[0].is_int_list or lists[0].default is not None:
        return []
    first = ["self"] if method else []
    return [Signature(plain.result, plain.documentation, [], first, f"*{lists[0].name}: _int",
                      plain.keywords)]
