"""Stubs of the classes that the package makes from the table of optimisers."""

HEADER = '"""{title} Made by python/make_stubs.py."""\n\n'
OPTIM = """from contextlib import AbstractContextManager
from typing import Any
from foregrad import Tensor
from foregrad.optim import lr_scheduler as lr_scheduler
from foregrad.optim import swa_utils as swa_utils
from foregrad.optim.lbfgs import LBFGS as LBFGS
from foregrad.optim.optimizer import Optimizer as Optimizer
from foregrad.optim.optimizer import _Params
from foregrad.optim.sparse_adam import SparseAdam as SparseAdam

def swap_in_optimizer_params_and_state(
    optimizer: Optimizer,
    swapin_parameters: dict[str, Tensor],
    swapin_optim_state: dict[str, Any],
) -> AbstractContextManager[None]:
    \"\"\"Lets an optimiser work on other parameters and their state for a while.\"\"\"

"""
TYPES = {bool: "bool", float: "float", int: "int"}


def _type(name, default):
    if default is None:
        return "str | None" if name == "adjust_lr_fn" else "bool | None"
    if isinstance(default, tuple):
        return f"tuple[{', '.join('float | None' if x is None else 'float' for x in default)}]"
    return "float | Tensor" if name == "lr" else TYPES[type(default)]


def _init(parameters):
    lines = "".join(f"        {each},\n" for each in ["self", *parameters])
    return f"    def __init__(\n{lines}    ) -> None: ...\n"


def _shown(name, default):
    return f"{name}: {_type(name, default)} = {default!r}"


def optim_stub(title, rows, modes):
    """foregrad/optim/__init__.pyi."""
    text = HEADER.format(title=title) + OPTIM
    for row in rows.values():
        known = {**modes, **row["settings"]}
        parameters = [each if each == "*" else _shown(each, known[each])
                      for each in row["parameters"].split(", ")]
        text += f"class {row['name']}({row['base'] or 'Optimizer'}):\n"
        text += f'    """{row["documentation"]}"""\n\n'
        text += _init(["params: _Params", *parameters]) + "\n"
    return text


def settings_stub(title, rows):
    """foregrad/compiler/_step_settings.pyi."""
    text = HEADER.format(title=title) + "from foregrad import Tensor\n\n"
    text += "class Settings: ...\n\n"
    for row in rows.values():
        text += f"class {row['name']}(Settings):\n"
        text += f'    """The settings of {row["name"]}. {row["documentation"]}"""\n\n'
        for name, default in row["settings"].items():
            text += f"    {name}: {_type(name, default)}\n"
        text += _init([_shown(*each) for each in row["settings"].items()]) + "\n"
    return text
