"""Modules: what they print, hold, compute, and what their gradients are."""
import inspect
from collections import OrderedDict

import numpy

IMAGE, SIGNAL, ROWS = (2, 4, 9, 8), (2, 4, 9), (5, 4)

# Text of the module, sizes of the input.
MODULES = [
    ("Linear(4, 3)", ROWS), ("Linear(4, 3, bias=False)", (2, 5, 4)), ("Linear(4, 3)", (4,)),
    ("Identity(3, a=1)", ROWS), ("Flatten()", IMAGE), ("Flatten(0, 2)", IMAGE),
    ("Unflatten(1, (2, 2))", IMAGE),
    ("LayerNorm(4)", ROWS), ("LayerNorm((9, 8), eps=1e-3)", IMAGE),
    ("LayerNorm([8], bias=False)", IMAGE), ("LayerNorm(8, elementwise_affine=False)", IMAGE),
    ("RMSNorm(4)", ROWS), ("RMSNorm((9, 8), eps=1e-2, elementwise_affine=False)", IMAGE),
    ("GroupNorm(2, 4)", IMAGE), ("GroupNorm(4, 4, affine=False)", SIGNAL),
    ("GroupNorm(1, 4, eps=1e-2, bias=False)", SIGNAL),
    ("BatchNorm1d(4)", ROWS), ("BatchNorm1d(4)", SIGNAL), ("BatchNorm2d(4)", IMAGE),
    ("BatchNorm2d(4, momentum=None)", IMAGE), ("BatchNorm2d(4, affine=False)", IMAGE),
    ("BatchNorm2d(4, track_running_stats=False)", IMAGE), ("BatchNorm2d(4, 1e-2, 0.5)", IMAGE),
    ("BatchNorm2d(4, bias=False)", IMAGE), ("BatchNorm3d(2)", (2, 2, 3, 4, 3)),
    ("InstanceNorm1d(4)", SIGNAL), ("InstanceNorm2d(4, affine=True)", IMAGE),
    ("InstanceNorm2d(4, 1e-2, affine=True, bias=False)", IMAGE[1:]),
    ("InstanceNorm3d(2)", (2, 2, 3, 4, 3)),
    ("Conv1d(4, 6, 3)", SIGNAL), ("Conv1d(4, 6, 3, stride=2, padding=1, dilation=2)", SIGNAL),
    ("Conv1d(4, 4, 3, padding='same', groups=2)", SIGNAL),
    ("Conv2d(4, 6, 3)", IMAGE), ("Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0))", IMAGE),
    ("Conv2d(4, 6, 3, padding='same', dilation=2)", IMAGE),
    ("Conv2d(4, 6, 3, padding='valid', bias=False)", IMAGE),
    ("Conv2d(4, 8, 3, groups=4, dilation=(1, 2), padding=1)", IMAGE),
    ("Conv2d(4, 6, 2)", IMAGE[1:]), ("Conv3d(2, 3, 2)", (2, 2, 3, 4, 3)),
    ("ConvTranspose1d(4, 3, 3, stride=2)", SIGNAL),
    ("ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)", IMAGE),
    ("ConvTranspose2d(4, 4, 2, groups=2, bias=False, dilation=2)", IMAGE),
    ("MaxPool1d(2)", SIGNAL), ("MaxPool2d(2)", IMAGE), ("MaxPool2d((3, 2), stride=1, padding=1)",
                                                        IMAGE),
    ("MaxPool2d(3, ceil_mode=True, dilation=2)", IMAGE), ("AvgPool1d(2)", SIGNAL),
    ("AvgPool1d(3, stride=2, padding=1)", SIGNAL), ("AvgPool2d(2)", IMAGE),
    ("AvgPool2d((3, 2), stride=2, padding=1, count_include_pad=False)", IMAGE),
    ("AvgPool2d(3, ceil_mode=True, divisor_override=4)", IMAGE),
    ("AdaptiveAvgPool1d(3)", SIGNAL), ("AdaptiveAvgPool2d((3, 2))", IMAGE),
    ("AdaptiveAvgPool2d(2)", IMAGE), ("AdaptiveAvgPool2d((None, 4))", IMAGE),
    ("AdaptiveMaxPool1d(3)", SIGNAL), ("AdaptiveMaxPool2d((3, 2))", IMAGE),
    ("ReLU()", ROWS), ("ReLU(inplace=True)", ROWS), ("ReLU6()", ROWS), ("SELU()", ROWS),
    ("SiLU()", ROWS), ("Mish()", ROWS), ("Tanh()", ROWS), ("Sigmoid()", ROWS),
    ("LogSigmoid()", ROWS), ("GELU()", ROWS), ("GELU('tanh')", ROWS), ("Softmax(1)", ROWS),
    ("Softmax(dim=0)", ROWS), ("LogSoftmax(-1)", IMAGE), ("Softmin(1)", ROWS), ("Softmax()", ROWS),
    ("LeakyReLU()", ROWS), ("LeakyReLU(0.2, True)", ROWS), ("ELU()", ROWS), ("ELU(0.5)", ROWS),
    ("Softplus()", ROWS), ("Softplus(2, 0.5)", ROWS), ("Hardtanh()", ROWS),
    ("Hardtanh(-0.5, 0.25)", ROWS), ("Threshold(0.1, 20)", ROWS), ("Dropout(0.0)", ROWS),
    ("Dropout1d(0.0)", SIGNAL), ("Dropout2d(0.0)", IMAGE), ("Dropout3d(0.0)", (2, 2, 3, 4, 3)),
    ("Dropout(1.0)", ROWS), ("Dropout2d(1.0)", IMAGE), ("Dropout(0.3, inplace=True).eval()", ROWS),
    ("Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))", ROWS),
    ("Sequential(OrderedDict(first=nn.Linear(4, 3), then=nn.Tanh()))", ROWS),
    ("Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), "
     "nn.Flatten(), nn.Linear(4, 3))", IMAGE),
    ("Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 4)))", ROWS),
]
EMBEDDINGS = ["Embedding(7, 3)", "Embedding(7, 3, padding_idx=2)",
              "Embedding(7, 3, padding_idx=-1)",
              "Embedding(7, 3, scale_grad_by_freq=True)"]
# Module, arguments of the call beside three inputs, sizes of these.
ATTENTIONS = [
    ("4, 2", "", [(5, 3, 4), (6, 3, 4), (6, 3, 4)]), ("4, 2, bias=False", "", [(5, 3, 4)] * 3),
    ("4, 4, batch_first=True", "", [(3, 5, 4)] * 3), ("4, 1", "", [(5, 4), (6, 4), (6, 4)]),
    ("4, 2, kdim=3, vdim=2", "", [(5, 3, 4), (6, 3, 3), (6, 3, 2)]),
    ("4, 2", "need_weights=False", [(5, 3, 4)] * 3),
    ("4, 2", "average_attn_weights=False", [(5, 3, 4)] * 3),
    ("4, 2", "attn_mask=causal", [(5, 3, 4)] * 3),
    ("4, 2", "attn_mask=causal, is_causal=True, need_weights=False", [(5, 3, 4)] * 3),
    ("4, 2", "attn_mask=lib.zeros(6, 5, 5) + lib.arange(5)", [(5, 3, 4)] * 3),
    ("4, 2", "key_padding_mask=padding", [(5, 3, 4)] * 3),
    ("4, 2", "key_padding_mask=padding, attn_mask=causal, need_weights=False", [(5, 3, 4)] * 3),
]
# Text, input, target: sizes, or the number of classes for whole numbers below it.
LOSSES = [(f"{name}({more})", ROWS, ROWS) for name in (
    "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss") for more in (
    "", "reduction='sum'", "reduction='none'")]
LOSSES += [
    ("SmoothL1Loss(beta=0.3)", ROWS, ROWS), ("HuberLoss(delta=0.3)", ROWS, ROWS),
    ("MSELoss(size_average=False)", ROWS, ROWS), ("MSELoss(reduce=False)", ROWS, ROWS),
    ("KLDivLoss()", ROWS, "part"), ("KLDivLoss(reduction='batchmean')", ROWS, "part"),
    ("KLDivLoss(log_target=True, reduction='sum')", ROWS, ROWS),
    ("CrossEntropyLoss()", ROWS, 4), ("CrossEntropyLoss(reduction='sum')", ROWS, 4),
    ("CrossEntropyLoss(reduction='none')", ROWS, 4), ("CrossEntropyLoss(ignore_index=1)", ROWS, 4),
    ("CrossEntropyLoss(label_smoothing=0.2)", ROWS, 4), ("CrossEntropyLoss()", IMAGE, 4),
    ("CrossEntropyLoss(lib.tensor([1.0, 2.0, 0.5, 1.0]))", ROWS, 4),
    ("NLLLoss()", ROWS, 4), ("NLLLoss(lib.tensor([1.0, 2.0, 0.5, 1.0]))", ROWS, 4),
    ("NLLLoss(ignore_index=2, reduction='sum')", ROWS, 4),
    ("BCELoss()", "part", "part"), ("BCELoss(reduction='sum')", "part", "part"),
    ("BCEWithLogitsLoss()", ROWS, "part"),
    ("BCEWithLogitsLoss(pos_weight=lib.tensor([1.0, 2.0, 0.5, 1.0]))", ROWS, "part"),
]
PRINTED = [
    "ModuleList([nn.Linear(2, 2) for _ in range(4)] + [nn.ReLU()])", "ModuleList()", "Sequential()",
    "ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(3)])",
    "ModuleDict({'a': nn.Linear(2, 2), 'b': nn.ModuleDict()})", "Module()",
    "ParameterList([lib.zeros(2, 3), lib.zeros(4)])", "ParameterDict({'a': lib.zeros(2, 3)})",
    "Sequential(nn.ReLU(), nn.Linear(1, 2))[1:]", "Sequential(nn.ReLU(), nn.Tanh()) * 2",
    "Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())", "CrossEntropyLoss()",
    "Sequential(nn.ReLU(), nn.Tanh()).append(nn.GELU()).insert(0, nn.Mish())",
    "Dropout(0.25)", "Dropout1d()", "Dropout2d(inplace=True)",
]
# Modules whose first values are compared: mean, spread, bounds.
BEGINNINGS = ["Linear(300, 200)", "Linear(50, 2000)", "Conv1d(20, 40, 5)", "Conv2d(20, 40, 3)",
              "Conv2d(16, 32, 3, groups=4)", "Embedding(300, 50)", "ConvTranspose2d(20, 30, 3)",
              "LayerNorm(30)", "BatchNorm2d(30)", "GroupNorm(3, 30)", "MultiheadAttention(60, 2)",
              "Bilinear(10, 20, 30)", "EmbeddingBag(300, 50)", "ConvTranspose3d(20, 30, 3)",
              "LinearCrossEntropyLoss(300, 50)", "AdaptiveLogSoftmaxWithLoss(64, 100, [40])"]
FILLS = ["uniform_(t, -1, 3)", "normal_(t, 1, 2)", "constant_(t, 3)", "ones_(t)", "zeros_(t)",
         "eye_(t)", "xavier_uniform_(t)", "xavier_uniform_(t, 2)", "xavier_normal_(t)",
         "kaiming_uniform_(t)", "kaiming_uniform_(t, 0.5, 'fan_out')",
         "kaiming_normal_(t, nonlinearity='relu')", "kaiming_normal_(t, mode='fan_out')",
         "trunc_normal_(t)", "trunc_normal_(t, 1, 2, -1, 2)", "orthogonal_(t)",
         "orthogonal_(t, 3)", "sparse_(t, 0.3)", "sparse_(t, 0.1, 2)"]


def numbers(shape, draw):
    return draw.normal(size=shape).astype("float32")


def listed(tensor):
    return None if tensor is None else (tensor.detach() + 0).tolist()


def made(lib, text):
    return eval(f"nn.{text}", {"nn": lib.nn, "lib": lib, "OrderedDict": OrderedDict})


def fill(lib, module, draw):
    """Values that both libraries have."""
    state = {}
    for name, tensor in module.state_dict().items():
        if tensor.dtype == lib.int64:
            state[name] = tensor
        else:
            values = numbers(tuple(tensor.shape), draw)
            values = abs(values) if "var" in name else values
            state[name] = lib.tensor(values.tolist()).reshape(tensor.shape)
    return str(module.load_state_dict(state))


def observe(lib, module, *inputs, draw):
    loaded = fill(lib, module, draw)
    def call():
        return module(*[x * 1 for x in inputs])  # some write to their input

    outputs = [call(), call()]
    sum((out * lib.tensor(numbers(tuple(out.shape), draw).tolist())).sum() for out in outputs
        ).backward()
    seen = {"loaded": loaded, "printed": repr(module), "outputs": [listed(o) for o in outputs],
            "gradients": {n: listed(p.grad) for n, p in module.named_parameters()},
            "input": [listed(x.grad) for x in inputs if x.requires_grad],
            "state": {n: listed(t) for n, t in module.state_dict().items()},
            "shapes": {n: list(t.shape) for n, t in module.state_dict().items()},
            "modules": [n for n, _ in module.named_modules()],
            "buffers": [n for n, _ in module.named_buffers()]}
    module.eval()
    seen["eval"] = listed(call())
    return seen


def case(kind, name, seen):
    return {"kind": kind, "case": name, **seen}


def input_of(lib, sizes, draw):
    if sizes == "part":
        values = draw.uniform(0.05, 0.95, size=ROWS).astype("float32")
    else:
        values = numbers(sizes, draw)
    return lib.tensor(values.tolist(), requires_grad=True)


def module_cases(lib):
    draw = numpy.random.default_rng(1)
    for text, sizes in MODULES:
        x = input_of(lib, sizes, draw)
        module = made(lib, text)
        yield case("module", f"{text} of {sizes}", observe(lib, module, x, draw=draw))
    for text in EMBEDDINGS:
        places = lib.tensor(draw.integers(0, 7, size=(4, 5)).tolist())
        yield case("module", text, observe(lib, made(lib, text), places, draw=draw))


def attention_cases(lib):
    draw = numpy.random.default_rng(4)
    scope = {"lib": lib, "causal": lib.ones(5, 5).triu(1).bool(),
             "padding": lib.tensor([[False] * 5, [False, False, False, True, True], [False] * 5])}
    for text, more, sizes in ATTENTIONS:
        module = made(lib, f"MultiheadAttention({text})")
        loaded = fill(lib, module, draw)
        inputs = [input_of(lib, size, draw) for size in sizes]
        out, weights = module(*inputs, **eval(f"dict({more})", scope))
        (out * lib.tensor(numbers(tuple(out.shape), draw).tolist())).sum().backward()
        yield case("module", f"MultiheadAttention({text}) with {more}", {
            "loaded": loaded, "printed": repr(module), "out": listed(out),
            "weights": listed(weights), "input": [listed(x.grad) for x in inputs],
            "gradients": {n: listed(p.grad) for n, p in module.named_parameters()}})


def loss_cases(lib):
    draw = numpy.random.default_rng(2)
    for text, sizes, target in LOSSES:
        x = input_of(lib, sizes, draw)
        if isinstance(target, int):
            shape = (sizes[0], *sizes[2:])
            y = lib.tensor(draw.integers(0, target, size=shape).tolist())
        else:
            y = input_of(lib, target, draw).detach()
        module = made(lib, text)
        loss = module(x, y)
        loss.sum().backward()
        yield case("module", f"{text} of {sizes}", {
            "loss": listed(loss), "gradient": listed(x.grad), "printed": repr(module),
            "state": list(module.state_dict()), "reduction": module.reduction})


def signature_cases(lib, kinds):
    """Names and defaults of all arguments."""
    for kind in kinds:
        found = inspect.signature(getattr(lib.nn, kind).__init__).parameters.values()
        names = [p.name for p in found if p.name not in ("min_value", "max_value")]
        defaults = [repr(p.default) for p in found if p.name in names
                    and p.default is not inspect.Parameter.empty]
        yield case("module", f"arguments of {kind}", {"names": names, "defaults": defaults})


def first_values(lib):
    """Random values at the start: not equal, but of one distribution."""
    def statistics(tensor):
        values = numpy.asarray(tensor.detach().tolist(), dtype=float).ravel()
        spread = values.std() if values.size > 1 else 0.0
        high = max(numpy.abs(values - values.mean()).max(), 1e-9)
        uniform = spread / high > 0.5  # a normal distribution has far tails
        return {"spread": float(spread), "middle": float(round(values.mean(), 1)),
                "bound": float(numpy.abs(values).max()) if uniform else 0.0}

    for text in BEGINNINGS:
        module = made(lib, text)
        yield case("first", text, {n: statistics(t.float()) for n, t in module.state_dict().items()
                                   if t.numel() > 100 or "Norm" in text})
    for text in FILLS:
        tensor = lib.empty(200, 300)
        eval(f"init.{text}", {"init": lib.nn.init, "t": tensor})
        yield case("first", text, statistics(tensor))


def cases(lib):
    yield from module_cases(lib)
    yield from attention_cases(lib)
    yield from loss_cases(lib)
    yield from signature_cases(lib, sorted(
        {text.split("(")[0] for text, *_ in [*MODULES, *LOSSES]}
        | {"Embedding", "MultiheadAttention"}))
    for text in PRINTED:
        module = made(lib, text)
        yield case("module", f"printing {text}", {
            "printed": repr(module), "state": list(module.state_dict()), "dir": [
                name for name, _ in module.named_children()]})
    yield from first_values(lib)
