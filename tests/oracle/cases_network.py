"""Products, convolutions, pooling, norms, attention, dropout."""
import torch

from cases import generates


def sizes(d, count):
    return [d.choice((1, 2, 3, 4, 5, 9)) if d.coin(0.93) else 0 for _ in range(count)]


def product_dtype(d):
    d.special = False
    return d.dtype if d.coin(0.85) else d.choice((torch.int64, torch.int32))


@generates("product", "mm", "bmm", "mv", "dot", "vdot", "outer", "addmm", "addmv", "baddbmm",
           "addbmm")
def product(d, f):
    dtype = product_dtype(d)
    b, n, k, m = sizes(d, 4)
    shapes = {"mm": ([n, k], [k, m]), "bmm": ([b, n, k], [b, k, m]), "mv": ([n, k], [k]),
              "dot": ([k], [k]), "vdot": ([k], [k]), "outer": ([n], [m]),
              "addmm": ([n, k], [k, m], [n, m]), "addmv": ([n, k], [k], [n]),
              "baddbmm": ([b, n, k], [b, k, m], [b, n, m]),
              "addbmm": ([b, n, k], [b, k, m], [n, m])}[f.base]
    names = [a["name"] for a in f.arguments if a["type"] == "tensor"]
    parts = [d.tensor(s, dtype) for s in shapes[:2]]
    if len(names) == 2:
        return dict(zip(names, parts))
    given = dict(zip(names, [d.tensor(d.broadcastable(shapes[2]), dtype)] + parts))
    kinds = "if" if dtype.is_floating_point else "i"
    if d.coin():
        given.update(beta=d.scalar(kinds=kinds), alpha=d.scalar(kinds=kinds))
    return given


@generates("product", "matmul")
def matmul(d, f):
    dtype, batch = product_dtype(d), d.shape(0, 2)
    n, k, m = sizes(d, 3)
    left = [k] if d.coin(0.25) else d.broadcastable(batch) + [n, k]
    right = [k] if d.coin(0.25) else d.broadcastable(batch) + [k, m]
    return {"self": d.tensor(left, dtype), "other": d.tensor(right, dtype)}


@generates("product", "linear")
def linear(d, f):
    d.special = False
    n, k = sizes(d, 2)
    weight = [n, k] if d.coin(0.85) else [k]
    given = {"input": d.tensor(d.shape(0, 3) + [k]), "weight": d.tensor(weight)}
    if d.coin(0.6):
        given["bias"] = d.tensor(weight[:-1])
    return given


def maybe_list(d, numbers):
    return numbers[0] if d.coin(0.4) and len(set(numbers)) == 1 else numbers


@generates("convolution", "conv1d", "conv2d", "conv3d")
def conv(d, f):
    d.special = False
    axes, groups = int(f.base[4]), d.choice((1, 1, 2, 3))
    inputs, outputs = groups * d.randint(1, 2), groups * d.randint(1, 2)
    kernel = [d.randint(1, 3) for _ in range(axes)]
    stride, dilation = [d.randint(1, 2) for _ in kernel], [d.randint(1, 2) for _ in kernel]
    image = [(k - 1) * g + 1 + d.randint(0, 4) for k, g in zip(kernel, dilation)]
    batch = [d.randint(1, 2)] if d.coin(0.85) else []
    given = {"input": d.tensor(batch + [inputs] + image),
             "weight": d.tensor([outputs, inputs // groups] + kernel)}
    if d.coin():
        given["bias"] = d.tensor([outputs])
    padding = maybe_list(d, [d.randint(0, 2) for _ in kernel])
    if f.overload == "padding":
        padding = d.choice(("same", "valid"))
        if padding == "same":
            stride = [1] * axes
    given.update(stride=maybe_list(d, stride), padding=padding, groups=groups,
                 dilation=maybe_list(d, dilation))
    return given


@generates("convolution", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution")
def conv_transpose(d, f):
    d.special = False
    axes = d.randint(1, 2) if f.base == "convolution" else int(f.base[-2])
    groups = d.choice((1, 1, 2))
    inputs, outputs = groups * d.randint(1, 2), d.randint(1, 2)
    kernel, stride = [d.randint(1, 3) for _ in range(axes)], [d.randint(1, 3) for _ in range(axes)]
    dilation = [d.randint(1, 2) for _ in range(axes)]
    batch = [d.randint(1, 2)] if d.coin(0.85) or f.base == "convolution" else []
    given = {"input": d.tensor(batch + [inputs] + [d.randint(2, 4) for _ in kernel]),
             "weight": d.tensor([inputs, outputs] + kernel),
             "stride": stride, "padding": [d.randint(0, (k - 1) * g) for k, g in
                                           zip(kernel, dilation)],
             "output_padding": [d.randint(0, max(s, g) - 1) for s, g in zip(stride, dilation)],
             "groups": groups, "dilation": dilation}
    given["bias"] = d.tensor([outputs * groups]) if d.coin() else None
    if f.base == "convolution":
        given["transposed"] = True
    return given


@generates("pooling", "max_pool1d", "max_pool2d", "max_pool1d_with_indices",
           "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "avg_pool1d",
           "avg_pool2d", "avg_pool3d")
def pool(d, f):
    d.special = d.ties = False
    axes = int(f.base[8])
    kernel = [d.randint(1, 3) for _ in range(axes)]
    given = {"kernel_size": maybe_list(d, kernel)}
    names = [a["name"] for a in f.arguments]
    reach = kernel
    if "dilation" in names and d.coin(0.4):
        given["dilation"] = [d.randint(1, 2) for _ in kernel]
        reach = [(k - 1) * g + 1 for k, g in zip(kernel, given["dilation"])]
    lead = d.shape(2, 2) if d.coin(0.8) else d.shape(1, 1)
    given["self"] = d.tensor(lead + [r + d.randint(0, 5) for r in reach])
    if d.coin(0.7):
        given["stride"] = [d.randint(1, 3) for _ in kernel]
    if d.coin():
        given["padding"] = [d.randint(0, k // 2) for k in kernel]
    if d.coin(0.4):
        given["ceil_mode"] = True
    if "count_include_pad" in names and d.coin():
        given["count_include_pad"] = d.coin()
    if "divisor_override" in names and d.coin(0.3):
        given["divisor_override"] = d.randint(1, 5)
    return given


@generates("pooling", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d",
           "adaptive_max_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool3d")
def adaptive(d, f):
    d.special = d.ties = False
    axes = int(f.base[-2])
    lead = d.shape(2, 2, zero=False) if d.coin(0.8) else d.shape(1, 1, zero=False)
    return {"self": d.tensor(lead + [d.randint(1, 8) for _ in range(axes)]),
            "output_size": [d.randint(1, 5) for _ in range(axes)]}


@generates("norm", "layer_norm", "rms_norm", "native_layer_norm")
def layer_norm(d, f):
    d.special = False
    self = d.tensor(d.shape(1, 3) + [d.randint(2, 9)])
    shape = list(self.shape[self.dim() - d.randint(1, min(self.dim(), 2)):])
    given = {"input": self, "normalized_shape": shape}
    given["weight"] = d.tensor(shape) if d.coin(0.7) else None
    if f.base != "rms_norm":
        given["bias"] = d.tensor(shape) if d.coin(0.7) else None
    if d.coin() or f.base == "native_layer_norm":
        given["eps"] = 1e-3
    return given


@generates("norm", "group_norm", "native_group_norm")
def group_norm(d, f):
    d.special = False
    groups = d.randint(1, 3)
    channels = groups * d.randint(1, 3)
    given = {"input": d.tensor([d.randint(1, 3), channels] + d.shape(1, 2, zero=False))}
    given["weight"] = d.tensor([channels]) if d.coin(0.7) else None
    given["bias"] = d.tensor([channels]) if d.coin(0.7) else None
    if f.base == "group_norm":
        given["num_groups"] = groups
        return given
    return {**given, "group": groups, "eps": 1e-5}


@generates("norm", "batch_norm", "native_batch_norm")
def batch_norm(d, f):
    d.special = False
    channels = d.randint(1, 4)
    given = {"input": d.tensor([d.randint(2, 4), channels] + d.shape(0, 2, zero=False)),
             "training": d.coin(0.6), "momentum": 0.1, "eps": 1e-5}
    given["weight"] = d.tensor([channels]) if d.coin(0.7) else None
    given["bias"] = d.tensor([channels]) if d.coin(0.7) else None
    running = d.coin(0.7) or not given["training"]
    for name in ("running_mean", "running_var"):
        given[name] = d.tensor([channels], low=0.1, grad=False, layout=False) if running else None
    return given


@generates("attention", "scaled_dot_product_attention")
def attention(d, f):
    d.special = False
    batch, (n, m, k, v) = d.shape(1, 2, zero=False), (d.randint(1, 6) for _ in range(4))
    given = {"query": d.tensor(batch + [n, k]), "key": d.tensor(batch + [m, k]),
             "value": d.tensor(batch + [m, v])}
    choice = d.randrange(4)
    if choice == 0:
        given["is_causal"] = True
    elif choice == 1:
        given["attn_mask"] = d.mask(d.broadcastable(batch + [n, m]))
    elif choice == 2:
        given["attn_mask"] = d.tensor([n, m])
    if d.coin(0.3):
        given["scale"] = 0.7
    return given


@generates("dropout", "dropout", "feature_dropout")
def dropout(d, f):
    self = d.tensor([d.randint(2, 3), 40, 6], low=1, high=2, layout=False)
    return {"input": self, "p": d.choice((0.0, 0.3, 0.5, 1.0)), "train": d.coin(0.7)}
