"""summary(): the layers of a model, their output sizes and parameters, as a table."""

from __future__ import annotations

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any
    from foregrad import dtype as _dtype
    from foregrad.nn import Module

__all__ = ["ModelSummary", "summary"]


class _Row:
    def __init__(self, name, module, depth):
        self.name, self.kind, self.depth = name, type(module).__name__, depth
        own = list(module._parameters.values()) if not list(module.children()) else list(
            module.parameters())
        self.parameters = sum(p.numel() for p in own if p is not None)
        self.output = "--"


class ModelSummary:
    """The rows and sums of a model; its text is the table."""

    def __init__(self, rows: list[Any], model: Any, bytes_of_outputs: int) -> None:
        self.rows = rows
        parameters = list(model.parameters())
        self.total_params: int = sum(p.numel() for p in parameters)
        self.trainable_params: int = sum(p.numel() for p in parameters if p.requires_grad)
        self.total_param_bytes: int = sum(p.nbytes for p in parameters)
        self.total_output_bytes: int = bytes_of_outputs

    def __repr__(self) -> str:
        titles = ("Layer (type)", "Output Shape", "Param #")
        names = ["  " * row.depth + (f"{row.name}: {row.kind}" if row.name else row.kind)
                 for row in self.rows]
        cells = [(name, row.output, f"{row.parameters:,}" if row.parameters else "--")
                 for name, row in zip(names, self.rows)]
        widths = [max(len(row[i]) for row in (titles, *cells)) + 2 for i in range(3)]
        lines = ["".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
                 for row in (titles, *cells)]
        rule = "=" * sum(widths)
        mib = 2**20
        totals = [f"Total params: {self.total_params:,}",
                  f"Trainable params: {self.trainable_params:,}",
                  f"Non-trainable params: {self.total_params - self.trainable_params:,}",
                  f"Params size (MB): {self.total_param_bytes / mib:.2f}",
                  f"Outputs size (MB): {self.total_output_bytes / mib:.2f}"]
        return "\n".join([rule, lines[0], rule, *lines[1:], rule, *totals, rule])


def _shape_of(output):
    if isinstance(output, _C.Tensor):
        return str(list(output.shape))
    if isinstance(output, (tuple, list)) and output:
        return _shape_of(output[0])
    return "--"


def _inputs(input_size, input_data, dtypes):
    if input_data is not None:
        return input_data if isinstance(input_data, (tuple, list)) else (input_data,)
    if input_size is None:
        return None
    several = input_size and isinstance(input_size[0], (tuple, list))
    sizes = input_size if several else [input_size]
    dtypes = dtypes or [_C.float32] * len(sizes)
    if len(dtypes) != len(sizes):
        raise ValueError(f"summary: got {len(sizes)} input sizes and {len(dtypes)} dtypes; give a "
                         "dtype for each")
    return [_C._functions.zeros(tuple(size), dtype=dtype) for size, dtype in zip(sizes, dtypes)]


def summary(model: Module, input_size: Any = None, input_data: Any = None, *,
            dtypes: list[_dtype] | None = None, depth: int = 3, verbose: int = 1,
            **kwargs: Any) -> ModelSummary:
    """The layers of a model as a table; with `input_size`, batch included, or `input_data` also
    the sizes of their outputs, of one call in evaluation without gradients."""
    from foregrad.autograd import no_grad

    rows, handles, sums = {}, [], [0]

    def visit(module, name, level):
        if level > depth or id(module) in rows:
            return
        row = rows[id(module)] = _Row(name, module, level)

        def note(module, args, output):
            row.output = _shape_of(output)
            if isinstance(output, _C.Tensor) and not list(module.children()):
                sums[0] += output.nbytes

        handles.append(module.register_forward_hook(note))
        for child_name, child in module.named_children():
            visit(child, child_name, level + 1)

    visit(model, "", 0)
    inputs = _inputs(input_size, input_data, dtypes)
    training = [(module, module.training) for module in model.modules()]
    try:
        if inputs is not None or kwargs:
            model.eval()
            with no_grad():
                model(*(inputs or ()), **kwargs)
    finally:
        for module, mode in training:
            module.training = mode
        for handle in handles:
            handle.remove()
    made = ModelSummary(list(rows.values()), model, sums[0])
    if verbose:
        print(made)
    return made
