"""nn.utils: parametrisations, norms, pruning, fusion, replaced tensors; values and error kinds."""
import importlib
import zlib

import numpy
from modules import case, fill, listed

# Sizes of a Linear, settings of orthogonal().
ORTHOGONAL = [((m, n), kind, trivial) for m, n in ((3, 3), (4, 2), (2, 4))
              for kind in (None, "matrix_exp", "cayley", "householder")
              for trivial in (True, False)]
# Calls of prune on a Linear(4, 3), one after the other.
PRUNED = [
    ["l1_unstructured(m, 'weight', 0.3)", "ln_structured(m, 'weight', amount=1, n=2, dim=0)",
     "ln_structured(m, 'weight', 0.5, 1, 1)", "remove(m, 'weight')"],
    ["custom_from_mask(m, 'bias', lib.tensor([1, 0, 1]))", "l1_unstructured(m, 'bias', 1)",
     "remove(m, 'bias')"],
    ["ln_structured(m, 'weight', 2, float('inf'), -1)"], ["identity(m, 'weight')"],
    ["l1_unstructured(m, 'weight', 3, importance_scores=-m.weight.detach().abs())"],
    ["global_unstructured([(m, 'weight'), (m, 'bias')], prune.L1Unstructured, amount=7)",
     "global_unstructured([(m, 'weight'), (m, 'bias')], prune.L1Unstructured, amount=0.5)"],
    ["l1_unstructured(m, 'weight', -1)"], ["l1_unstructured(m, 'weight', 1.5)"],
    ["l1_unstructured(m, 'weight', 'x')"], ["l1_unstructured(m, 'weight', 100)"],
    ["ln_structured(m, 'bias', 1, 2, 0)"], ["ln_structured(m, 'weight', 1, 2, 5)"],
    ["remove(m, 'weight')"], ["global_unstructured(3, prune.L1Unstructured)"],
    ["global_unstructured([(m, 'weight')], prune.LnStructured, amount=1, n=2)"],
    ["PruningContainer().add_pruning_method(3)"],
]
# Expressions that fail, or what they give.
SAID = [
    "ready.orthogonal(nn.Linear(2, 2), orthogonal_map='x')",
    "ready.orthogonal(nn.Linear(2, 2), 'bias')", "ready.orthogonal(nn.Linear(2, 2), 'nothing')",
    "ready.spectral_norm(nn.Linear(2, 2), 'nothing')", "ready.weight_norm(nn.ReLU(), 'nothing')",
    "ready.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)",
    "ready.spectral_norm(nn.Linear(2, 2), dim=3)", "ready.weight_norm(nn.Linear(2, 3))",
    "list(ready.spectral_norm(nn.Linear(2, 3)).state_dict())",
    "list(nn.utils.weight_norm(nn.Linear(2, 3)).state_dict())",
    "list(nn.utils.spectral_norm(nn.Linear(2, 3)).state_dict())",
    "nn.utils.spectral_norm(nn.Linear(2, 3)).state_dict()._metadata",
    "nn.utils.spectral_norm(nn.utils.spectral_norm(nn.Linear(2, 2)))",
    "nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(2, 2)))",
    "nn.utils.spectral_norm(nn.Linear(2, 2), 'nothing')",
    "nn.utils.weight_norm(nn.Linear(2, 2), 'nothing')",
    "nn.utils.remove_weight_norm(nn.Linear(2, 2))",
    "nn.utils.remove_spectral_norm(nn.Linear(2, 2))", "nn.utils.skip_init(nn.ReLU)",
    "nn.utils.skip_init(3)", "nn.utils.skip_init(nn.Linear, 2, 2, device='cpu')",
    "nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))",
    "nn.utils.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(2).eval())",
    "nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 2, 3).eval(), "
    "nn.BatchNorm2d(2, track_running_stats=False).eval())",
    "parametrize.remove_parametrizations(nn.Linear(2, 2), 'weight')",
    "parametrize.ParametrizationList([], lib.ones(1))",
    "parametrize.register_parametrization(nn.Linear(2, 2), 'nothing', nn.ReLU())",
    "parametrize.register_parametrization(nn.Linear(2, 2), 'weight', nn.ReLU())",
    "parametrize.register_parametrization(nn.Linear(2, 2), 'weight', nn.Linear(2, 3))",
    "parametrize.is_parametrized(nn.ReLU())",
    "parametrize.type_before_parametrizations(ready.weight_norm(nn.Linear(1, 1))).__name__",
    "stateless.functional_call(nn.Linear(1, 1), {'weight': 3}, lib.ones(1))",
    "stateless.functional_call(nn.Linear(1, 1), {'x': lib.ones(1)}, lib.ones(1), strict=True)",
    "nn.init.orthogonal_(lib.ones(3))", "nn.init.sparse_(lib.ones(3), 0.1)",
    "nn.init.constant(lib.ones(2), 3).tolist()", "nn.init.calculate_gain('conv_transpose2d')",
    "nn.factory_kwargs({'x': 1})", "nn.factory_kwargs({'dtype': None})",
    "nn.DataParallel(nn.Linear(1, 1))", "nn.LazyLinear(2).weight.shape",
    "nn.LazyLinear(2).weight + 1", "nn.Linear(1, 2).load_state_dict(nn.LazyLinear(2).state_dict())",
    "nn.LazyConv2d(2, 3)(lib.ones(1, 1))", "nn.LazyLinear(2).share_memory()",
]


def scope_of(lib):
    names = {each: importlib.import_module(f"{lib.__name__}.nn.utils.{path}") for each, path in (
        ("ready", "parametrizations"), ("parametrize", "parametrize"), ("prune", "prune"),
        ("stateless", "stateless"))}
    return {"lib": lib, "nn": lib.nn, **names}


def drawn(name):
    return numpy.random.default_rng(zlib.crc32(name.encode()))


def tensor(lib, draw, *sizes):
    return lib.tensor(draw.normal(size=sizes).astype("float32").tolist())


def orthogonal_cases(lib, scope):
    for sizes, kind, trivial in ORTHOGONAL:
        name = f"orthogonal {sizes}, {kind}, {trivial}"
        draw, module = drawn(name), lib.nn.Linear(sizes[1], sizes[0])
        fill(lib, module, draw)
        scope["ready"].orthogonal(module, orthogonal_map=kind, use_trivialization=trivial)
        first, held = listed(module.weight), module.parametrizations.weight
        with lib.no_grad():
            held.original.add_(0.3 * tensor(lib, draw, *sizes))
            if trivial and sizes[0] != sizes[1]:  # random, beyond the first rows or columns
                held[0].base.copy_(lib.eye(4))
        moved = module.weight
        (moved * tensor(lib, draw, *sizes)).sum().backward()
        yield case("module", name, {"first": first, "moved": listed(moved), "keys": list(
            module.state_dict()), "gradient": listed(held.original.grad)})


def norm_cases(lib, scope):
    for text in ("Linear(3, 4)", "Conv2d(2, 3, 2)", "ConvTranspose2d(2, 3, 2)"):
        for how in ("ready.weight_norm(m)", "ready.weight_norm(m, dim=1)",
                    "ready.weight_norm(m, dim=None)", "ready.spectral_norm(m)",
                    "ready.spectral_norm(m, n_power_iterations=2, dim=1)",
                    "nn.utils.weight_norm(m)", "nn.utils.spectral_norm(m, n_power_iterations=2)"):
            name = f"{how} of {text}"
            draw, module = drawn(name), eval(f"nn.{text}", scope)
            eval(how, {**scope, "m": module})
            fill(lib, module, draw)
            for _ in range(2):
                module.zero_grad()
                x = tensor(lib, draw, *((5, 3) if "Linear" in text else (2, 2, 4, 4)))
                out = module(x)
                (out * tensor(lib, draw, *out.shape)).sum().backward()
            seen = {"printed": repr(module), "out": listed(out), "gradients": {
                n: listed(p.grad) for n, p in module.named_parameters()}}
            module.eval()
            yield case("module", name, {**seen, "eval": listed(module(x)), "state": {
                n: listed(t) for n, t in module.state_dict().items()}})


def prune_cases(lib, scope):
    for calls in PRUNED:
        draw, module, seen = drawn(calls[0]), lib.nn.Linear(4, 3), []
        fill(lib, module, draw)
        x = tensor(lib, draw, 2, 4)
        for call in calls:
            try:
                eval(f"prune.{call}", {**scope, "m": module})
                seen.append([listed(module(x)), sorted(module.state_dict()),
                             scope["prune"].is_pruned(module),
                             {n: listed(b) for n, b in module.named_buffers()}])
            except Exception as error:
                seen.append(type(error).__name__)
        yield case("module", f"prune.{calls[0]} ...", {"seen": seen})


def fusion_cases(lib, scope):
    for text, sizes, rank in (("Conv2d(2, 3, 2)", (2, 2, 4, 4), 2), ("Linear(4, 3)", (5, 4), 1),
                              ("Conv2d(2, 3, 2, bias=False)", (2, 2, 4, 4), 2),
                              ("ConvTranspose2d(2, 3, 2)", (2, 2, 4, 4), 2)):
        draw = drawn(text)
        layer, bn = eval(f"nn.{text}", scope).eval(), getattr(lib.nn, f"BatchNorm{rank}d")(3).eval()
        fill(lib, layer, draw), fill(lib, bn, draw)
        if rank == 1:
            fused = lib.nn.utils.fuse_linear_bn_eval(layer, bn)
        else:
            fused = lib.nn.utils.fuse_conv_bn_eval(layer, bn, "Transpose" in text)
        yield case("module", f"fused {text}", {
            "out": listed(fused(tensor(lib, draw, *sizes))), "printed": repr(fused),
            "trained": [p.requires_grad for p in fused.parameters()]})


def cases(lib):
    scope = scope_of(lib)
    for source in (orthogonal_cases, norm_cases, prune_cases, fusion_cases):
        yield from source(lib, scope)
    for text in SAID:
        try:
            found = repr(eval(text, scope))
        except Exception as error:
            found = type(error).__name__
        yield case("error", text, {"said": found})
