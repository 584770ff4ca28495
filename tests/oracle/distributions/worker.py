"""Runs every case with the library named on the command line; a line of JSON for each."""
import importlib
import json
import sys
import warnings

import families
import refusals
import transformed

fg = importlib.import_module(sys.argv[1])
D = importlib.import_module(sys.argv[1] + ".distributions")
warnings.simplefilter("ignore")


def t(data, grad=False, kind=fg.float64):
    made = fg.tensor(data, dtype=kind)
    return made.requires_grad_() if grad else made


def plain(value):
    if isinstance(value, fg.Tensor):
        return {"shape": list(value.shape), "values": value.detach().double().reshape(-1).tolist()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return str(value)


def attempt(function):
    try:
        return plain(function())
    except Exception as error:  # its kind is compared
        return "raises " + type(error).__name__


def tell(kind, case, **results):
    print(json.dumps({"kind": kind, "case": case, **results}))


def gradients(function, parameters):
    wanted = list(parameters.values())
    total = function()
    if not total.requires_grad:
        return "no gradient"
    found = fg.autograd.grad(total.sum(), wanted, allow_unused=True, create_graph=True)
    result = {name: plain(one) for name, one in zip(parameters, found)}
    twice = sum((one * one).sum() for one in found if one is not None)
    if twice.requires_grad:
        again = fg.autograd.grad(twice, wanted, allow_unused=True, retain_graph=True)
        result.update({name + " again": plain(one) for name, one in zip(parameters, again)})
    return result


def moments(made):
    return {name: attempt(lambda: getattr(made, name)) for name in
            ("mean", "mode", "variance", "stddev")}


def family(name, number, given, values):
    kind = fg.float32 if name in families.SINGLE else fg.float64
    arguments = {key: int(value) if isinstance(value, str) else t(value, True, kind)
                 for key, value in given.items()}
    made = getattr(D, name)(**arguments)
    tensors = {key: one for key, one in arguments.items() if isinstance(one, fg.Tensor)}
    x = fg.tensor(values, dtype=fg.int64 if isinstance(values[0][0], int) else kind)
    dims = len(made.event_shape)
    for _ in range(len(made.batch_shape) - (0 if dims else 1)):
        x = x.unsqueeze(1)
    tell("family", f"{name} {number}", text=repr(made), shapes=plain([list(made.batch_shape),
         list(made.event_shape)]), support=attempt(lambda: repr(made.support)),
         has=[made.has_rsample, made.has_enumerate_support], **moments(made),
         log_prob=attempt(lambda: made.log_prob(x)), entropy=attempt(made.entropy),
         gradients=attempt_gradients(lambda: made.log_prob(x), tensors),
         of_entropy=attempt_gradients(made.entropy, tensors),
         all=attempt(made.enumerate_support), few=attempt(lambda: made.enumerate_support(False)),
         perplexity=attempt(made.perplexity),
         sample=attempt(lambda: list(made.sample((4, 2)).shape)),
         dtype=attempt(lambda: str(made.sample().dtype).split(".")[-1]))
    inside = made.cdf(x) if "raises" not in str(attempt(lambda: made.cdf(x))) else None
    tell("family", f"{name} {number} cdf", cdf=attempt(lambda: made.cdf(x)),
         gradients=attempt_gradients(lambda: made.cdf(x), tensors),
         icdf=attempt(lambda: made.icdf(t([[0.05], [0.5], [0.83]], False, kind))),
         back=None if inside is None else attempt(lambda: made.icdf(inside.detach())))
    wide = made.expand((3,) + tuple(made.batch_shape))
    tell("family", f"{name} {number} expanded", text=repr(wide), **moments(wide),
         log_prob=attempt(lambda: wide.log_prob(x)), entropy=attempt(wide.entropy),
         sample=attempt(lambda: list(wide.sample((2,)).shape)))


def attempt_gradients(function, tensors):
    try:
        return gradients(function, tensors)
    except Exception as error:
        return "raises " + type(error).__name__


def divergence(p_name, q_name, p_ways, q_ways):
    for number, (p_text, q_text) in enumerate(zip(p_ways, q_ways)):
        leaves = []

        def leaf(data):
            leaves.append(t(data, True))
            return leaves[-1]

        p = eval(f"D.{p_name}({p_text})", {"D": D, "t": leaf})
        q = eval(f"D.{q_name}({q_text})", {"D": D, "t": leaf})
        named = {str(i): one for i, one in enumerate(leaves)}
        tell("divergence", f"{p_name} {q_name} {number}",
             value=attempt(lambda: D.kl_divergence(p, q)),
             gradients=first_gradients(p, q, named))


def first_gradients(p, q, leaves):
    """Gradients of divergences that are finite: at infinity they are any."""
    try:
        value = D.kl_divergence(p, q)
        if not value.requires_grad or not value.isfinite().all():
            return "none"
        found = fg.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True)
        return [plain(one) for one in found]
    except Exception as error:
        return "raises " + type(error).__name__


def main():
    for name, (ways, values) in families.FAMILIES.items():
        for number, given in enumerate(ways):
            family(name, number, given, values)
    ways = {**families.WAYS, **families.ALONE}
    for p in families.WAYS:
        for q in families.WAYS:
            turned = families.WAYS[q][1:] + families.WAYS[q][:1]
            divergence(p, q, families.WAYS[p], turned)
    for name, own in families.ALONE.items():
        divergence(name, name, own, own[1:] + own[:1])
    for p, p_ways in families.NORMALS.items():
        for q, q_ways in families.NORMALS.items():
            divergence(p, q, p_ways, q_ways[1:] + q_ways[:1])
    for case, text in transformed.CASES.items():
        scope = {"D": D, "C": D.constraints, "fg": fg, "t": t}
        tell("transform", case, **{key: attempt(lambda: eval(one, scope))
                                   for key, one in text.items()})
    for case in refusals.CASES:
        tell("refusal", case, **refused(case))


def refused(text):
    try:
        made = eval(text, {"D": D, "C": D.constraints, "fg": fg, "t": t, "nan": float("nan")})
        return {"result": repr(made)}
    except Exception as error:
        return {"error": type(error).__name__, "words": str(error)}


main()
