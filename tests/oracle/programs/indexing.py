"""Indexing: every kind of index, alone and mixed, read and written, with gradients and errors."""
import numpy as np

from observe import outcome, Raised, raises, register, see, see_grads

INDICES = {
    "integer": "1", "negative": "-1", "slice": "1:3", "step": "::2", "all": ":", "dots": "...",
    "none": "None", "pair": "1, 2", "dots_last": "..., 0", "none_between": ":, None, 1",
    "slice_integer": "1:, 0", "list": "[0, 2]", "list_pair": "[0, 1], [1, 2]",
    "list_slice": "[0, 2], 1:", "slice_list": ":, [0, 2]", "list_apart": "[0, 1], :, [0, 1]",
    "bools": "[True, False, True, True]", "mask": "T(MASK4)", "whole_mask": "x > 0",
    "mask_and_integer": "T(MASK4), 1", "tensor": "T([2, 0])", "tensor_2d": "T([[0, 1], [2, 3]])",
    "zero_dim_tensor": "T(1)", "tensor_pair": "T([0, 1]), T([1, 0])",
    "tensor_broadcast": "T([[0], [1]]), T([0, 2])", "tensor_none": "None, T([0, 1])",
    "numpy_integer": "np.int64(1)", "numpy_array": "np.array([0, 2])", "true": "True",
    "false": "False", "empty_list": "[]", "empty_tuple": "()", "empty_slice": "2:2",
    "negative_tensor": "T([-1, 0])", "byte_tensor": "torch.tensor([1, 0, 1, 1], dtype=torch.uint8)",
    "int32": "torch.tensor([0, 1], dtype=torch.int32)", "mixed": "0, [1, 2], None, :2",
    "integer_list_apart": "0, :, [1, 0]", "repeated": "[1, 1, 1]", "nested": "[[0, 1], [1, 0]]",
    "dots_and_mask": "..., x[0, 0] > 0", "too_far": "4", "too_many": "0, 0, 0, 0",
    "float": "1.0", "string": "'a'", "list_too_far": "[0, 9]", "two_dots": "..., ...",
    "negative_step": "::-1", "zero_step": "::0", "wrong_mask": "T([True, False])",
    "float_tensor": "torch.tensor([1.0])", "slice_of_tensors": "T(1):T(3)", "big_slice": "-9:9",
    "tuple_list": "([0, 1], [0, 1])", "range": "range(2)",
    "mask_pair": "T(MASK4), T([True, True, False])"}


def indexed(text):
    def run(torch, draw):
        x = draw.tensor(4, 3, 2, grad=True)
        names = {"torch": torch, "T": torch.tensor, "MASK4": [True, False, True, False], "np": np}

        def at(t):
            names["x"] = t
            return eval(f"x[{text}]", names)

        result = outcome(lambda: at(x))
        see("read", result)
        if not isinstance(result, Raised):
            g = outcome(lambda: torch.autograd.grad(result, x, draw.weights_like(result),
                                                    create_graph=True))
            see("d x", g)
            see("shares memory", result._is_view())
        see("transposed", outcome(lambda: at(draw.tensor(2, 3, 4).permute(2, 1, 0))))
        for label, value in (("number", "2.5"), ("zero-dim", "torch.tensor(3.0)"),
                             ("like", "value * 2"), ("too large", "torch.ones(7, 7)"),
                             ("vector", "torch.ones(2, dtype=torch.float64)")):
            y = x.clone()
            names.update(x=y, value=None if isinstance(result, Raised) else result)
            raises("write " + label, lambda: exec(f"x[{text}] = {value}", names))
            see("written " + label, y)
            raises("backward", lambda: (y * y).sum().backward())
            see_grads(x=x)
            x.grad = None
        plain = draw.tensor(4, 3, 2, dtype="int64")
        names["x"] = plain
        raises("write int", lambda: exec(f"x[{text}] = 7.9", names))
        see("written int", plain)
        raises("add in place", lambda: exec(f"x[{text}] += 1", names))
        see("added", plain)

    return run


for index_name, index in INDICES.items():
    register(__name__, index_name, indexed(index))
