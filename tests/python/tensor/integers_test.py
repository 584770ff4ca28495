"""Integers of any size: the answer of PyTorch where it has one, a sentence elsewhere."""

import struct

import foregrad as fg
import foregrad.nn.functional as F
import pytest
from foregrad import safetensors

MOST, LEAST = 2**63 - 1, -2**63
x = fg.arange(6.0).reshape(2, 3)
v = fg.arange(5.0)

# Calls, and ordinary ones that do the same.
ANSWERS = {
    "tril keeps all": (lambda x, v: fg.tril(x, MOST), lambda x, v: x),
    "tril keeps nothing": (lambda x, v: fg.tril(x, LEAST), lambda x, v: x * 0),
    "triu keeps all": (lambda x, v: fg.triu(x, LEAST), lambda x, v: x),
    "triu keeps nothing": (lambda x, v: x.triu(MOST), lambda x, v: x * 0),
    "a diagonal far above": (lambda x, v: fg.diagonal(x, MOST), lambda x, v: x[0, :0]),
    "a diagonal far below": (lambda x, v: x.diagonal(LEAST), lambda x, v: x[0, :0]),
    "diag far above": (lambda x, v: fg.diag(x, MOST), lambda x, v: x[0, :0]),
    "roll is modular": (lambda x, v: x.roll(MOST, 0), lambda x, v: x.roll(1, 0)),
    "roll by almost 2**63": (lambda x, v: x.roll(MOST - 2**31, 0), lambda x, v: x.roll(1, 0)),
    "roll back": (lambda x, v: x.roll(-2**63 + 2**32, 1),
                  lambda x, v: x.roll((-2**63 + 2**32) % 3, 1)),
    "a huge step": (lambda x, v: v[2::MOST], lambda x, v: v[2:3]),
    "a huge step of a strided tensor": (lambda x, v: x[:, 1][::MOST], lambda x, v: x[:1, 1]),
    "a step beyond 64 bits": (lambda x, v: v[::2**80], lambda x, v: v[:1]),
    "a start far below": (lambda x, v: v[LEAST:], lambda x, v: v),
    "ends beyond 64 bits": (lambda x, v: v[-2**80:2**80], lambda x, v: v),
    "an end far below": (lambda x, v: v[:LEAST], lambda x, v: v[:0]),
    "chunks": (lambda x, v: fg.cat(v.chunk(MOST - 4)), lambda x, v: v),
    "split": (lambda x, v: v.split(MOST)[0], lambda x, v: v),
    "unfold": (lambda x, v: v.unfold(0, 2, MOST), lambda x, v: v[None, :2]),
    "no repeats of nothing": (lambda x, v: v[:0].repeat(MOST), lambda x, v: v[:0]),
    "a view of nothing": (lambda x, v: x.as_strided((0,), (1,), MOST), lambda x, v: x[0, :0]),
    "a stride of one element": (lambda x, v: x.as_strided((1,), (MOST,), 0),
                                lambda x, v: x[0, :1]),
    "a range at the end": (lambda x, v: fg.arange(MOST - 3, MOST),
                           lambda x, v: fg.tensor([MOST - 3, MOST - 2, MOST - 1])),
    "a range over everything": (lambda x, v: fg.arange(LEAST, MOST, MOST),
                                lambda x, v: fg.tensor([LEAST, -1, MOST - 1])),
    "a pool with a huge stride": (lambda x, v: F.avg_pool2d(x[None], 2, 2**40),
                                  lambda x, v: x[:, :2].mean().reshape(1, 1, 1)),
    "a convolution with a huge stride":
    (lambda x, v: F.conv1d(x[None], fg.ones(1, 2, 2), stride=MOST),
     lambda x, v: x[:, :2].sum().reshape(1, 1, 1)),
    "rounding to no decimals at all": (lambda x, v: fg.round(x, decimals=MOST).isnan(),
                                       lambda x, v: fg.ones(2, 3, dtype=fg.bool)),
    "no elements of any size": (lambda x, v: fg.zeros(MOST, 0, MOST).sum(),
                                lambda x, v: fg.tensor(0.0)),
}

REFUSED = {
    "a size that would be a symbol": (lambda: fg.zeros(LEAST + 100), RuntimeError, "out of range"),
    "another one": (lambda: fg.zeros(LEAST + 1000), RuntimeError, "out of range"),
    "the least size": (lambda: fg.ones(2, LEAST), RuntimeError, "out of range"),
    "the most sizes": (lambda: fg.zeros(MOST, MOST), RuntimeError, "2\\^63"),
    "a stride that no size has": (lambda: fg.zeros(0, 2**62, 4), RuntimeError, "stride"),
    "a pad": (lambda: F.pad(x, (4, MOST - 4)), RuntimeError, "64 bits"),
    "a negative pad": (lambda: F.pad(x, (LEAST, 0)), RuntimeError, "out of range"),
    "a padding": (lambda: F.conv1d(x[None], fg.ones(1, 2, 2), padding=2**62), RuntimeError,
                  "padding"),
    "a dilation": (lambda: F.conv1d(x[None], fg.ones(1, 2, 2), dilation=2**62), RuntimeError,
                   "dilation"),
    "a padding of a pool": (lambda: F.max_pool1d(x, 2, 1, 2**62), RuntimeError, "padding"),
    "a dilation of a pool": (lambda: F.max_pool1d(x, 2, 1, 0, 2**62), RuntimeError, "dilation"),
    "a kernel": (lambda: F.avg_pool1d(x, 2**62), RuntimeError, "kernel"),
    "groups": (lambda: F.conv1d(x[None], fg.ones(1, 2, 2), groups=MOST), RuntimeError, "groups"),
    "a transposed stride": (lambda: F.conv_transpose1d(x[None], fg.ones(2, 2, 2), stride=MOST),
                            RuntimeError, "stride"),
    "strides that leave the memory":
    (lambda: x.as_strided((2, 2**32), (MOST - 4, 1), 0).add_(1), RuntimeError, "as_strided"),
    "an offset that leaves the memory": (lambda: x.as_strided((1,), (1,), MOST), RuntimeError,
                                         "as_strided"),
    "a negative offset": (lambda: x.as_strided((0,), (1,), -1), RuntimeError, "storage_offset"),
    "joined sizes": (lambda: fg.cat([fg.zeros(0, MOST), fg.zeros(0, 101)], 1), RuntimeError,
                     "64 bits"),
    "chunks of nothing": (lambda: v[:0].chunk(2**62), RuntimeError, "too long"),
    "parts of an expanded tensor": (lambda: fg.ones(1).expand(2**61).unbind(), RuntimeError,
                                    "at most 16777216 are made"),
    "an index": (lambda: v[LEAST], IndexError, "out of bounds"),
    "an index at the end": (lambda: v[MOST], IndexError, "out of bounds"),
    "a dimension": (lambda: x.unsqueeze(LEAST), IndexError, "out of range"),
    "a length": (lambda: x.narrow(0, 1, MOST), RuntimeError, "exceeds"),
    "an embedded diagonal": (lambda: fg.diag_embed(v, MOST), RuntimeError, "64 bits"),
    "repeats": (lambda: v.repeat(MOST), RuntimeError, "64 bits|2\\^63"),
    "repeats by a tensor": (lambda: v.repeat_interleave(fg.tensor([MOST, 1, 1, 1, 1])),
                            RuntimeError, "64 bits"),
    "many repeats by a tensor": (lambda: v.repeat_interleave(fg.tensor([2**60, 1, 1, 1, 1])),
                                 (RuntimeError, MemoryError), "2\\^63|memory"),
    "a window": (lambda: v.unfold(0, MOST, 1), RuntimeError, "unfold"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_has_the_answer_of_pytorch(case):
    call, ordinary = ANSWERS[case]
    result, expected = call(x, v), ordinary(x, v)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    assert fg.equal(result, expected)


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_a_sentence(case):
    call, kind, text = REFUSED[case]
    with pytest.raises(kind, match=text):
        call()


def gradients_of(function):
    """Gradients of x and v, and what the function returns; nothing where that has none."""
    leaves = [x.clone().requires_grad_(), v.clone().requires_grad_()]
    result = function(*leaves)
    if result.requires_grad:
        weights = fg.arange(1.0, result.numel() + 1).reshape(result.shape)
        (result * weights).sum().backward()
    return result.tolist(), [None if t.grad is None else t.grad.tolist() for t in leaves]


@pytest.mark.parametrize("case", [name for name in ANSWERS if name != "a view of nothing"])
def test_gradients_and_captured_calls_take_them_too(case):
    call, ordinary = ANSWERS[case]
    expected = gradients_of(ordinary)
    assert gradients_of(call) == expected
    assert gradients_of(fg.compile(call, fullgraph=True)) == expected


def test_a_view_of_nothing_far_away_is_not_captured_and_has_no_gradient():
    call, ordinary = ANSWERS["a view of nothing"]
    with pytest.raises(RuntimeError, match="outside of the tensor"):
        fg.compile(call, fullgraph=True)(x, v)
    with pytest.warns(UserWarning, match="outside of the tensor"):
        assert fg.equal(fg.compile(call)(x, v), ordinary(x, v))
    with pytest.raises(RuntimeError, match="more bytes than 2\\^63"):
        gradients_of(call)


@pytest.mark.parametrize("shift", [MOST, 2**62 + 1, -2**63 + 2**32])
def test_roll_has_a_gradient_for_any_shift(shift):
    leaf = fg.arange(3.0, requires_grad=True)
    (leaf.roll(shift) * fg.arange(3.0)).sum().backward()
    assert fg.equal(leaf.grad, fg.arange(3.0).roll(-(shift % 3)))


def test_a_file_with_sizes_that_do_not_add_up_is_refused(tmp_path):
    def write(name, sizes):
        header = f'{{"x":{{"dtype":"F32","shape":{sizes},"data_offsets":[0,0]}}}}'.encode()
        path = tmp_path / name
        path.write_bytes(struct.pack("<Q", len(header)) + header)
        return path

    wide = safetensors.load_file(write("wide", [0, MOST]))["x"]
    narrow = safetensors.load_file(write("narrow", [0, 101]))["x"]
    with pytest.raises(RuntimeError, match="64 bits"):
        fg.cat([wide, narrow], 1)
    for sizes in ([0, LEAST + 100], [LEAST], [0, 2**62, 4], [2**62, 4, 0], [-1, 0], [0, 2**64]):
        with pytest.raises((RuntimeError, ValueError)):
            safetensors.load_file(write("bad", sizes))
