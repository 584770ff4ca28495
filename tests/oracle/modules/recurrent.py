"""Recurrent networks, their cells and packed sequences: forward, backward, second backward."""
import itertools

import numpy

# Arguments of a module, sizes of its input; in float64.
LAYERS = [
    ("3, 4", (5, 2, 3)), ("3, 4, 2, dropout=0.0", (5, 2, 3)), ("3, 4, bias=False", (5, 2, 3)),
    ("3, 4, batch_first=True", (2, 5, 3)), ("3, 4, bidirectional=True", (5, 2, 3)),
    ("3, 4, 2, bidirectional=True, batch_first=True, bias=False", (2, 5, 3)),
    ("3, 4", (5, 3)), ("3, 4, 2, bidirectional=True", (5, 3)), ("3, 4, batch_first=True", (5, 3)),
    ("7, 19, 3, dropout=1.0", (4, 3, 7)), ("3, 1", (1, 1, 3)),
    ("3, 4, 2, dropout=0.5, bidirectional=True", (5, 2, 3)),  # in evaluation only
]
KINDS = {"LSTM": [("3, 4, proj_size=2", (5, 2, 3)),
                  ("3, 4, 2, proj_size=3, bidirectional=True, batch_first=True", (2, 5, 3)),
                  ("3, 4, proj_size=1, bias=False", (5, 3))],
         "GRU": [],
         "RNN": [("3, 4, nonlinearity='relu'", (5, 2, 3)),
                 ("3, 4, 2, 'relu', bidirectional=True", (5, 2, 3))]}
CELLS = [("RNNCell", "3, 4"), ("RNNCell", "3, 4, nonlinearity='relu'"), ("RNNCell", "3, 4, False"),
         ("GRUCell", "3, 4"), ("GRUCell", "3, 4, bias=False"), ("LSTMCell", "3, 4"),
         ("LSTMCell", "3, 4, bias=False")]
LENGTHS = [[5, 3, 3, 1], [4, 4], [2, 5, 1, 3, 5], [1]]
NAMES = ["RNNBase", "LSTMCell", "GRUCell", "RNNCell"]


def listed(tensor):
    return None if tensor is None else tensor.detach().tolist()


def numbers(lib, sizes, draw, **options):
    return lib.tensor(draw.normal(size=sizes).tolist(), dtype=lib.float64, **options)


def flat(value):
    """The tensors of a result."""
    if isinstance(value, (tuple, list)):
        return [tensor for part in value for tensor in flat(part)]
    return [] if value is None else [value]


def fill(lib, module, draw):
    module.double().load_state_dict({name: numbers(lib, tuple(tensor.shape), draw) * 0.5
                                     for name, tensor in module.state_dict().items()})
    return module


def derivatives(lib, outputs, inputs, draw):
    """Outputs, their gradients and gradients of those, all weighted at random."""
    outputs = [out for out in flat(outputs) if out.dtype == lib.float64]
    loss = sum((out * numbers(lib, tuple(out.shape), draw)).sum() for out in outputs)
    first = lib.autograd.grad(loss, inputs, create_graph=True, allow_unused=True)
    again = [g for g in first if g is not None]
    second = sum((g * numbers(lib, tuple(g.shape), draw)).sum() for g in again)
    found = [None] * len(inputs)
    if second.requires_grad:
        found = lib.autograd.grad(second, inputs, allow_unused=True)
    zeros = [lib.zeros_like(x) for x in inputs]
    return {"outputs": [listed(out) for out in outputs],
            "first": [listed(g if g is not None else z) for g, z in zip(first, zeros)],
            "second": [listed(g if g is not None else z) for g, z in zip(found, zeros)]}


def case(name, seen):
    return {"kind": "recurrent", "case": name, **seen}


def described(module):
    return {"printed": repr(module), "names": [n for n, _ in module.named_parameters()],
            "shapes": [list(p.shape) for p in module.parameters()]}


def states_of(lib, module, batch, draw):
    count = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [(count, *batch, module.proj_size or module.hidden_size)]
    if module.mode == "LSTM":
        sizes.append((count, *batch, module.hidden_size))
    made = [numbers(lib, each, draw, requires_grad=True) for each in sizes]
    return made, made[0] if len(made) == 1 else tuple(made)


def layer_cases(lib):
    draw = numpy.random.default_rng(11)
    for kind, more in KINDS.items():
        for (text, sizes), with_state in itertools.product(LAYERS + more, (False, True)):
            module = fill(lib, eval(f"nn.{kind}({text})", {"nn": lib.nn}), draw)
            if module.dropout == 0.5:
                module.eval()
            x = numbers(lib, sizes, draw, requires_grad=True)
            batch = [] if len(sizes) == 2 else [sizes[0 if module.batch_first else 1]]
            states, hx = states_of(lib, module, batch, draw) if with_state else ([], None)
            seen = derivatives(lib, module(x, hx), [x, *states, *module.parameters()], draw)
            weights = [[list(w.shape) for w in each] for each in module.all_weights]
            yield case(f"{kind}({text}) of {sizes}{' with a state' * with_state}",
                       {**described(module), **seen, "weights": weights})


def cell_cases(lib):
    draw = numpy.random.default_rng(12)
    for (kind, text), sizes, with_state in itertools.product(CELLS, ((2, 3), (3,)), (False, True)):
        module = fill(lib, eval(f"nn.{kind}({text})", {"nn": lib.nn}), draw)
        x = numbers(lib, sizes, draw, requires_grad=True)
        states = [numbers(lib, (*sizes[:-1], 4), draw, requires_grad=True)
                  for _ in range(2 if kind == "LSTMCell" else 1)]
        hx = tuple(states) if len(states) == 2 else states[0]
        out = module(x, hx) if with_state else module(x)
        if with_state:
            out = module(x, out)
        inputs = [x, *states * with_state, *module.parameters()]
        yield case(f"{kind}({text}) of {sizes}{' with a state' * with_state}",
                   {**described(module), **derivatives(lib, out, inputs, draw)})


def shown(packed):
    return {"data": listed(packed.data), "sizes": listed(packed.batch_sizes),
            "sorted": listed(packed.sorted_indices), "unsorted": listed(packed.unsorted_indices)}


def packing_cases(lib):
    rnn = lib.nn.utils.rnn
    draw = numpy.random.default_rng(13)
    for lengths, batch_first in itertools.product(LENGTHS, (False, True)):
        ordered = lengths == sorted(lengths, reverse=True)
        padded = numbers(lib, (len(lengths), max(lengths) + 1, 2), draw, requires_grad=True)
        given = padded if batch_first else padded.transpose(0, 1)
        packed = rnn.pack_padded_sequence(given, lengths, batch_first, enforce_sorted=ordered)
        again, sizes = rnn.pad_packed_sequence(packed, batch_first, -1.0, max(lengths) + 2)
        parts = rnn.unpack_sequence(packed)
        seen = derivatives(lib, [packed.data * packed.data, again * again], [padded], draw)
        yield case(f"packing {lengths}, batch_first={batch_first}", {
            **shown(packed), **seen, "lengths": listed(sizes), "parts": [listed(p) for p in parts]})
    for lengths, side in itertools.product(LENGTHS, ("left", "right")):
        sequences = [numbers(lib, (length, 2), draw, requires_grad=True) for length in lengths]
        padded = rnn.pad_sequence(sequences, True, 0.5, side)
        packed = rnn.pack_sequence(sequences, enforce_sorted=False)
        parts = rnn.unpad_sequence(padded, lib.tensor(lengths), batch_first=True)
        yield case(f"padding {lengths} on the {side}", {
            **shown(packed), **derivatives(lib, [padded * padded], sequences, draw),
            "parts": [listed(part) for part in parts]})


def packed_cases(lib):
    """Networks on packed sequences."""
    rnn = lib.nn.utils.rnn
    draw = numpy.random.default_rng(14)
    for kind, text, lengths in itertools.product(
            ("LSTM", "GRU", "RNN"), ("2, 3", "2, 3, 2, bidirectional=True", "2, 3, bias=False"),
            LENGTHS):
        if kind == "LSTM" and "bias" in text:
            text = "2, 3, proj_size=2, bidirectional=True"
        module = fill(lib, eval(f"nn.{kind}({text})", {"nn": lib.nn}), draw)
        x = numbers(lib, (max(lengths), len(lengths), 2), draw, requires_grad=True)
        packed = rnn.pack_padded_sequence(x, lib.tensor(lengths), enforce_sorted=False)
        states, hx = states_of(lib, module, [len(lengths)], draw)
        out, last = module(packed, hx)
        padded, sizes = rnn.pad_packed_sequence(out)
        found = derivatives(lib, [padded, last], [x, *states, *module.parameters()], draw)
        yield case(f"{kind}({text}) of {lengths}", {**shown(out), **found,
                                                    "lengths": listed(sizes)})


def cases(lib):
    for make in (layer_cases, cell_cases, packing_cases, packed_cases):
        yield from make(lib)
