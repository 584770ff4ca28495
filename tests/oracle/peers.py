"""PyTorch's counterpart of every function: looked up by name, with the exceptions listed here."""
import torch
import torch.nn.functional as F

aten = torch.ops.aten


def reduced(loss):
    """torch.nn.functional's losses take their options by name, after two deprecated ones."""
    def call(self, target, weight=None, reduction="mean", pos_weight=None):
        extra = {} if pos_weight is None else {"pos_weight": pos_weight}
        if weight is not None:
            extra["weight"] = weight
        return loss(self, target, reduction=reduction, **extra)
    return call


def nll(self, target, weight=None, ignore_index=-100, reduction="mean"):
    return F.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=reduction)


def cross_entropy(self, target, weight=None, ignore_index=-100, reduction="mean", smoothing=0.0):
    return F.cross_entropy(self, target, weight, ignore_index=ignore_index, reduction=reduction,
                           label_smoothing=smoothing)


def code(reduction):
    return {"none": 0, "mean": 1, "sum": 2}.get(reduction, reduction)


def norm(self, p=2, dim=None, keepdim=False, dtype=None):
    return torch.norm(self, p, dim, keepdim, dtype=dtype)


def pooled(pool):
    """Our stride=[] is torch's None."""
    def call(self, kernel_size, stride=(), padding=0, *rest, **named):
        return pool(self, kernel_size, stride or None, padding, *rest, **named)
    return call


def max_pool(pool):
    def call(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return pool(self, kernel_size, stride, padding, dilation, ceil_mode)
    return call


def sized(pool):
    def call(self, output_size):
        return pool(self, output_size, return_indices=True)
    return call


def aliased(self, size):
    """PyTorch's takes the strides that a view has."""
    view = self.detach().view(size)
    return torch.ops.aten._reshape_alias(self, view.shape, view.stride())


def splitted(self, split_size, dim=0):
    return torch.split(self, split_size, dim)


OVERRIDES = {
    "_reshape_alias": aliased,
    "index": aten.index.Tensor,
    "index_put": aten.index_put.default,
    "elu": aten.elu.default,
    "selu": F.selu,
    "log_sigmoid": F.logsigmoid,
    "threshold": torch.threshold,
    "pad": F.pad,
    "mse_loss": lambda s, t, reduction="mean": F.mse_loss(s, t, reduction=reduction),
    "l1_loss": lambda s, t, reduction="mean": F.l1_loss(s, t, reduction=reduction),
    "smooth_l1_loss":
        lambda s, t, r="mean", beta=1.0: F.smooth_l1_loss(s, t, reduction=r, beta=beta),
    "huber_loss": lambda s, t, r="mean", delta=1.0: F.huber_loss(s, t, reduction=r, delta=delta),
    "kl_div": lambda s, t, r="mean", log_target=False: F.kl_div(s, t, reduction=r,
                                                                log_target=log_target),
    "binary_cross_entropy": reduced(F.binary_cross_entropy),
    "binary_cross_entropy_with_logits": reduced(F.binary_cross_entropy_with_logits),
    "nll_loss": nll,
    "cross_entropy": cross_entropy,
    "linear": F.linear,
    "layer_norm": F.layer_norm,
    "group_norm": F.group_norm,
    "batch_norm": F.batch_norm,
    "rms_norm": F.rms_norm,
    "norm": norm,
    "linalg_vector_norm": torch.linalg.vector_norm,
    "convolution": torch.convolution,
    "max_pool2d": max_pool(torch.max_pool2d),
    "max_pool1d": max_pool(torch.max_pool1d),
    "max_pool2d_with_indices": max_pool(aten.max_pool2d_with_indices.default),
    "max_pool1d_with_indices": max_pool(aten.max_pool1d_with_indices.default),
    "avg_pool2d": pooled(F.avg_pool2d),
    "avg_pool1d": pooled(F.avg_pool1d),
    "adaptive_max_pool2d": sized(F.adaptive_max_pool2d),
    "adaptive_max_pool1d": sized(F.adaptive_max_pool1d),
    "embedding": torch.embedding,
    "one_hot": F.one_hot,
    "numpy_T": lambda self: self.T,
    "mT": lambda self: self.mT,
    "unfold": torch.Tensor.unfold,
    "split.Tensor": splitted,
    "split.sizes": splitted,
    "to": lambda self, dtype, copy=False: self.to(dtype, copy=copy),
    "to.other": lambda self, other, copy=False: self.to(other, copy=copy),
    "dropout": torch.dropout,
    "softmax": lambda self, dim, dtype=None: torch.softmax(self, dim, dtype=dtype),
    "log_softmax": lambda self, dim, dtype=None: torch.log_softmax(self, dim, dtype=dtype),
    "softmax_backward": lambda g, out, dim: aten._softmax_backward_data(g, out, dim, out.dtype),
    "log_softmax_backward":
        lambda g, out, dim: aten._log_softmax_backward_data(g, out, dim, out.dtype),
    "hardtanh_backward": aten.hardtanh_backward.default,
    "leaky_relu_backward": lambda g, s, slope: aten.leaky_relu_backward(g, s, slope, False),
    "elu_backward": lambda g, s, *scales: aten.elu_backward(g, *scales, False, s),
    "mse_loss_backward": lambda g, s, t, r: aten.mse_loss_backward(g, s, t, code(r)),
    "smooth_l1_loss_backward":
        lambda g, s, t, r, beta: aten.smooth_l1_loss_backward(g, s, t, code(r), beta),
    "huber_loss_backward": lambda g, s, t, r, d: aten.huber_loss_backward(g, s, t, code(r), d),
    "binary_cross_entropy_backward":
        lambda g, s, t: aten.binary_cross_entropy_backward(g, s, t, None, 0),
    "nll_loss2d": lambda s, t, w=None, ignore=-100, r="mean": torch._C._nn.nll_loss2d(
        s, t, w, code(r), ignore),
    "bernoulli.Tensor": aten.bernoulli.Tensor,
    "random": aten.random.default,
    "random.to": aten.random.to,
    "random.from": getattr(aten.random, "from"),
}

# Functions without a counterpart, or with one whose arguments differ too much to be compared.
NONE = {
    "linear_recurrence": "ours: the scan behind the gradient of cumprod",
    "as_strided_backward": "ours; tested through as_strided",
    "index_backward": "ours; tested through index",
    "gather_backward": "PyTorch's takes other arguments; tested through gather",
    "log_sigmoid_backward": "PyTorch's takes a buffer; tested through log_sigmoid",
    "native_layer_norm": "its statistics have gradients; tested through layer_norm",
    "native_group_norm": "its statistics have another shape; tested through group_norm",
    "native_batch_norm": "its statistics have another shape; tested through batch_norm",
    "normalize_backward": "ours; tested through the norms",
    **{f"{kind}_layer{form}": "ours; tested through the recurrent networks"
       for kind in ("lstm", "gru", "rnn") for form in ("", "_values", "_backward")},
    # Their sizes hang together, and PyTorch's process may die of sizes that do not.
    **{f"{kind}{form}": "compared by tests/oracle/modules"
       for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu") for form in ("", "_cell")},
}

INPLACE = {
    "index_put": aten.index_put_.default,
    "elu": aten.elu_.default,
    "threshold": torch.threshold_,
    "normal_functional": torch.Tensor.normal_,
}


def find(function):
    """The counterpart of the plain form, or None."""
    for name in (function.name, function.base):
        if name in NONE:
            return None
        if name in OVERRIDES:
            return OVERRIDES[name]
    for place in (torch, F, torch.Tensor):
        if hasattr(place, function.base):
            return getattr(place, function.base)
    if hasattr(aten, function.base):
        packet = getattr(aten, function.base)
        return getattr(packet, function.overload, packet) if function.overload else packet
    return None


def find_inplace(function):
    if function.base in INPLACE:
        return INPLACE[function.base]
    for place in (torch.Tensor, torch, F, aten):
        if hasattr(place, function.base + "_"):
            return getattr(place, function.base + "_")
    return None


# Forms with out= that Python has no name for, or whose arguments come in another order.
NO_OUT = ("norm", "softmax", "log_softmax", "sum", "prod", "any", "all", "nll_loss", "nll_loss2d",
          "binary_cross_entropy", "mean", "random")


def find_out(function):
    """The form with out=; only torch.<name> has one that Python users meet."""
    if function.name in NO_OUT:
        return None
    if function.base == "linalg_vector_norm":
        return torch.linalg.vector_norm
    if function.base.endswith("_loss"):
        loss = getattr(torch._C._nn, function.base)
        return lambda s, t, r="mean", *rest, out: loss(s, t, code(r), *rest, out=out)
    return getattr(torch, function.base, None) or getattr(torch._C._nn, function.base, None)
