"""The three models: sizes, parameters and data, the same numbers for all contenders."""
import numpy

STEPS, BATCH, HIDDEN = 64, 32, 128
LENGTH, SEQUENCES, WIDTH, HEADS, INNER, LAYERS = 128, 8, 256, 4, 1024, 2
CASES = ("lstm", "gru", "transformer")
RATE = 0.1


def shapes(case):
    """The parameters of nn.LSTM, nn.GRU and nn.TransformerEncoder by their names."""
    if case != "transformer":
        rows = {"lstm": 4, "gru": 3}[case] * HIDDEN
        return {"weight_ih_l0": (rows, HIDDEN), "weight_hh_l0": (rows, HIDDEN),
                "bias_ih_l0": (rows,), "bias_hh_l0": (rows,)}
    layer = {"self_attn.in_proj_weight": (3 * WIDTH, WIDTH), "self_attn.in_proj_bias": (3 * WIDTH,),
             "self_attn.out_proj.weight": (WIDTH, WIDTH), "self_attn.out_proj.bias": (WIDTH,),
             "linear1.weight": (INNER, WIDTH), "linear1.bias": (INNER,),
             "linear2.weight": (WIDTH, INNER), "linear2.bias": (WIDTH,),
             "norm1.weight": (WIDTH,), "norm1.bias": (WIDTH,), "norm2.weight": (WIDTH,),
             "norm2.bias": (WIDTH,)}
    return {f"layers.{i}.{name}": shape for i in range(LAYERS) for name, shape in layer.items()}


def start(case):
    """Parameters by name, input and target."""
    draw = numpy.random.default_rng(7)
    parameters = {}
    for name, shape in shapes(case).items():
        bound = shape[-1] ** -0.5
        values = draw.uniform(-bound, bound, shape)
        parameters[name] = (values + ("norm" in name and "weight" in name)).astype("float32")
    sizes = (SEQUENCES, LENGTH, WIDTH) if case == "transformer" else (STEPS, BATCH, HIDDEN)
    x, target = (draw.standard_normal(sizes).astype("float32") for _ in range(2))
    return parameters, x, target
