"""Recurrent networks and packed sequences: values, gradients, captures, refusals."""

import copy
import math
import pickle
import warnings

import foregrad as fg
import pytest

nn, rnn = fg.nn, fg.nn.utils.rnn
KINDS = ("LSTM", "GRU", "RNN")


def slow_lstm(x, h, c, w_ih, w_hh, b_ih, b_hh):
    outputs = []
    for row in x:
        i, f, g, o = (row @ w_ih.T + b_ih + h @ w_hh.T + b_hh).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outputs.append(h)
    return fg.stack(outputs), h, c


def states(result):
    """Output and states as a flat list."""
    out, last = result
    out = out.data if isinstance(out, rnn.PackedSequence) else out
    return [out, *(last if isinstance(last, tuple) else (last,))]


def test_an_lstm_is_its_formula_with_all_derivatives():
    fg.manual_seed(0)
    model = nn.LSTM(3, 5).double()
    x, h, c = (fg.randn(*s, dtype=fg.float64) for s in ((4, 2, 3), (2, 5), (2, 5)))
    seen = states(model(x, (h[None], c[None])))
    expected = slow_lstm(x, h, c, *model.parameters())
    assert all(a.allclose(b) for a, b in zip(seen, (expected[0], expected[1][None],
                                                    expected[2][None])))
    inputs = [t.requires_grad_() for t in (x, h[None].clone(), c[None].clone())]
    assert fg.autograd.gradcheck(lambda x, h, c: model(x, (h, c))[0], inputs)
    assert fg.autograd.gradgradcheck(lambda x, h, c: model(x, (h, c))[0], inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_two_directions_are_two_networks(kind):
    fg.manual_seed(1)
    both = getattr(nn, kind)(3, 4, bidirectional=True)
    one, other = (getattr(nn, kind)(3, 4) for _ in range(2))
    state = both.state_dict()
    one.load_state_dict({n: t for n, t in state.items() if "reverse" not in n})
    other.load_state_dict({n.removesuffix("_reverse"): t for n, t in state.items()
                           if "reverse" in n})
    x = fg.randn(6, 2, 3)
    out, last = both(x)
    there, back = one(x)[0], other(x.flip(0))[0].flip(0)
    assert out.equal(fg.cat([there, back], 2))
    h = last[0] if kind == "LSTM" else last
    assert h.equal(fg.stack([there[-1], back[0]]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_a_layer_of_one_step(kind):
    fg.manual_seed(2)
    cell, layer = getattr(nn, kind + "Cell")(3, 4), getattr(nn, kind)(3, 4)
    layer.load_state_dict({n + "_l0": t for n, t in cell.state_dict().items()})
    x, state = fg.randn(5, 2, 3), None
    for row in x:
        state = cell(row, state)
    expected = states(layer(x))[1:]
    assert all(a.equal(b[0]) for a, b in zip(state if kind == "LSTM" else [state], expected))
    alone = cell(x[0, 0])
    assert (alone[0] if kind == "LSTM" else alone).shape == (4,)


def test_layouts_and_inputs_without_a_batch_agree():
    fg.manual_seed(3)
    model, first = nn.GRU(3, 4, 2, bidirectional=True), nn.GRU(3, 4, 2, batch_first=True,
                                                                bidirectional=True)
    first.load_state_dict(model.state_dict())
    x, h = fg.randn(5, 2, 3), fg.randn(4, 2, 4)
    out, last = model(x, h)
    other, again = first(x.transpose(0, 1), h)
    assert out.equal(other.transpose(0, 1)) and last.equal(again)
    alone, end = model(x[:, 1], h[:, 1])
    assert alone.equal(out[:, 1]) and end.equal(last[:, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_stop_where_they_end(kind):
    fg.manual_seed(4)
    model = getattr(nn, kind)(3, 4, 2, bidirectional=True)
    sequences = [fg.randn(n, 3) for n in (2, 5, 3)]
    packed = rnn.pack_sequence(sequences, enforce_sorted=False)
    out, last = model(packed)
    assert isinstance(out, rnn.PackedSequence)
    for i, part in enumerate(rnn.unpack_sequence(out)):
        alone = states(model(sequences[i]))
        assert part.equal(alone[0])
        assert all(a[:, i].equal(b) for a, b in zip(states((part, last))[1:], alone[1:]))


def test_names_order_and_first_values_are_pytorchs():
    model = nn.LSTM(3, 40, 2, bidirectional=True, proj_size=20)
    names = [f"{n}_l{i}{end}" for i in range(2) for end in ("", "_reverse")
             for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")]
    assert list(model.state_dict()) == names
    assert [len(each) for each in model.all_weights] == [5] * 4
    assert model.weight_hr_l1_reverse.shape == (20, 40)
    largest = max(p.abs().max().item() for p in model.parameters())
    assert 0.95 / math.sqrt(40) < largest <= 1 / math.sqrt(40)
    assert model.flatten_parameters() is None
    assert repr(model) == "LSTM(3, 40, proj_size=20, num_layers=2, bidirectional=True)"
    assert repr(nn.RNNCell(3, 4, False, "relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"
    again = pickle.loads(pickle.dumps(model))
    assert again(x := fg.randn(2, 1, 3))[0].equal(model(x)[0])
    assert copy.deepcopy(model)(x)[0].equal(model(x)[0])


def test_dropout_between_layers_is_for_training():
    fg.manual_seed(5)
    model, x = nn.GRU(3, 64, 2, dropout=0.5), fg.randn(3, 2, 3)
    assert not model(x)[0].equal(model(x)[0])
    model.eval()
    assert model(x)[0].equal(model(x)[0])


def test_packing_and_padding_are_inverse():
    x = fg.arange(24.0).reshape(4, 3, 2).requires_grad_()
    packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 0, 2]
    padded, lengths = rnn.pad_packed_sequence(packed, padding_value=-1.0, total_length=5)
    assert lengths.tolist() == [2, 4, 1] and padded.shape == (5, 3, 2)
    assert padded[4].eq(-1).all() and padded[:4, 1].equal(x[:, 1])
    padded.sum().backward()
    assert x.grad[:, :, 0].tolist() == [[1, 1, 1], [1, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert [len(part) for part in rnn.unpad_sequence(padded, lengths)] == [2, 4, 1]
    left = rnn.pad_sequence([fg.ones(1), fg.ones(3)], True, padding_side="left")
    assert left.tolist() == [[0, 0, 1], [1, 1, 1]]
    assert packed.double().data.dtype == fg.float64 and packed.to(fg.float32) is packed
    assert rnn.invert_permutation(fg.tensor([2, 0, 1])).tolist() == [1, 2, 0]


def step_by_step(cell, x):
    state = None
    for row in x:
        state = cell(row, state)
    return state


CAPTURED = {
    **{f"{kind} with dropout": (lambda kind=kind: getattr(nn, kind)(
        8, 16, 2, dropout=0.3, bidirectional=True), lambda m, x: states(m(x))) for kind in KINDS},
    "a projected LSTM": (lambda: nn.LSTM(8, 16, proj_size=4, batch_first=True),
                         lambda m, x: states(m(x))),
    "a packed GRU": (lambda: nn.GRU(8, 16), lambda m, x: [rnn.pad_packed_sequence(m(
        rnn.pack_padded_sequence(x, [2, 6, 4, 1], enforce_sorted=False))[0])[0]]),
    "steps of an LSTMCell": (lambda: nn.LSTMCell(8, 16), step_by_step),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_networks_have_the_bits_of_eager_ones(name):
    make, call = CAPTURED[name]
    fg.manual_seed(6)
    eager = make()
    other = copy.deepcopy(eager)
    compiled = fg.compile(lambda x: call(other, x), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(2):
            seen = []
            for run, model in ((lambda x: call(eager, x), eager), (compiled, other)):
                fg.manual_seed(7 + i)
                x = (fg.arange(192.0).reshape(6, 4, 8) * (0.1 + i)).sin().requires_grad_()
                model.zero_grad()
                outputs = run(x)
                sum((out * out).sum() for out in outputs).backward()
                seen.append([*outputs, x.grad, *(p.grad for p in model.parameters())])
            assert all(a.equal(b) for a, b in zip(*seen))


def test_a_packed_sequence_may_be_an_argument_of_captured_code():
    model = nn.LSTM(3, 4)
    compiled = fg.compile(model, fullgraph=True)
    for lengths in ([2, 4, 3], [3, 3, 3]):
        packed = rnn.pack_padded_sequence(fg.randn(4, 3, 3), lengths, enforce_sorted=False)
        assert all(a.equal(b) for a, b in zip(states(model(packed)), states(compiled(packed))))


@pytest.mark.parametrize("kind, message, call", [
    (TypeError, "input_size should be of type int, got: float", lambda: nn.LSTM(3.0, 4)),
    (ValueError, "hidden_size must be greater than zero", lambda: nn.LSTM(3, 0)),
    (ValueError, "proj_size has to be smaller", lambda: nn.LSTM(3, 4, proj_size=4)),
    (ValueError, "only supported for LSTM", lambda: nn.GRU(3, 4, proj_size=2)),
    (ValueError, "Unknown nonlinearity 'x'", lambda: nn.RNN(3, 4, nonlinearity="x")),
    (ValueError, r"number in range \[0, 1\]", lambda: nn.RNN(3, 4, dropout=2)),
    (ValueError, "Expected input to be 2D or 3D, got 1D", lambda: nn.GRU(3, 4)(fg.zeros(3))),
    (ValueError, "does not match weight dtype", lambda: nn.GRU(3, 4)(fg.zeros(2, 2, 3).double())),
    (RuntimeError, "Expected 3, got 5", lambda: nn.GRU(3, 4)(fg.zeros(2, 2, 5))),
    (RuntimeError, "hx should also be 3-D", lambda: nn.GRU(3, 4)(fg.zeros(2, 2, 3),
                                                               fg.zeros(1, 4))),
    (RuntimeError, r"Expected hidden\[1\] size \(1, 2, 4\), got \[1, 2, 5\]",
     lambda: nn.LSTM(3, 4)(fg.zeros(2, 2, 3), (fg.zeros(1, 2, 4), fg.zeros(1, 2, 5)))),
    (RuntimeError, "larger than 0", lambda: nn.LSTM(3, 4)(fg.zeros(0, 2, 3))),
    (RuntimeError, "Input batch size 2 doesn't match hidden0 batch size 3",
     lambda: nn.LSTMCell(3, 4)(fg.zeros(2, 3), (fg.zeros(3, 4), fg.zeros(2, 4)))),
    (ValueError, "Expected hidden to be 1D or 2D", lambda: nn.GRUCell(3, 4)(fg.zeros(2, 3),
                                                                           fg.zeros(2, 2, 4))),
    (RuntimeError, "sorted in decreasing order",
     lambda: rnn.pack_padded_sequence(fg.zeros(3, 2, 1), [1, 3])),
    (RuntimeError, "greater than 0", lambda: rnn.pack_padded_sequence(fg.zeros(3, 2, 1), [3, 0])),
    (RuntimeError, "equal to batch_size", lambda: rnn.pack_padded_sequence(fg.zeros(3, 2, 1), [3])),
    (RuntimeError, "got a length of 5", lambda: rnn.pack_padded_sequence(fg.zeros(3, 1, 1), [5])),
    (ValueError, "total_length=1", lambda: rnn.pad_packed_sequence(
        rnn.pack_padded_sequence(fg.zeros(3, 1, 1), [2]), total_length=1)),
    (RuntimeError, "left or right", lambda: rnn.pad_sequence([fg.zeros(1)], padding_side="x")),
    (RuntimeError, "Expected iterable", lambda: rnn.pad_sequence(3)),
])
def test_wrong_calls_are_refused(kind, message, call):
    with pytest.raises(kind, match=message):
        call()


def test_dropout_of_a_single_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.RNN(3, 4, dropout=0.5)
