"""Signatures of functions that are written in Python: their parameters and defaults are read, and
the types follow from names and defaults."""

import inspect
import re

from stubs.signatures import Signature

# By name, where the default does not tell.
_NAMED = {
    "input": "Tensor", "target": "Tensor", "other": "Tensor", "weight": "Tensor | None",
    "bias": "Tensor | None", "pos_weight": "Tensor | None", "running_mean": "Tensor | None",
    "running_var": "Tensor | None", "out": "Tensor | None", "dtype": "_dtype | None",
    "dim": "_int | None", "padding_idx": "_int | None", "num_groups": "_int",
    "kernel_size": "_Ints", "stride": "_Ints | None", "padding": "_Ints", "dilation": "_Ints",
    "output_size": "_Ints", "normalized_shape": "_Ints", "size_average": "_bool | None",
    "reduce": "_bool | None", "eps": "_float | None", "max_norm": "_float | None",
    "memory_format": "_memory_format", "threshold": "_Number", "value": "_Number",
    "input1": "Tensor", "input2": "Tensor", "anchor": "Tensor", "positive": "Tensor",
    "negative": "Tensor", "linear_weight": "Tensor", "linear_bias": "Tensor | None",
    "log_probs": "Tensor", "targets": "Tensor", "input_lengths": "Tensor | Sequence[_int]",
    "target_lengths": "Tensor | Sequence[_int]", "var": "Tensor | _float", "indices": "Tensor",
    "grid": "Tensor", "theta": "Tensor", "logits": "Tensor", "offsets": "Tensor | None",
    "per_sample_weights": "Tensor | None", "_random_samples": "Tensor | None",
    "size": "_Ints | None", "scale_factor": "_Number | Sequence[_float] | None",
    "output_ratio": "_Number | Sequence[_float] | None", "align_corners": "_bool | None",
    "recompute_scale_factor": "_bool | None", "norm_type": "_Number", "ignore_index": "_int | None",
}
_BY_DEFAULT = {bool: "_bool", int: "_int", float: "_float", str: "str"}


def _annotated(annotation):
    """An annotation of the source in the names of a stub; None where there is none."""
    if not isinstance(annotation, str):
        return None
    return re.sub(r"\b(int|bool|float)\b", r"_\1", annotation)


def _parameter(parameter):
    default = parameter.default
    missing = default is inspect.Parameter.empty
    written = _annotated(parameter.annotation)
    kind = written or _BY_DEFAULT.get(type(default), "Any")
    if not written and parameter.name in _NAMED and kind in ("Any", "_int"):
        kind = _NAMED[parameter.name]
        if missing:
            kind = kind.removesuffix(" | None") if parameter.name == "weight" else kind
    if missing:
        return f"{parameter.name}: {kind}"
    if default is None and kind != "Any" and not kind.endswith("None"):
        kind += " | None"
    shown = repr(default) if type(default) in _BY_DEFAULT or default is None else "..."
    return f"{parameter.name}: {kind} = {shown}"


def is_open(function):
    """Whether its parameters are *args and **kwargs, so that only the table knows them."""
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    return bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def signatures_of(function, method=False, result="Tensor"):
    """The signature of a Python function; two where a flag asks for indices as well."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    result = _annotated(signature.return_annotation) or result
    documentation = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    if function.__name__.endswith("_with_indices"):
        result = "tuple[Tensor, Tensor]"
    made = Signature(result, documentation)
    if method:
        made.positional.append(parameters.pop(0).name)
    for parameter in parameters:
        keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        (made.keywords if keyword else made.positional).append(_parameter(parameter))
    flag = "return_indices: _bool = False"
    if flag not in made.positional or result != "Tensor":
        return [made]
    rest = [text for text in made.positional if text != flag]
    return [Signature(result, documentation, [], [*rest, "return_indices: Literal[False] = False"]),
            Signature("tuple[Tensor, Tensor]", documentation, [], rest, "*",
                      ["return_indices: Literal[True]"])]
