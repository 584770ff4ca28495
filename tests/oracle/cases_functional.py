"""Functions of nn.functional: margins and likelihoods, pooling by places, resampling, columns,
bags of rows."""
import torch

from cases import generates
from cases_loss import reduction


def signs(d, shape):
    return torch.tensor([d.choice((-1.0, 1.0)) for _ in range(int(torch.Size(shape).numel()))],
                        dtype=d.dtype).reshape(list(shape))


# ---- losses

@generates("loss", "margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss",
           "cosine_embedding_loss")
def margins(d, f):
    d.special = False
    shape = [d.randint(1, 4), d.randint(1, 5)] if "cosine" in f.base else d.shape()
    given = {"target": signs(d, shape[:1] if "cosine" in f.base else shape)}
    for argument in f.arguments:
        if argument["type"] == "tensor" and argument["name"] != "target":
            given[argument["name"]] = d.tensor(shape)
    if f.base != "soft_margin_loss" and d.coin():
        given["margin"] = d.uniform(0.1, 1)
    given["reduction"] = reduction(d)
    return given


@generates("loss", "multi_margin_loss")
def multi_margin(d, f):
    d.special = d.ties = False
    rows, count = d.randint(1, 4), d.randint(1, 5)
    alone = d.coin(0.2)
    given = {"self": d.tensor([count] if alone else [rows, count]), "p": d.choice((1, 2)),
             "target": d.indices([] if alone else [rows], count), "margin": d.uniform(0.2, 2),
             "reduction": reduction(d)}
    if d.coin(0.4):
        given["weight"] = d.tensor([count], low=0.1, grad=False)
    return given


@generates("loss", "multilabel_margin_loss")
def multilabel_margin(d, f):
    d.special = d.ties = False
    shape = [d.randint(1, 5)] if d.coin(0.2) else [d.randint(1, 4), d.randint(1, 5)]
    target = d.indices(shape, shape[-1] + 1) - 1
    return {"self": d.tensor(shape), "target": target, "reduction": reduction(d)}


@generates("loss", "multilabel_soft_margin_loss", "poisson_nll_loss", "gaussian_nll_loss")
def likelihoods(d, f):
    d.special = False
    shape = d.shape(1, 3, zero=False)
    given = {"input": d.tensor(shape, low=0.1), "target": d.tensor(shape, low=0, high=3),
             "reduction": reduction(d)}
    if f.base == "gaussian_nll_loss":
        given["var"] = d.tensor(shape[:-1] + [1] if d.coin(0.3) else shape, low=0.05)
    for argument in f.arguments:
        if argument["type"] == "boolean":
            given[argument["name"]] = d.coin()
    return given


@generates("loss", "triplet_margin_loss")
def triplets(d, f):
    d.special = d.ties = False
    shape = d.shape(1, 3, zero=False)
    return {"anchor": d.tensor(shape), "positive": d.tensor(shape), "negative": d.tensor(shape),
            "margin": d.uniform(0.5, 2), "p": d.choice((1.0, 2.0, 3.0)), "swap": d.coin(),
            "reduction": reduction(d)}


@generates("loss", "ctc_loss")
def sequences(d, f):
    d.special = d.ties = False
    times, batch, classes = d.randint(1, 8), d.randint(1, 3), d.randint(2, 5)
    log_probs = d.tensor([times, batch, classes], d.choice((torch.float32, torch.float64)))
    labels = [d.randint(0, 3) for _ in range(batch)]
    targets = d.indices([batch, 3], classes) if d.coin() else d.indices([sum(labels)], classes)
    scores = log_probs.detach().log_softmax(-1).requires_grad_(log_probs.requires_grad)
    return {"log_probs": scores, "targets": targets, "target_lengths": torch.tensor(labels),
            "input_lengths": torch.tensor([d.randint(0, times) for _ in range(batch)]),
            "blank": d.randint(0, classes - 1), "reduction": reduction(d),
            "zero_infinity": d.coin()}


@generates("loss", "linear_cross_entropy")
def scored(d, f):
    d.special = False
    rows, features, classes = d.randint(1, 4), d.randint(1, 4), d.randint(1, 5)
    return {"input": d.tensor([rows, features]), "linear_weight": d.tensor([classes, features]),
            "target": d.indices([rows], classes), "reduction": reduction(d),
            "linear_bias": d.tensor([classes]) if d.coin() else None}


@generates("loss", "cosine_similarity", "pairwise_distance", "pdist")
def distances(d, f):
    d.special = d.ties = False
    if f.base == "pdist":
        return {"self": d.tensor([d.randint(0, 5), d.randint(1, 4)],
                                 d.choice((torch.float32, torch.float64))),
                "p": d.choice((0.0, 1.0, 1.5, 2.0, 3.0, float("inf")))}
    shape = d.shape(1, 3, zero=False)
    given = {"x1": d.tensor(shape), "x2": d.tensor(shape)}
    if f.base == "cosine_similarity":
        return {**given, "dim": d.axis(len(shape))}
    return {**given, "p": d.choice((1.0, 2.0, 3.0)), "keepdim": d.coin()}


# ---- pooling by places, columns, blocks

@generates("pooling", "lp_pool1d", "lp_pool2d", "lp_pool3d")
def norm_pool(d, f):
    d.special = d.ties = False
    axes = int(f.base[-2])
    kernel = [d.randint(1, 3) for _ in range(axes)]
    return {"input": d.tensor([2] + [d.randint(1, 2)] + [k + d.randint(0, 4) for k in kernel],
                              low=0.2, high=2),
            "norm_type": d.choice((1, 2, 2.5, 3)), "kernel_size": kernel, "ceil_mode": d.coin()}


@generates("pooling", "fractional_max_pool2d", "fractional_max_pool3d")
def fractional(d, f):
    d.special = d.ties = False
    axes = int(f.base[-2])
    kernel, output = [d.randint(1, 3) for _ in range(axes)], [d.randint(1, 3) for _ in range(axes)]
    sizes = [k + o - 1 + d.randint(0, 3) for k, o in zip(kernel, output)]
    batch = [d.randint(1, 2)] if d.coin(0.8) else []
    x = d.tensor(batch + [2] + sizes)
    return {"self": x, "kernel_size": kernel, "output_size": output,
            "random_samples": d.tensor((batch or [1]) + [2, axes], x.dtype, low=0, high=0.99,
                                       grad=False, layout=False)}


@generates("pooling", "max_unpool2d", "max_unpool3d")
def unpool(d, f):
    d.special = False
    axes = int(f.base[-2])
    sizes, output = [d.randint(1, 3) for _ in range(axes)], [d.randint(3, 5) for _ in range(axes)]
    shape = d.shape(2, 2, zero=False) + sizes
    planes = [d.permutation(torch.Size(output).numel())[:torch.Size(sizes).numel()].reshape(sizes)
              for _ in range(shape[0] * shape[1])]
    given = {"self": d.tensor(shape), "output_size": output,
             "indices": torch.stack(planes).reshape(shape)}
    if axes == 3:
        given.update(stride=[1] * 3, padding=[0] * 3)
    return given


@generates("columns", "im2col", "col2im")
def columns(d, f):
    d.special = False
    kernel, dilation = [d.randint(1, 3) for _ in "hw"], [d.randint(1, 2) for _ in "hw"]
    padding, stride = [d.randint(0, 2) for _ in "hw"], [d.randint(1, 3) for _ in "hw"]
    image = [(k - 1) * g + 1 + d.randint(0, 3) for k, g in zip(kernel, dilation)]
    batch, channels = [d.randint(1, 2)] if d.coin(0.8) else [], d.randint(1, 3)
    given = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    if f.base == "im2col":
        return {**given, "self": d.tensor(batch + [channels] + image)}
    windows = [(n + 2 * p - (k - 1) * g - 1) // s + 1
               for n, p, k, g, s in zip(image, padding, kernel, dilation, stride)]
    shape = batch + [channels * kernel[0] * kernel[1], windows[0] * windows[1]]
    return {**given, "self": d.tensor(shape), "output_size": image}


@generates("columns", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
def blocks(d, f):
    r, lead = d.randint(1, 3), d.shape(1, 1, zero=False)
    if f.base == "channel_shuffle":
        return {"self": d.tensor(lead + [r * d.randint(1, 3), 2, 3]), "groups": r}
    if f.base == "pixel_shuffle":
        return {"self": d.tensor(lead + [r * r * d.randint(1, 2), 2, 3]), "upscale_factor": r}
    return {"self": d.tensor(lead + [2, r * d.randint(1, 2), r * 2]), "downscale_factor": r}


# ---- resampling

UPSAMPLES = ["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
             "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
             "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d",
             "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
             "_upsample_lanczos2d_aa"]


@generates("resample", *UPSAMPLES)
def upsample(d, f):
    d.special = d.ties = False
    axes = next(int(c) for c in f.base if c.isdigit())
    sizes = [d.randint(1, 6) for _ in range(axes)]
    dtype = d.choice((torch.float32, torch.float64)) if f.base.endswith("_aa") else d.dtype
    given = {"self": d.tensor([d.randint(1, 2), d.randint(1, 3)] + sizes, dtype, layout=False),
             "output_size": [d.randint(1, 9) for _ in range(axes)]}
    if "align_corners" in [a["name"] for a in f.arguments]:
        given["align_corners"] = d.coin()
    return given


@generates("resample", "grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def grid(d, f):
    d.special = d.ties = False
    axes = 3 if f.base.endswith("3d") else 2
    dtype, batch = d.choice((torch.float32, torch.float64)), d.randint(1, 2)
    places = [batch] + [d.randint(1, 4) for _ in range(axes)] + [axes]
    return {"input": d.tensor([batch, d.randint(1, 3)] + [d.randint(1, 5) for _ in range(axes)],
                              dtype),
            "grid": d.tensor(places, dtype, low=-1.3, high=1.3), "align_corners": d.coin(),
            "interpolation_mode": d.randint(0, 2 if axes == 2 else 1),
            "padding_mode": d.randint(0, 2)}


@generates("resample", "affine_grid_generator")
def affine(d, f):
    d.special = False
    axes, batch = d.randint(2, 3), d.randint(1, 2)
    return {"theta": d.tensor([batch, axes, axes + 1], d.choice((torch.float32, torch.float64))),
            "size": [batch, 1] + [d.randint(1, 4) for _ in range(axes)], "align_corners": d.coin()}


# ---- rows, norms, products, activations

@generates("index", "embedding_renorm")
def renorm(d, f):
    d.special = d.ties = False
    rows = d.randint(1, 5)
    return {"self": d.tensor([rows, d.randint(1, 4)], d.choice((torch.float32, torch.float64)),
                             grad=False), "indices": d.indices([d.randint(1, 4)], rows),
            "max_norm": d.uniform(0.3, 2), "norm_type": d.choice((1.0, 2.0))}


@generates("norm", "instance_norm", "local_response_norm")
def instances(d, f):
    d.special = False
    channels = d.randint(1, 4)
    x = d.tensor([d.randint(1, 3), channels, d.randint(2, 4)] + d.shape(0, 1, zero=False))
    if f.base == "local_response_norm":
        return {"input": x, "size": d.randint(1, 4), "alpha": 0.3}
    given = {"input": x}
    for name in ("weight", "bias"):
        given[name] = d.tensor([channels]) if d.coin(0.7) else None
    return given


@generates("product", "bilinear", "conv_tbc")
def forms(d, f):
    d.special = False
    n, i, j, o = (d.randint(1, 4) for _ in range(4))
    if f.base == "conv_tbc":
        return {"self": d.tensor([n + 2, 2, i]), "weight": d.tensor([d.randint(1, 3), i, o]),
                "bias": d.tensor([o]), "pad": d.randint(0, 2)}
    return {"input1": d.tensor([n, i]), "input2": d.tensor([n, j]), "weight": d.tensor([o, i, j]),
            "bias": d.tensor([o]) if d.coin() else None}


@generates("elementwise", "prelu", "glu")
def gated(d, f):
    if f.base == "glu":
        return {"self": d.tensor(d.shape(0, 2) + [2 * d.randint(0, 3)]), "dim": -1}
    shape = d.shape(1, 3)
    channels = shape[1] if len(shape) > 1 else 1
    return {"self": d.tensor(shape), "weight": d.tensor([channels if d.coin() else 1])}


@generates("backward", "hardshrink_backward", "hardsigmoid_backward", "hardswish_backward")
def shrink_backward(d, f):
    shape = d.shape()
    given = {f.arguments[0]["name"]: d.tensor(shape), "self": d.tensor(shape)}
    if f.base == "hardshrink_backward":
        given["lambd"] = d.uniform(0.2, 1)
    return given


@generates("dropout", "alpha_dropout", "feature_alpha_dropout")
def alpha(d, f):
    return {"input": d.tensor([d.randint(2, 3), 40, 6], low=1, high=2, layout=False),
            "p": d.choice((0.0, 0.3, 0.5, 1.0)), "train": d.coin(0.7)}


@generates("dropout", "rrelu", "gumbel_softmax")
def drawn(d, f):
    d.special = False
    x = d.tensor([40, 6], layout=False)
    return {"self": x, "training": d.coin()} if f.base == "rrelu" else {"logits": x, "tau": 0.7}
