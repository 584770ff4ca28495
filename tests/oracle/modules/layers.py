"""More modules: what they print and hold, values, gradients and second gradients."""
import zlib

import numpy
from modules import IMAGE, ROWS, SIGNAL, case, fill, listed, made, numbers, signature_cases

VOLUME = (2, 2, 5, 4, 6)
CLASSES = ("whole", 4, (5,))
SIGNS = ("signs", (5, 4))


def several(name, sizes, *settings):
    """One module with several settings, for inputs of the same sizes."""
    inputs = sizes if isinstance(sizes, list) else [sizes]
    return [(f"{name}({each})", inputs) for each in settings]


def by_rank(name, *settings):
    """The forms 1d, 2d and 3d of a module; settings are those of one rank, or a tuple of three."""
    found = []
    for i, (rank, sizes) in enumerate(((1, SIGNAL), (2, IMAGE), (3, VOLUME))):
        found += several(f"{name}{rank}d", sizes,
                         *[each if isinstance(each, str) else each[i] for each in settings])
    return found


ACTIVATIONS = [
    *several("CELU", ROWS, "", "2.0", "0.5, True"), *several("GLU", IMAGE, "", "1", "dim=-1"),
    *several("Hardshrink", ROWS, "", "0.1", "1.0"), *several("Hardsigmoid", ROWS, "", "True"),
    *several("Hardswish", ROWS, "", "True"), *several("Softshrink", ROWS, "", "0.1", "0.0"),
    *several("PReLU", IMAGE, "", "4", "4, 0.1"),
    *several("RReLU", ROWS, "0.2, 0.2", "0.3, 0.3, True"),
    *several("Softsign", ROWS, ""), *several("Tanhshrink", ROWS, ""),
    *several("Softmax2d", IMAGE, ""), *several("ReLU6", ROWS, "True"),
    *several("Hardtanh", ROWS, "-2, 0.5, True"), *several("AlphaDropout", ROWS, "0.0", "0.0, True"),
    *several("FeatureAlphaDropout", IMAGE, "0.0"), *several("Threshold", ROWS, "0.1, 20, True"),
]
PADDING = [
    *by_rank("ConstantPad", "2, 1.5", ("(1, 0), -2", "(1, 0, 2, 1), 0", "(1, 0, 2, 1, 0, 3), 3")),
    *by_rank("ZeroPad", "1", ("(-1, 2)", "(1, -2, 0, 1)", "(0, 1, 1, 0, 2, -1)")),
    *by_rank("CircularPad", "2", ("(1, 3)", "(1, 3, 0, 2)", "(1, 3, 0, 2, 1, 1)")),
    *by_rank("ReflectionPad", "2", ("(1, 3)", "(1, 3, 0, 2)", "(1, 3, 0, 2, 1, 1)")),
    *by_rank("ReplicationPad", "2", ("(1, 3)", "(1, 3, 0, 2)", "(1, 3, 0, 2, 1, 1)")),
]
POOLING = [
    *several("MaxPool3d", VOLUME, "2", "(2, 1, 3), stride=1, padding=(1, 0, 1)",
             "2, ceil_mode=True, dilation=(1, 1, 2)"),
    *several("AvgPool3d", VOLUME, "2", "3, 2, 1, True, False", "2, divisor_override=3"),
    *several("AdaptiveAvgPool3d", VOLUME, "2", "(2, None, 3)", "1"),
    *several("AdaptiveMaxPool3d", VOLUME, "2", "(2, None, 3)", "1"),
    *by_rank("LPPool", "2, 2", "1.5, 3, 1", "3, 2, ceil_mode=True"),
    *several("FractionalMaxPool2d", IMAGE, "2, 5, _random_samples=lib.full((2, 4, 2), 0.3)",
             "3, output_ratio=0.6, _random_samples=lib.full((2, 4, 2), 0.7)"),
    *several("FractionalMaxPool3d", VOLUME,
             "2, (3, 2, 3), _random_samples=lib.full((2, 2, 3), 0.3)",
             "2, output_ratio=0.6, _random_samples=lib.full((2, 2, 3), 0.6)"),
]
SHAPES = [
    *several("Upsample", IMAGE, "scale_factor=2", "size=(5, 3)", "size=(5, 11), mode='bilinear'",
             "scale_factor=(2, 1.5), mode='bilinear', align_corners=True",
             "scale_factor=1.5, mode='bicubic'", "scale_factor=0.5, mode='area'",
             "scale_factor=1.5, mode='nearest-exact', recompute_scale_factor=True"),
    *several("Upsample", SIGNAL, "scale_factor=2, mode='linear'"),
    *several("Upsample", VOLUME, "scale_factor=2, mode='trilinear'"),
    *several("UpsamplingNearest2d", IMAGE, "scale_factor=2", "size=7"),
    *several("UpsamplingBilinear2d", IMAGE, "scale_factor=2", "size=(7, 5)"),
    *several("Unfold", IMAGE, "2", "(3, 2), stride=2", "2, dilation=2, padding=1"),
    *several("Fold", (2, 12, 12), "(4, 5), (2, 2)", "(4, 5), 2", "(7, 9), 2, stride=(2, 2)"),
    *several("PixelShuffle", (2, 8, 3, 2), "2", "1"), *several("PixelUnshuffle", (1, 2, 4, 6), "2"),
    *several("ChannelShuffle", IMAGE, "2", "4", "1"), *several("Flatten", IMAGE, "-2", "1, 2"),
    *several("Unflatten", (3, 8), "1, (2, 4)", "-1, [4, 2]"),
]
NORMALISATION = [
    *several("LocalResponseNorm", IMAGE, "2", "3, 0.1, 0.5, 2", "5, alpha=1.0"),
    *several("CrossMapLRN2d", IMAGE, "3", "4, 0.5, 0.5, 2", "2, alpha=1.0"),
    *several("InstanceNorm1d", SIGNAL, "4, track_running_stats=True", "4, affine=True"),
    *several("InstanceNorm2d", IMAGE, "4, track_running_stats=True, momentum=0.3, affine=True"),
    *several("InstanceNorm3d", VOLUME, "2, track_running_stats=True, affine=True"),
    *several("SyncBatchNorm", IMAGE, "4", "4, momentum=None", "4, affine=False"),
    *several("SyncBatchNorm", ROWS, "4, track_running_stats=False"),
    *several("RMSNorm", ROWS, "4, 1e-3", "[4], elementwise_affine=False"),
]
CONVOLUTION = [
    *several("Conv1d", SIGNAL, *[f"4, 3, 3, padding=2, padding_mode='{mode}'"
                                 for mode in ("reflect", "replicate", "circular")]),
    *several("Conv2d", IMAGE, "4, 3, 3, padding=(1, 2), padding_mode='reflect'",
             "4, 3, 3, padding='same', padding_mode='circular', dilation=(1, 2)",
             "4, 4, (3, 2), padding=1, padding_mode='replicate', groups=2, stride=2"),
    *several("Conv3d", VOLUME, "2, 3, 2, padding=1, padding_mode='circular'", "2, 4, 2, groups=2"),
    *several("ConvTranspose3d", VOLUME, "2, 3, 2", "2, 4, 3, stride=2, padding=1, groups=2",
             "2, 3, (2, 1, 3), output_padding=(1, 0, 0), stride=2, bias=False"),
    *several("ConvTranspose1d", SIGNAL, "4, 2, 3, stride=3, output_padding=2"),
]
PAIRS = [
    *several("Bilinear", [(5, 4), (5, 3)], "4, 3, 2", "4, 3, 1, bias=False"),
    *several("CosineSimilarity", [ROWS, ROWS], "", "0", "eps=1.0"),
    *several("PairwiseDistance", [ROWS, ROWS], "", "1, keepdim=True", "3.0, eps=0.1"),
]
LAZY = [
    *several("LazyLinear", ROWS, "3", "2, bias=False"),
    *by_rank("LazyConv", "3, 2", "4, 3, stride=2, padding=1, bias=False"),
    *by_rank("LazyConvTranspose", "3, 2", "4, 3, stride=2, padding=1, bias=False"),
    *by_rank("LazyBatchNorm", "", "1e-3, affine=False", "track_running_stats=False"),
    *by_rank("LazyInstanceNorm", "affine=False, track_running_stats=False", "bias=False"),
]
REDUCED = ("", "reduction='sum'", "reduction='none'")


def loss(name, inputs, *settings):
    more = [f"{each}, {how}" if each and how else each + how for each in settings[:1]
            for how in REDUCED]
    return [(f"{name}({each})", inputs) for each in (*more, *settings[1:])]


LOSSES = [
    *loss("CosineEmbeddingLoss", [ROWS, ROWS, ("signs", (5,))], "", "0.3", "margin=-0.2"),
    *loss("MarginRankingLoss", [(5,), (5,), ("signs", (5,))], "", "0.5"),
    *loss("HingeEmbeddingLoss", [ROWS, SIGNS], "", "0.5"),
    *loss("MultiLabelMarginLoss", [ROWS, ("labels", 4, (5, 4))], ""),
    *loss("MultiLabelSoftMarginLoss", [ROWS, ("bits", (5, 4))], "",
          "lib.tensor([1.0, 2.0, 0.5, 1.0])"),
    *loss("MultiMarginLoss", [ROWS, CLASSES], "", "2, 0.5",
          "weight=lib.tensor([1.0, 2.0, 0.5, 1.0])"),
    *loss("SoftMarginLoss", [ROWS, SIGNS], ""),
    *loss("TripletMarginLoss", [ROWS, ROWS, ROWS], "", "0.5, 1", "swap=True"),
    *loss("TripletMarginWithDistanceLoss", [ROWS, ROWS, ROWS], "", "margin=0.5, swap=True",
          "distance_function=lambda a, b: (a - b).abs().sum(-1)"),
    *loss("PoissonNLLLoss", [ROWS, ("whole", 4, (5, 4))], "", "full=True", "False, eps=0.5"),
    *loss("GaussianNLLLoss", [ROWS, ROWS, ("positive", ROWS)], "", "full=True", "eps=0.5"),
    *loss("NLLLoss2d", [IMAGE, ("whole", 4, (2, 9, 8))], ""),
    *loss("LinearCrossEntropyLoss", [ROWS, ("whole", 3, (5,))], "4, 3",
          "4, 3, bias=True, label_smoothing=0.2", "4, 3, ignore_index=1"),
    *loss("LinearCrossEntropyLoss", [ROWS, ("whole", 3, (5, 2))], "4, 3, out_features=(2,)"),
    *loss("BCEWithLogitsLoss", [ROWS, ("bits", (5, 4))], "lib.tensor([1.0, 2.0, 0.5, 1.0])"),
]
# Modules that PyTorch derives once.
ONCE = ("CrossMapLRN2d", "Hardsigmoid", "MultiLabelMarginLoss", "MultiMarginLoss")
# A module whose gradient in PyTorch is not the derivative of its values (by finite differences).
VALUES_ONLY = ("CrossMapLRN2d",)
FAMILIES = (ACTIVATIONS, PADDING, POOLING, SHAPES, NORMALISATION, CONVOLUTION, PAIRS, LAZY, LOSSES)


def value(lib, spec, draw):
    """An input: floats that get gradients, or values of a kind."""
    if not isinstance(spec[0], str):
        return lib.tensor(numbers(spec, draw).tolist(), requires_grad=True)
    kind, *more, sizes = spec
    if kind == "whole":
        return lib.tensor(draw.integers(0, more[0], size=sizes).tolist())
    if kind == "labels":  # some classes, then -1
        rows = [[*draw.permutation(more[0])[:i % 3 + 1].tolist(), *[-1] * (2 - i % 3 + 1)]
                for i in range(sizes[0])]
        return lib.tensor(rows)
    drawn = {"signs": draw.integers(0, 2, size=sizes) * 2.0 - 1.0, "bits": draw.integers(
        0, 2, size=sizes) * 1.0, "positive": draw.uniform(0.2, 2.0, size=sizes)}[kind]
    return lib.tensor(drawn.astype("float32").tolist())


def weighted(lib, out, draw):
    return (out * lib.tensor(numbers(tuple(out.shape), draw).tolist())).sum()


def observe(lib, text, module, inputs, draw):
    def call():
        return module(*[x * 1 if x.requires_grad else x for x in inputs])

    seen = {"first print": repr(module)}
    if "Lazy" in text:
        seen["lazy"] = [repr(t) for t in module.state_dict().values()][:2]
        call()  # sizes
    seen.update(loaded=fill(lib, module, draw), printed=repr(module))
    out = call()
    floats = [x for x in inputs if x.requires_grad]
    named = [p for _, p in module.named_parameters()]
    first = lib.autograd.grad(weighted(lib, out, draw), [*floats, *named], allow_unused=True,
                              create_graph=not text.startswith(ONCE))
    second = [g for g in first if g is not None and g.requires_grad]
    if second:
        sum((g * g).sum() for g in second).backward()
    seen.update(
        out=listed(out),
        first=[] if text.startswith(VALUES_ONLY) else [listed(g) for g in first],
        second=[listed(x.grad) for x in floats],
        more=[listed(p.grad) for p in named],
        state={n: listed(t) for n, t in module.state_dict().items()},
        shapes={n: list(t.shape) for n, t in module.state_dict().items()},
        modules=[n for n, _ in module.named_modules()])
    module.eval()
    seen["eval"] = listed(call())
    return seen


def tried(name, see):
    """A case and what it sees, or the error that ended it; its values depend on its name alone."""
    try:
        return case("module", name, see(numpy.random.default_rng(zlib.crc32(name.encode()))))
    except Exception as error:
        return case("module", name, {"raised": f"{type(error).__name__}: {error}"})


def bags(lib, draw):
    places = lib.tensor(draw.integers(0, 7, size=(6,)).tolist())
    offsets = lib.tensor([0, 2, 2, 5])
    for more in ("", "mode='sum'", "mode='max'", "padding_idx=2", "mode='sum', padding_idx=-1",
                 "include_last_offset=True", "scale_grad_by_freq=True, mode='sum'",
                 "max_norm=1.0"):
        text = f"EmbeddingBag(7, 3{', ' if more else ''}{more})"
        yield f"{text} with offsets", text, (places, offsets)
        yield f"{text} of rows", text, (places.view(2, 3),)
    yield ("EmbeddingBag with weights", "EmbeddingBag(7, 3, mode='sum')",
           (places.view(2, 3), None, lib.ones(2, 3) / 3))
    yield "Embedding with max_norm", "Embedding(7, 3, max_norm=0.5)", (places,)


def bag_cases(lib):
    for name, text, inputs in bags(lib, numpy.random.default_rng(6)):
        def seen(draw):
            module = made(lib, text)
            loaded = fill(lib, module, draw)
            out = module(*inputs)
            weighted(lib, out, draw).backward()
            return {"loaded": loaded, "printed": repr(module), "out": listed(out),
                    "gradient": listed(module.weight.grad), "weight": listed(module.weight)}

        yield tried(name, seen)


def unpooling_cases(lib):
    for rank, sizes in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
        for more in ("2", "3, 2", "2, 2, 1"):
            def seen(draw):
                x = value(lib, sizes, draw)
                values, places = made(lib, f"MaxPool{rank}d({more}, return_indices=True)")(x)
                back = made(lib, f"MaxUnpool{rank}d({more})")
                out = back(values, places, output_size=x.size())
                weighted(lib, out, draw).backward()
                return {"out": listed(out), "places": places.tolist(), "gradient": listed(x.grad),
                        "printed": repr(back)}

            yield tried(f"MaxUnpool{rank}d({more})", seen)


def adaptive_cases(lib):
    for text in ("8, 12, [3, 7]", "8, 12, [4], 2.0, True", "8, 12, [2, 4, 8], div_value=2"):
        for target in ([0, 11, 5, 3, 2], [0, 1, 0, 1, 1]):
            def seen(draw):
                module = made(lib, f"AdaptiveLogSoftmaxWithLoss({text})")
                loaded = fill(lib, module, draw)
                x = value(lib, (5, 8), draw)
                out, loss = module(x, lib.tensor(target))
                loss.backward()
                return {"loaded": loaded, "printed": repr(module), "out": listed(out),
                        "loss": listed(loss), "gradient": listed(x.grad),
                        "predicted": module.predict(x).tolist(), "all": listed(module.log_prob(x)),
                        "gradients": {n: listed(p.grad) for n, p in module.named_parameters()}}

            yield tried(f"AdaptiveLogSoftmaxWithLoss({text}) of {target}", seen)


def ctc_cases(lib):
    for more in ("", "reduction='sum'", "reduction='none'", "zero_infinity=True"):
        def seen(draw):
            x = value(lib, (8, 2, 5), draw)
            loss = made(lib, f"CTCLoss({more})")(
                x.log_softmax(2), lib.tensor([[1, 2, 2], [3, 1, 4]]), lib.tensor([8, 7]),
                lib.tensor([3, 2]))
            loss.sum().backward()
            return {"loss": listed(loss), "gradient": listed(x.grad)}

        yield tried(f"CTCLoss({more})", seen)


def other_cases(lib):
    for rank, sizes, wanted in ((1, SIGNAL, [18]), (2, IMAGE, [18, 15]),
                                (2, IMAGE, [2, 2, 17, 16])):
        def seen(draw):
            module = made(lib, f"ConvTranspose{rank}d(4, 2, 3, stride=2, padding=1)")
            loaded = fill(lib, module, draw)
            return {"loaded": loaded,
                    "out": listed(module(value(lib, sizes, draw), output_size=wanted))}

        yield tried(f"ConvTranspose{rank}d to {wanted}", seen)

    def synchronised(draw):
        module = made(lib, "Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Sequential("
                           "nn.BatchNorm1d(4, affine=False)))")
        fill(lib, module, draw)
        changed = lib.nn.SyncBatchNorm.convert_sync_batchnorm(module)
        return {"printed": repr(changed), "state": list(changed.state_dict()),
                "out": listed(changed(value(lib, ROWS, draw)))}

    yield tried("convert_sync_batchnorm", synchronised)


def cases(lib):
    for family in FAMILIES:
        for text, specs in family:
            def seen(draw):
                inputs = [value(lib, spec, draw) for spec in specs]
                return observe(lib, text, made(lib, text), inputs, draw)

            yield tried(f"{text} of {specs}", seen)
    yield from signature_cases(lib, sorted(
        {text.split("(")[0] for family in FAMILIES for text, _ in family}
        | {"AdaptiveLogSoftmaxWithLoss", "CTCLoss", "DataParallel", "EmbeddingBag",
           "LinearCrossEntropyOptions", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"}))
    for more in (bag_cases, unpooling_cases, adaptive_cases, ctc_cases, other_cases):
        yield from more(lib)
