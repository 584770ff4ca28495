"""Schemas as Python objects; their grammar is that of src/ir/schema.h."""

import re
from dataclasses import dataclass, field

_TYPE = r"(?P<base>\w+)(?:\((?P<alias>[^)]*)\))?(?P<inner>\?)?(?P<list>\[\])?(?P<outer>\?)?"
_VALUE = re.compile(_TYPE + r"\s*(?P<name>\w+)?\s*(?:=\s*(?P<default>.+))?$", re.S)
_SCHEMA = re.compile(r"(?P<name>\w+)(?:\.(?P<overload>\w+))?\s*\((?P<arguments>.*)\)\s*->\s*"
                     r"(?P<returns>.+)$", re.S)


@dataclass
class Value:
    """An argument or a result: `type` is a base with [] and ?, as int[]? or Tensor."""

    type: str
    name: str
    default: "str | None" = None
    keyword_only: bool = False

    @property
    def optional(self):
        return self.type.endswith("?") or self.type.startswith("Generator")

    @property
    def is_int_list(self):
        return self.type.startswith(("int[]", "Dim[]"))

    @property
    def is_tensor(self):
        return self.type.startswith("Tensor")


@dataclass
class Schema:
    name: str
    documentation: str
    has_inplace: bool
    has_out: bool
    arguments: list = field(default_factory=list)
    returns: list = field(default_factory=list)

    @property
    def self_at(self):
        """The place of the argument that is the object of the method."""
        return next((i for i, a in enumerate(self.arguments) if a.name == "self"), 0)

    @property
    def creates(self):
        """Whether it takes device=, layout=, requires_grad= and so on."""
        dtype = any(a.keyword_only and a.type == "DType?" for a in self.arguments)
        like = self.name.endswith("_like") or self.name.startswith("new_")
        return dtype and (like or not any(a.is_tensor for a in self.arguments))


def _split(text):
    """Parts between commas that are outside of brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, char in enumerate(text):
        quoted ^= char == "'"
        depth += (not quoted) * ((char in "[(") - (char in "])"))
        if char == "," and depth == 0 and not quoted:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _value(text, keyword_only=False):
    match = _VALUE.match(text)
    if not match:
        raise ValueError(f"schema: cannot read '{text}'; expected a type and a name")
    kind = match["base"] + (match["inner"] or "") + (match["list"] or "") + (match["outer"] or "")
    return Value(kind, match["name"] or "", match["default"], keyword_only)


def parse(text, documentation="", has_inplace=False, has_out=False):
    """The schema of one overload."""
    match = _SCHEMA.match(text.strip())
    if not match:
        raise ValueError(f"schema: cannot read '{text}'; expected name(arguments) -> returns")
    schema = Schema(match["name"], " ".join(documentation.split()), has_inplace, has_out)
    keyword_only = False
    for part in _split(match["arguments"]):
        if part == "*":
            keyword_only = True
        else:
            schema.arguments.append(_value(part, keyword_only))
    returns = match["returns"].strip()
    several = returns[1:-1] if returns.startswith("(") else returns
    schema.returns = [_value(part) for part in _split(several)]
    return schema


def read_table(rows):
    """The overloads of every name, from the rows of foregrad._C._functions.__schemas__()."""
    table = {}
    for name, *row in rows:
        table.setdefault(name, []).append(parse(*row))
    return table
