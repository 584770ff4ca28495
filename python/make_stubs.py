#!/usr/bin/env python3
"""Writes the stubs of the package for editors and type checkers.

    make_stubs.py OUTPUT [MODULE]

OUTPUT is the __init__.pyi to write; those of submodules go to their places beside it. MODULE is
the native module when it does not lie in the package. Functions and methods come from the table of
functions, optimisers from theirs, what only Python knows from stubs/written.pyi. Submodules are
read from their sources, unless a stub that says why lies beside them.
"""

import ast
import importlib.util
import inspect
import sys
from pathlib import Path

from stubs import optimizers, python_functions
from stubs.modules import ModuleStub
from stubs.schema import read_table
from stubs.signatures import TableSignatures

WRITTEN = Path(__file__).parent / "stubs" / "written.pyi"
PROGRAM = WRITTEN.with_name("written_program.pyi")
SOURCES = Path(__file__).parent / "foregrad"
SPECIAL = ("foregrad", "foregrad.optim", "foregrad.nn.functional")  # made from tables
# It cannot be imported without the package tensorboard; its sources are annotated.
OPTIONAL = "foregrad.utils.tensorboard"
HEADER = '''"""{title} Made by python/make_stubs.py."""
# mypy: disable-error-code="override"
'''
FUNCTIONAL = """
from collections.abc import Sequence
from typing import Any, Literal, overload
from foregrad import Generator, Tensor, dtype as _dtype
_int = int
_float = float
_bool = bool
_Number = int | float
_Ints = int | Sequence[int]
GRID_SAMPLE_INTERPOLATION_MODES: dict[str, _int]
GRID_SAMPLE_PADDING_MODES: dict[str, _int]
"""
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
             "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def import_package(module):
    """The package, with its native module from a file when one is given."""
    if module:
        spec = importlib.util.spec_from_file_location("foregrad._C", module)
        native = importlib.util.module_from_spec(spec)
        sys.modules["foregrad._C"] = native
        spec.loader.exec_module(native)
    for late in ("compiler", "optim", "safetensors", "serialization"):  # names of the package too
        importlib.import_module(f"foregrad.{late}")
    importlib.import_module("foregrad._late").load_all()
    return importlib.import_module("foregrad")


def public_names(owner):
    """Names that users may use, without what only builds the package."""
    return {name: value for name, value in vars(owner).items()
            if not name.startswith("_") and getattr(value, "__module__", "") != "foregrad._names"}


def render(name, signatures):
    """The definitions of one name, as nodes."""
    text = ""
    for signature in signatures:
        text += "@overload\n" if len(signatures) > 1 else ""
        text += f"def {name}({signature.parameters()}) -> {signature.result}:\n"
        text += f"    {signature.documentation!r}\n" if signature.documentation else "    ...\n"
    return ast.parse(text).body


def definitions(tree):
    """The nodes of a module or class by the names that they define."""
    found = {}
    for node in tree.body:
        names = []
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.AnnAssign):
            names = [node.target.id]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.asname for alias in node.names if alias.asname]
        for name in names:
            found.setdefault(name, []).append(node)
    return found


def reexport(name, value):
    """The import of a submodule, or of a class of one, which has a stub or is its own."""
    home = value.__name__.rpartition(".")[0] if inspect.ismodule(value) else value.__module__
    if not home.startswith("foregrad") or "._" in home:
        return []
    return ast.parse(f"from {home} import {name} as {name}").body


class Stubs:
    """The stubs of the package, made from the objects themselves."""

    def __init__(self, package):
        self.package = package
        self.native = package._C
        self.signatures = TableSignatures(read_table(self.native._functions.__schemas__()))
        self.function_type = type(self.native._functions.abs)
        self.method_type = type(vars(self.native.Tensor)["abs"])

    def nodes_of(self, name, value, method=False):
        """The definitions of a name that is not in written.pyi; none when it is no function."""
        if isinstance(value, (self.function_type, self.method_type)):
            return render(name, self.signatures.of(value.__name__, method))
        if inspect.ismodule(value) or inspect.isclass(value):
            return reexport(name, value)
        if not inspect.isfunction(value):
            return []
        if name in self.signatures.table and python_functions.is_open(value):
            return render(name, self._open(name, value, method))
        return render(name, python_functions.signatures_of(value, method))

    def _open(self, name, function, method):
        """A Python function that passes *args on: the table's signatures, and `inplace`."""
        found = self.signatures.of(name, method)
        if "inplace" in inspect.signature(function).parameters:
            for signature in found:
                signature.keywords.append("inplace: _bool = False")
        return found

    def add_missing(self, tree, owner, method=False):
        """Appends to a tree what its owner has and the tree lacks."""
        known = definitions(tree)
        for name, value in sorted(public_names(owner).items()):
            if name in known:
                continue
            nodes = self.nodes_of(name, value, method)
            if not nodes:
                raise SystemExit(f"make_stubs: {name} is a {type(value).__name__} that the table "
                                 f"does not have; describe it in {WRITTEN.name}")
            tree.body += nodes

    def operators(self):
        """Arithmetic and comparisons with tensors and numbers."""
        text = ""
        for operator in (f"{kind}{name}" for name in OPERATORS for kind in ("", "r", "i")):
            if hasattr(self.native.Tensor, f"__{operator}__"):
                result = "Self" if operator[0] == "i" and operator[1:] in OPERATORS else "Tensor"
                operand = "Tensor" if operator.endswith("matmul") else "Tensor | _Number"
                text += f"def __{operator}__(self, other: {operand}, /) -> {result}: ...\n"
        for operator in COMPARISONS:
            text += f"def __{operator}__(self, other: Tensor | _Number, /) -> Tensor: ...\n"
        return ast.parse(text).body

    def package_stub(self):
        tree = ast.parse(WRITTEN.read_text() + PROGRAM.read_text())
        check_written(tree, self.package)
        tensor = next(node for node in tree.body if getattr(node, "name", "") == "Tensor")
        tensor.body += self.operators()
        self.add_missing(tensor, self.native.Tensor, method=True)
        self.add_missing(tree, self.package)
        add_documentation(tree, self.package)
        for text in self.signatures.results.classes.values():
            tree.body += ast.parse(text).body
        return HEADER.format(title=first_sentence(self.package)) + ast.unparse(tree) + "\n"

    def functional_stub(self):
        functional = self.package.nn.functional
        tree = ast.parse(FUNCTIONAL)
        self.signatures.results.classes.clear()
        self.add_missing(tree, functional)
        if self.signatures.results.classes:
            names = ", ".join(self.signatures.results.classes)
            tree.body[:0] = ast.parse(f"from foregrad import {names}").body
        return HEADER.format(title=first_sentence(functional)) + ast.unparse(tree) + "\n"


    def all(self):
        """The texts of the stubs by their paths below the package."""
        table = importlib.import_module("foregrad._optimizers")
        settings = importlib.import_module("foregrad.compiler._step_settings")
        rows = table.table()
        return {
            **self.module_stubs(),
            "__init__.pyi": self.package_stub(),
            "nn/functional.pyi": self.functional_stub(),
            "optim/__init__.pyi": optimizers.optim_stub(
                first_sentence(self.package.optim), rows, table.MODES),
            "compiler/_step_settings.pyi": optimizers.settings_stub(
                first_sentence(settings), rows)}

    def module_stubs(self):
        """Stubs of the public modules, and of private ones whose names these show, that have none
        of their own beside them."""
        root = Path(self.package.__file__).parent
        written = {path.relative_to(SOURCES) for path in SOURCES.rglob("*.pyi")}
        places, homes, made = {}, set(), {}
        for path in sorted(root.rglob("*.py")):
            place = path.relative_to(root).with_suffix(".pyi")
            parts = [part for part in place.with_suffix("").parts if part != "__init__"]
            name = ".".join(["foregrad", *parts])
            if place not in written and name not in SPECIAL and not name.startswith(OPTIONAL):
                places[name] = place
                private = path.stem != "__init__" and path.stem.startswith("_")
                if not private and parts[:1] != ["_saving"]:
                    homes.add(name)
        while homes:
            name = homes.pop()
            if name in places and str(places[name]) not in made:
                stub = ModuleStub(name, self.package.nn.Module)
                made[str(places[name])] = stub.text()
                homes |= stub.homes
        return made


def first_sentence(owner):
    return (inspect.getdoc(owner) or "").split("\n\n")[0].replace("\n", " ")


def check_written(tree, owner):
    """Refuses names in written.pyi that the package does not have."""
    for name, nodes in definitions(tree).items():
        if not hasattr(owner, name) and not name.startswith("_"):
            raise SystemExit(f"make_stubs: {WRITTEN.name} describes {name}, which {owner!r} does "
                             "not have; remove it there")
        if isinstance(nodes[0], ast.ClassDef) and nodes[0].name == "Tensor":
            check_written(nodes[0], getattr(owner, name))


def add_documentation(tree, owner):
    """Gives definitions without a sentence that of the object."""
    for name, nodes in definitions(tree).items():
        sentence = first_sentence(getattr(owner, name, None))
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                add_documentation(node, getattr(owner, name))
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or ast.get_docstring(node):
                continue
            if not sentence or sentence.startswith(f"{name}("):  # nanobind's are signatures
                continue
            is_filler = len(node.body) == 1 and isinstance(node.body[0], ast.Expr)
            node.body = ast.parse(repr(sentence)).body + ([] if is_filler else node.body)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    output = Path(sys.argv[1])
    stubs = Stubs(import_package(sys.argv[2] if len(sys.argv) == 3 else None))
    for name, text in stubs.all().items():
        path = output.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
