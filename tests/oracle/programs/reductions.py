"""Every reduction over one, several and all dimensions, with dtypes, names and errors."""
from elementwise import see_names, tried
from observe import outcome, raises, register, see

# Name -> whether it takes several dimensions.
NAMES = {"sum": True, "mean": True, "prod": False, "amax": True, "amin": True, "max": False,
         "min": False, "argmax": False, "argmin": False, "all": True, "any": True, "var": True,
         "std": True, "logsumexp": True, "norm": True, "cumsum": False, "cumprod": False,
         "median": False, "nansum": True, "count_nonzero": True, "aminmax": False, "cummax": False,
         "sort": False, "argsort": False, "topk": False, "unique": False, "softmax": False,
         "log_softmax": False, "std_mean": True, "var_mean": True, "logcumsumexp": False,
         "nanmean": True, "mode": False, "kthvalue": False}


def reduction(name, several):
    def program(torch, draw):
        see_names(torch, name)
        function = getattr(torch, name)
        shapes = ((2, 3), (4,), (), (0,), (2, 0), (2, 3, 2))
        for shape in shapes:
            x = draw.tensor(*shape, grad=True)
            tried(f"{shape}", torch, function, x)
            for dim in range(-1, len(shape)):
                tried(f"{shape} {dim}", torch, function, x, dim)
                tried(f"{shape} {dim} keep", torch, lambda x: function(x, dim, keepdim=True), x)
        x = draw.tensor(2, 3, 2, grad=True)
        tried("dims", torch, function, x, (0, 2))
        tried("no dims", torch, function, x, ())
        tried("none", torch, function, x, None)
        tried("named", torch, lambda x: function(input=x, dim=1), x)
        tried("axis", torch, lambda x: function(x, axis=1), x)
        tried("list", torch, function, x, [0])
        tried("dtype", torch, lambda x: function(x, 1, dtype=torch.float32), x)
        tried("transposed", torch, function, x.permute(2, 0, 1), 1)
        for dtype in ("float32", "float16", "int64", "int32", "uint8", "bool"):
            tried(dtype, torch, function, draw.tensor(3, dtype=dtype))
            tried(dtype + " dim", torch, function, draw.tensor(2, 3, dtype=dtype), 1)
        raises("range", lambda: function(x, 3))
        raises("repeated", lambda: function(x, (0, 0)))
        raises("float dim", lambda: function(x, 1.0))
        raises("string", lambda: function(x, "a"))
        result = outcome(lambda: getattr(x, name)(1))
        see("type", type(result).__name__ if isinstance(result, tuple) else "other")
        if isinstance(result, tuple) and hasattr(result, "values"):
            see("fields", (result.values, result.indices))

    return program


for reduction_name, takes_several in NAMES.items():
    register(__name__, reduction_name, reduction(reduction_name, takes_several))
