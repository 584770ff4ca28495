"""Which functions of the table have which names in Python."""

from foregrad import _C

# Other names of the same functions.
ALIASES = {
    "abs": ("absolute",), "acos": ("arccos",), "acosh": ("arccosh",), "asin": ("arcsin",),
    "asinh": ("arcsinh",), "atan": ("arctan",), "atan2": ("arctan2",), "atanh": ("arctanh",),
    "cat": ("concat", "concatenate"), "clamp": ("clip",), "div": ("divide", "true_divide"),
    "ge": ("greater_equal",), "gt": ("greater",), "le": ("less_equal",),
    "lt": ("less",), "ne": ("not_equal",), "mul": ("multiply",), "sub": ("subtract",),
    "neg": ("negative",), "outer": ("ger",), "trunc": ("fix",), "vstack": ("row_stack",),
}

# Behind other functions, or only as in-place methods.
HIDDEN = {
    "alias", "cauchy", "copy", "exponential", "geometric", "index", "linear_recurrence",
    "log_normal", "nll_loss2d", "nonzero_numpy", "normal_functional", "numpy_T", "mT", "random",
    "slice", "uniform", "zero", "to", "detach", "native_batch_norm", "native_group_norm",
    "native_layer_norm", "normalize_backward", "flash_attention",
}

# torch.nn.functional has these, torch itself has not.
ONLY_IN_NN = {
    "adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool2d", "cross_entropy", "elu", "gelu",
    "hardtanh", "huber_loss", "l1_loss", "leaky_relu", "log_sigmoid", "mish", "mse_loss",
    "nll_loss", "one_hot", "pad", "relu6", "scaled_dot_product_attention", "silu",
    "smooth_l1_loss", "softplus", "max_pool1d_with_indices", "max_pool2d_with_indices",
}

# Functions of a tensor that are no methods in PyTorch.
NO_METHODS = ONLY_IN_NN | {
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "constant_pad_nd", "kl_div",
    "normal", "selu", "std_mean", "var_mean", "threshold", "max_pool1d", "max_pool2d",
    "avg_pool1d", "adaptive_avg_pool1d", "adaptive_max_pool1d", "linalg_vector_norm", "poisson",
    "normal_functional", "rsub", "_safe_softmax", "_unsafe_view", "diagonal_copy",
}

METHODS_ONLY = {
    "contiguous", "expand", "expand_as", "fill_", "new_empty", "new_full", "new_ones",
    "new_zeros", "repeat", "reshape_as", "view", "view_as", "put", "unfold",
}

# In-place forms that are functions too; the others are methods only.
INPLACE_FUNCTIONS = {
    "abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh",
    "asin", "asinh", "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos",
    "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fill", "fix", "floor", "frac", "index_put",
    "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "negative", "reciprocal", "relu",
    "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "threshold", "trunc",
    "xlogy", "zero",
}


def functions():
    """Every function of the table by its name."""
    return {name: f for name, f in vars(_C._functions).items() if not name.startswith("__")}


def _is_inner(name):
    return name in HIDDEN or name.endswith("_backward")


def _is_public(name):
    return not (_is_inner(name) or name in ONLY_IN_NN or name in METHODS_ONLY)


def install_functions(names):
    """Puts the functions into a module's names, and other names of methods on Tensor."""
    for name, function in functions().items():
        base = name.removesuffix("_")
        suffix = name[len(base):]
        for one in (base, *ALIASES.get(base, ())):
            if one != base and hasattr(_C.Tensor, name):
                setattr(_C.Tensor, one + suffix, getattr(_C.Tensor, name))
            if one in INPLACE_FUNCTIONS if suffix else _is_public(base):
                names[one + suffix] = function
    setattr(_C.Tensor, "normal_", getattr(_C.Tensor, "normal_functional_"))
    for name in functions():
        base = name.removesuffix("_")
        inner = _is_inner(name) and name not in ("detach", "mT")
        if name in vars(_C.Tensor) and (inner or base in NO_METHODS or base.endswith("_like")):
            delattr(_C.Tensor, name)
