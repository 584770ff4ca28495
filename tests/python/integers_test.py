"""Integers of any size: the answer of PyTorch where it has one, a sentence elsewhere."""

import struct

import foregrad as fg
import foregrad.nn.functional as F
import pytest
from foregrad import safetensors

MOST, LEAST = 2**63 - 1, -2**63
x = fg.arange(6.0).reshape(2, 3)
v = fg.arange(5.0)

ANSWERS = {
    "tril keeps all": (lambda: fg.tril(x, MOST), x),
    "tril keeps nothing": (lambda: fg.tril(x, LEAST), fg.zeros(2, 3)),
    "triu keeps all": (lambda: fg.triu(x, LEAST), x),
    "triu keeps nothing": (lambda: x.triu(MOST), fg.zeros(2, 3)),
    "a diagonal far above": (lambda: fg.diagonal(x, MOST), fg.ones(0)),
    "a diagonal far below": (lambda: x.diagonal(LEAST), fg.ones(0)),
    "diag far above": (lambda: fg.diag(x, MOST), fg.ones(0)),
    "roll is modular": (lambda: x.roll(MOST, 0), x.roll(1, 0)),
    "roll by almost 2**63": (lambda: x.roll(MOST - 2**31, 0), x.roll(1, 0)),
    "roll back": (lambda: x.roll(-2**63 + 2**32, 1), x.roll((-2**63 + 2**32) % 3, 1)),
    "a huge step": (lambda: v[2::MOST], v[2:3]),
    "a huge step of a strided tensor": (lambda: x[:, 1][::MOST], x[:1, 1]),
    "a step beyond 64 bits": (lambda: v[::2**80], v[:1]),
    "a start far below": (lambda: v[LEAST:], v),
    "ends beyond 64 bits": (lambda: v[-2**80:2**80], v),
    "an end far below": (lambda: v[:LEAST], v[:0]),
    "chunks": (lambda: fg.cat(v.chunk(MOST - 4)), v),
    "split": (lambda: v.split(MOST)[0], v),
    "unfold": (lambda: v.unfold(0, 2, MOST), v[None, :2]),
    "no repeats of nothing": (lambda: v[:0].repeat(MOST), v[:0]),
    "a view of nothing": (lambda: x.as_strided((0,), (1,), MOST), fg.ones(0)),
    "a stride of one element": (lambda: x.as_strided((1,), (MOST,), 0), x[0, :1]),
    "a range at the end": (lambda: fg.arange(MOST - 3, MOST), fg.tensor([MOST - 3, MOST - 2,
                                                                           MOST - 1])),
    "a range over everything": (lambda: fg.arange(LEAST, MOST, MOST), fg.tensor([LEAST, -1,
                                                                                  MOST - 1])),
    "a pool with a huge stride": (lambda: F.avg_pool2d(x[None], 2, 2**40), fg.tensor([[[2.0]]])),
    "a convolution with a huge stride":
    (lambda: F.conv1d(x[None], fg.ones(1, 2, 2), stride=MOST), fg.tensor([[[8.0]]])),
    "rounding to no decimals at all": (lambda: fg.round(x, decimals=MOST).isnan(),
                                       fg.ones(2, 3, dtype=fg.bool)),
    "no elements of any size": (lambda: fg.zeros(MOST, 0, MOST).sum(), fg.tensor(0.0)),
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
    call, expected = ANSWERS[case]
    result = call()
    assert result.shape == expected.shape and result.dtype == expected.dtype
    assert fg.equal(result, expected)


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_a_sentence(case):
    call, kind, text = REFUSED[case]
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("case", [name for name in ANSWERS if "range" not in name])
def test_gradients_and_captured_calls_take_them_too(case):
    call, expected = ANSWERS[case]
    captured = fg.compile(lambda: call() * 1)
    assert fg.equal(captured(), expected * 1)


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
