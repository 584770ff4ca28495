"""The stubs: editors and type checkers find every name of the package, and no other."""

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import foregrad as fg
import foregrad.compiler  # noqa: F401  loaded when they are first asked for
import foregrad.optim  # noqa: F401
import foregrad.safetensors  # noqa: F401
import foregrad.serialization  # noqa: F401
import pytest
from foregrad import _late  # every name of the package

pytest.importorskip("mypy")
_late.load_all()

ROOT = Path(__file__).resolve().parents[3]
MAKER = ROOT / "python" / "make_stubs.py"

GOOD_PROGRAM = """
import foregrad as fg
import foregrad.nn.functional as F
from foregrad.autograd import Function
from foregrad.autograd.function import FunctionCtx
from foregrad.utils import data

class Double(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: fg.Tensor) -> fg.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: FunctionCtx, grad: fg.Tensor) -> fg.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 2 + 0 * x

@fg.no_grad()
def sizes(x: fg.Tensor) -> list[int]:
    return [x.size(0), *x.shape, x.stride(0), x.dim(), len(x)]

x = fg.zeros(2, 3, dtype=fg.float64, requires_grad=True)
x = fg.ones((2, 3), device="cpu").view(3, 2).view([6]).requires_grad_()
y: fg.Tensor = 2 ** (1 - x) / 3 + x.max(0).values @ x - x[None, 1:, ..., x > 0]
values, where = fg.max(x, 0, keepdim=True)
y += 1
y = y.clamp(0, 1).clamp(min=x).to(fg.int64).to("cpu", fg.float32).to(x)
y = fg.where(y > 0, 1, y).sum(dim=(0, 1), dtype=fg.float32)
y.uniform_(0, 1).normal_(std=2.0, generator=fg.Generator().manual_seed(0))
parts: tuple[fg.Tensor, ...] = x.split([2, 4]) + x.nonzero(as_tuple=True)
loss = F.cross_entropy(F.relu(x, inplace=True), x, reduction="sum") + F.silu(x, inplace=False)
pooled, indices = F.max_pool2d(x, 2, return_indices=True)
loss.backward(retain_graph=True)
gradient = x.grad
if gradient is not None:
    print(gradient.norm().item(), sizes(gradient), gradient.grad_fn)
handle = x.register_hook(lambda g: g * 2)
handle.remove()
with fg.no_grad(), fg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    z = fg.nn.Parameter(fg.cat([x, y], dim=0), requires_grad=True)
    z.mul_(2).retain_grad()
(first,) = fg.autograd.grad(Double.apply(x).sum(), x, create_graph=True)
named = fg.autograd.grad(loss, {"x": x})["x"]
epsilon: float = fg.finfo(fg.float32).eps

class Net(fg.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = fg.nn.Sequential(fg.nn.Linear(2, 3), fg.nn.ReLU())

    def forward(self, x: fg.Tensor) -> fg.Tensor:
        return self.layers(x)

class Squares(data.Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index * index

    def __len__(self) -> int:
        return 10

train, rest = data.random_split(Squares(), [0.9, 0.1], fg.Generator().manual_seed(0))
loader = data.DataLoader(train, 4, shuffle=True, num_workers=2, prefetch_factor=4)
both = data.TensorDataset(x, y) + data.TensorDataset(y, x)
for batch in loader:
    print(len(loader), batch.sum(), train[0] + 1, both[0][1].sum())
weighted: list[int] = list(data.WeightedRandomSampler([0.5, 0.5], 3))

net = Net().double().train()
optimizer = fg.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.8, 0.9))
schedule = fg.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
fg.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
fg.safetensors.save_file(net.state_dict(), "model.safetensors", {"step": "1"})
fg.save({"model": net.state_dict()}, "checkpoint")
print(net.load_state_dict(fg.load("checkpoint")["model"]).missing_keys, schedule.get_last_lr())
ok: bool = fg.autograd.gradcheck(fg.sin, x) and fg.equal(x, first)
"""

# Every line is an error, of the given code.
WRONG_LINES = {
    'fg.ones(2).foo()': "attr-defined",
    'fg.ones("two")': "arg-type",
    'fg.sin(1.0)': "arg-type",
    'fg.ones(2).view("a")': "arg-type",
    'fg.ones(2) + "a"': "operator",
    'fg.ones(2) @ 2': "operator",
    'n: int = fg.ones(2).sum()': "assignment",
    's: str = fg.ones(2).size(0)': "assignment",
    'fg.cat(1)': "arg-type",
    'fg.ones(2).backward(create_graph=1.5)': "arg-type",
    'fg.nn.functional.relu(x=1)': "call-arg",
    'fg.ones(2).grad.sum()': "union-attr",
    'fg.optim.Shampoo': "attr-defined",
    'fg.nn.Linear("2", 3)': "arg-type",
    'fg.optim.AdamW(3)': "arg-type",
    'fg.optim.RMSprop([fg.ones(2)], alpha="much")': "arg-type",
    'fg.compiler.Adagrad(alpha=1)': "call-arg",
    'fg.nn.Linear(2, 3, out=1)': "call-arg",
    'fg.sum(fg.ones(2), keep=True)': "call-overload",
}


SOURCE = '''"""Some things."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import overload

    _Texts = Iterable[str]

__all__ = ["Shown", "path_of"]


def _helper(x):
    return x


def path_of(name: str, folder: _Kind | None = None, *, depth: int = os.R_OK) -> os.PathLike[str]:
    """One sentence.

    And more.
    """
    return name


class _Kind:
    length: int = 3


class _Base(dict):
    def forward(self, x: int) -> int:
        return x

    def _hidden(self, x):
        return x


class Shown(_Base):
    """What users see."""

    if TYPE_CHECKING:
        @overload
        def get(self, x: int) -> int: ...
        @overload
        def get(self, x: str) -> str: ...

    def get(self, x):
        return x

    def keys(self):
        return []

    @property
    def texts(self) -> _Texts:
        return []
'''

STUB = '''"""Some things. Made by python/make_stubs.py."""
import os
from collections.abc import Iterable
from typing import overload
_Texts = Iterable[str]

def path_of(name: str, folder: _Kind | None = None, *, depth: int = ...) -> os.PathLike[str]:
    """One sentence."""

class _Kind:
    length: int

class _Base(dict):
    def forward(self, x: int) -> int: ...
    def __call__(self, x: int) -> int: ...

class Shown(_Base):
    """What users see."""
    @overload
    def get(self, x: int) -> int: ...
    @overload
    def get(self, x: str) -> str: ...
    @property
    def texts(self) -> _Texts: ...
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package's Python files with fresh stubs."""
    folder = tmp_path_factory.mktemp("stubs")
    shutil.copytree(ROOT / "python" / "foregrad", folder / "foregrad",
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    output = folder / "foregrad" / "__init__.pyi"
    subprocess.run([sys.executable, MAKER, output, fg._C.__file__], check=True)
    return folder


def check_types(folder, *files):
    """The errors that mypy reports in these files, line by line."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--show-error-codes",
         "--hide-error-context", "--no-color-output", "--cache-dir", folder / "cache", *files],
        capture_output=True, text=True, cwd=folder)
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def top_names(tree):
    """Names that a stub defines for users."""
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names if alias.asname == alias.name}
    return {name for name in names if not name.startswith("_")}


def public_names(owner):
    """Names that users see; what installs the package's names is none of them."""
    return {name for name, value in vars(owner).items() if not name.startswith("_")
            and getattr(value, "__module__", "") != "foregrad._names"}


def class_of(tree, name):
    return next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)


def test_the_stubs_themselves_have_no_type_errors(package):
    stubs = sorted((package / "foregrad").rglob("*.pyi"))
    assert len(stubs) >= 35
    assert check_types(package, *stubs) == []


def test_a_typed_program_has_no_errors(package):
    program = package / "good.py"
    program.write_text(GOOD_PROGRAM)
    assert check_types(package, program) == []


def test_wrong_types_are_found(package):
    program = package / "wrong.py"
    program.write_text("import foregrad as fg\n" + "".join(f"{line}\n" for line in WRONG_LINES))
    errors = check_types(package, program)
    found = {int(error.split(":")[1]): error for error in errors}
    for number, (line, code) in enumerate(WRONG_LINES.items(), 2):
        assert f"[{code}]" in found.get(number, "nothing"), f"{line}: {found.get(number)}"
    assert len(found) == len(WRONG_LINES), errors


def test_the_stub_and_the_module_have_the_same_names(package):
    tree = ast.parse((package / "foregrad" / "__init__.pyi").read_text())
    assert top_names(tree) == public_names(fg)


def test_the_stub_and_the_tensor_have_the_same_names(package):
    tree = ast.parse((package / "foregrad" / "__init__.pyi").read_text())
    assert top_names(class_of(tree, "Tensor")) == public_names(fg.Tensor)


@pytest.mark.parametrize("name", ["Generator", "Size", "device", "dtype", "finfo", "iinfo"])
def test_the_stub_of_a_class_has_what_the_class_has(package, name):
    tree = ast.parse((package / "foregrad" / "__init__.pyi").read_text())
    made = {"finfo": lambda: fg.finfo(fg.float32), "iinfo": lambda: fg.iinfo(fg.int8)}
    owner = made.get(name, lambda: getattr(fg, name))()
    written = top_names(class_of(tree, name))
    assert all(hasattr(owner, one) for one in written), written
    inherited = set(dir(tuple)) if name == "Size" else set()
    assert public_names(getattr(fg, name)) - inherited <= written


def test_a_stub_that_is_written_by_hand_says_why():
    written = sorted((ROOT / "python" / "foregrad").rglob("*.pyi"))
    assert 0 < len(written) <= 6
    for path in written:
        assert path.read_text().splitlines()[1].startswith("# Written by hand: "), path


def test_every_public_module_has_a_stub(package):
    for path in (package / "foregrad").rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        private = any(part.startswith("_") and part != "__init__" for part in parts)
        if not private and parts[1:3] != ("utils", "tensorboard"):  # that needs its package
            assert path.with_suffix(".pyi").exists(), path


BROKEN = {
    "a function without annotations": ("def added(x):\n    return x\n", "added of"),
    "a method without annotations": ("class Added:\n    def more(self, x):\n        return x\n",
                                     "Added.more of"),
}


@pytest.mark.parametrize("text, message", BROKEN.values(), ids=BROKEN)
def test_a_public_name_without_annotations_is_refused(tmp_path, text, message):
    name = "public_names_without_annotations"
    (tmp_path / f"{name}.py").write_text(text)
    program = ("import sys; sys.path[:0] = sys.argv[1:3]\nfrom stubs.modules import ModuleStub\n"
               f"print(ModuleStub('{name}', object).text())")
    done = subprocess.run([sys.executable, "-c", program, tmp_path, MAKER.parent],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert f"make_stubs: {message} {name} has no annotations; annotate its" in done.stderr


def test_a_stub_follows_its_source(tmp_path):
    (tmp_path / "some_source.py").write_text(SOURCE)
    program = ("import sys; sys.path[:0] = sys.argv[1:3]\nfrom stubs.modules import ModuleStub\n"
               "print(ModuleStub('some_source', dict).text())")
    made = subprocess.run([sys.executable, "-c", program, tmp_path, MAKER.parent], check=True,
                          capture_output=True, text=True).stdout
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(STUB))


@pytest.mark.parametrize("name", ["autograd", "autograd.function", "autograd.gradcheck",
                                  "autograd.graph", "nn", "nn.functional", "nn.init", "nn.modules",
                                  "nn.modules.container", "nn.modules.conv", "nn.modules.module",
                                  "nn.modules.parameters", "nn.parameter", "nn.utils", "optim",
                                  "optim.lbfgs", "optim.lr_scheduler", "optim.optimizer",
                                  "optim.sparse_adam", "optim.swa_utils", "safetensors",
                                  "serialization", "utils", "utils.data", "utils.data.dataloader",
                                  "utils.data.dataset", "utils.data.distributed",
                                  "utils.data.sampler", "utils.hooks"])
def test_stubs_of_submodules_have_their_names(package, name):
    module = importlib.import_module(f"foregrad.{name}")
    path = package / "foregrad" / name.replace(".", "/")
    stub = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    written = top_names(ast.parse(stub.read_text()))
    assert all(hasattr(module, one) for one in written), written
    expected = getattr(module, "__all__", None) or public_names(module)
    assert set(expected) <= written


def test_every_function_has_a_sentence(package):
    tree = ast.parse((package / "foregrad" / "__init__.pyi").read_text())
    silent = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)
              and not node.name.startswith("_") and not ast.get_docstring(node)}
    assert silent <= {"get_default_dtype", "get_num_threads", "initial_seed", "is_floating_point",
                      "is_grad_enabled", "is_inference_mode_enabled", "set_num_threads"}
