"""Stubs of Python modules, from the signatures and annotations of their sources.

A stub has the public functions and classes of a module, what these are made of, and the imports
that annotations need: those of the source, or of its block `if TYPE_CHECKING`. A public name
without annotations is refused, so that no stub lags behind its source.
"""

import ast
import enum
import importlib
import inspect

KEPT_DECORATORS = ("property", "staticmethod", "classmethod", "overload")
# Derived classes narrow what their bases say, as PyTorch's do.
HEADER = """\"\"\"{sentence} Made by python/make_stubs.py.\"\"\"
# mypy: disable-error-code="override, assignment"

"""


def _is_kept(decorator):
    text = ast.unparse(decorator)
    return text in KEPT_DECORATORS or text.endswith(".setter")


def _is_typed(node):
    """Whether a block is only for types."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _is_open(default):
    """Whether a default is more than a literal, so that a stub leaves it out."""
    try:
        ast.literal_eval(default)
    except ValueError:
        return True
    return False


def _is_type_variable(node):
    return (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and
            ast.unparse(node.value.func) == "TypeVar")


def _signature(node, name=None):
    """A function without its body."""
    defaults = [ast.Constant(...) if _is_open(each) else each for each in node.args.defaults]
    keywords = [ast.Constant(...) if each is not None and _is_open(each) else each
                for each in node.args.kw_defaults]
    arguments = ast.arguments(node.args.posonlyargs, node.args.args, node.args.vararg,
                              node.args.kwonlyargs, keywords, node.args.kwarg, defaults)
    sentence = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
    body = ast.Expr(ast.Constant(sentence if sentence and name is None else ...))
    return ast.FunctionDef(name or node.name, arguments, [body],
                           [each for each in node.decorator_list if _is_kept(each)], node.returns,
                           lineno=0)


class _Native(ast.NodeTransformer):
    """Native classes under their public names: Tensor for _C.Tensor."""

    def visit_Attribute(self, node):
        is_native = isinstance(node.value, ast.Name) and node.value.id == "_C"
        return ast.Name(node.attr) if is_native else self.generic_visit(node)


def _names_in(nodes):
    """Names that annotations, bases and aliases use."""
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


class ModuleStub:
    """The stub of one module, made from its source and the imported module."""

    def __init__(self, name, module_base):
        self.module = importlib.import_module(name)
        self.name, self.module_base = name, module_base
        self.homes = set()  # modules whose names this one shows
        self.tree = _Native().visit(ast.parse(inspect.getsource(self.module)))
        listed = getattr(self.module, "__all__", None)
        self.public = set(listed if listed is not None else
                          (each for each in self._defined() if not each.startswith("_")))

    def _defined(self):
        return [node.name for node in self.tree.body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))]

    def refuse(self, what):
        raise SystemExit(f"make_stubs: {what} of {self.name} has no annotations; annotate its "
                         "parameters and its result")

    def text(self):
        """The whole stub."""
        wanted, body = set(self.public), []
        while True:  # public classes may be made of private ones
            body = self._definitions(wanted)
            more = wanted | (_names_in(body) & set(self._defined()))
            if more == wanted:
                break
            wanted = more
        body = [*self._reexports(), *body]
        body = [*self._imports(_names_in(body)), *body]
        sentence = (ast.get_docstring(self.tree) or "").split("\n\n")[0].replace("\n", " ")
        made = ast.fix_missing_locations(ast.Module(body, []))
        return HEADER.format(sentence=sentence) + ast.unparse(made) + "\n"

    def _definitions(self, wanted):
        body = []
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in wanted:
                if node.returns is None:
                    self.refuse(node.name)
                body.append(_signature(node))
            elif isinstance(node, ast.ClassDef) and node.name in wanted:
                body.append(self._class(node))
            elif isinstance(node, ast.AnnAssign) and node.target.id in wanted:
                body.append(ast.AnnAssign(node.target, node.annotation, None, 1))
            elif isinstance(node, ast.Assign) and self._is_type(node.targets[0]):
                body.append(node)
            elif isinstance(node, ast.Assign) and self._is_of_own_class(node):
                body.append(self._other_name(node))
        return body

    def _is_of_own_class(self, node):
        """Whether a public name stands for a class of the module, or for an object of one."""
        kind = node.value.func if isinstance(node.value, ast.Call) else node.value
        return (isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.public
                and isinstance(kind, ast.Name) and inspect.isclass(vars(self.module).get(kind.id))
                and kind.id in self._defined())

    @staticmethod
    def _other_name(node):
        if not isinstance(node.value, ast.Call):
            return node
        return ast.AnnAssign(node.targets[0], node.value.func, None, 1)

    def _is_type(self, target):
        """Whether an assignment names a type for annotations."""
        return isinstance(target, ast.Name) and target.id in self.public and getattr(
            getattr(self.module, target.id), "__module__", "") == "typing"

    def _reexports(self):
        """Public names that another module of the package defines, and submodules."""
        found = []
        for name in sorted(self.public - set(self._defined())):
            value = getattr(self.module, name)
            if getattr(value, "__module__", "") in ("typing", self.name):
                continue
            if inspect.ismodule(value):
                found.append((value.__name__.rpartition(".")[0], name))
            elif self._is_of_package(name, value):
                found.append(("foregrad", name))
            elif isinstance(getattr(value, "__module__", None), str) and (
                    inspect.isclass(value) or inspect.isfunction(value)):
                found.append((value.__module__, name))
        native = [name for home, name in found if home == "foregrad._C"]  # it has no stub
        found = [(home, name) for home, name in found if home != "foregrad._C"]
        self.homes |= {home for home, _ in found} - {"foregrad"}
        return [*(ast.ImportFrom(home, [ast.alias(name, name)], 0) for home, name in found),
                *(self._native_class(name) for name in native)]

    def _native_class(self, name):
        base = getattr(self.module, name).__base__.__name__
        return ast.parse(f"class {name}({base}): ...").body[0]

    @staticmethod
    def _is_of_package(name, value):
        """Whether the package itself shows a thing that a private module defines."""
        package = vars(importlib.import_module("foregrad"))
        return package.get(name) is value and "._" in (getattr(value, "__module__", None) or "")

    def _class(self, node):
        owner = getattr(self.module, node.name)
        body = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        body = [ast.AnnAssign(each.target, each.annotation, None, 1) for each in body]
        if issubclass(owner, enum.Enum):
            body += [each for each in node.body if isinstance(each, ast.Assign)]
        typed = [each for block in node.body if _is_typed(block) for each in block.body]
        body += typed  # overloads, which the source needs for no call
        overloaded = {each.name for each in typed}
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name in overloaded:
                continue
            if method.returns is not None:
                body.append(_signature(method))
                if method.name == "forward" and issubclass(owner, self.module_base):
                    body.append(_signature(method, "__call__"))  # calls of a module check types
            elif not method.name.startswith("_") and not self._inherits(owner, method.name):
                self.refuse(f"{node.name}.{method.name}")
        sentence = ast.get_docstring(node)
        if sentence:
            body.insert(0, ast.Expr(ast.Constant(sentence)))
        return ast.ClassDef(node.name, node.bases, [], body or [ast.Expr(ast.Constant(...))], [])

    @staticmethod
    def _inherits(owner, name):
        return any(name in vars(base) for base in owner.__mro__[1:])

    def _imports(self, used):
        """Imports and aliases of names that the stub uses."""
        typed = [node for block in self.tree.body if _is_typed(block) for node in block.body]
        aliases = [node for node in typed if isinstance(node, (ast.Assign, ast.AnnAssign))]
        aliases += [node for node in self.tree.body if _is_type_variable(node) and
                    node.targets[0].id in used]
        used = used | _names_in(aliases)
        found = {}
        for node in [*self.tree.body, *typed]:  # imports for types come last, and win
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            for each in node.names:
                name = each.asname or each.name
                if name in used and getattr(node, "module", "") != "__future__":
                    found[name] = (ast.ImportFrom(node.module, [each], 0)
                                   if isinstance(node, ast.ImportFrom) else ast.Import([each]))
        self.homes |= {node.module for node in found.values() if isinstance(node, ast.ImportFrom)
                       and node.module.startswith("foregrad._") and node.module != "foregrad._C"}
        return [*found.values(), *aliases]
