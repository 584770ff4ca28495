"""Runs a function eagerly and captured on equal arguments and compares what its caller sees."""

import foregrad as fg
import numpy
from capture_observe import elements, leaves_of


def leaf(*shape, dtype=fg.float64, start=0.5):
    """A leaf with elements 0.5, 0.6, ..."""
    count = int(numpy.prod(shape))
    values = [start + 0.1 * i for i in range(count)]
    return fg.tensor(values, dtype=dtype).reshape(shape).requires_grad_()


def plain(*shape, dtype=fg.float64, start=0.25):
    return leaf(*shape, dtype=dtype, start=start).detach()


def nonleaf(*shape):
    """A tensor with a history, whose leaf is its attribute `source`."""
    source = leaf(*shape)
    tensor = source * 1.0
    return tensor, source


def look_at(tensor):
    return (str(tensor.dtype), tuple(tensor.shape), tensor.stride(), tensor.requires_grad,
            tensor.is_leaf, tensor._is_view(), elements(tensor).tolist())


def sources(arguments):
    found = []
    for argument in arguments:
        if isinstance(argument, fg.Tensor) and argument.requires_grad and argument.is_leaf:
            found.append(argument)
    return found


def gradients(results, leaves, **options):
    """Gradients of each result alone and of all of them, twice."""
    roots = [r for r in results if r.grad_fn is not None]
    if not roots or not leaves:
        return []
    tangents = [fg.arange(r.numel(), dtype=r.dtype).reshape(r.shape) + 1 for r in roots]
    everything = range(len(roots))
    found = []
    for places in ([i] for i in everything), everything, everything:
        for chosen in [places] if places is everything else places:
            grads = fg.autograd.grad([roots[i] for i in chosen], leaves,
                                     [tangents[i] for i in chosen], allow_unused=True,
                                     retain_graph=True, **options)
            # Sums of several results may be taken in another order.
            digits = 12 if len(chosen) > 1 else None
            found += [None if g is None else rounded(g, digits) for g in grads]
    return found


def rounded(tensor, digits=None):
    values = elements(tensor)
    return (values if digits is None else numpy.round(values, digits)).tolist()


def observe(function, make):
    """Everything about one call: results, their identity, arguments afterwards, gradients."""
    made = make()
    arguments, leaves = made if isinstance(made, tuple) else (made, None)
    leaves = sources(arguments) if leaves is None else leaves
    versions = [a._version for a in arguments if isinstance(a, fg.Tensor)]
    results = []
    structure = leaves_of(function(*arguments), results)
    tensors = [a for a in arguments if isinstance(a, fg.Tensor)]
    everything = tensors + results
    same = [next(j for j, other in enumerate(everything) if other is r) for r in results]
    seen = [("structure", structure), ("same", same)]
    seen += [(f"result {i}", look_at(r)) for i, r in enumerate(results)]
    seen += [(f"argument {i}", look_at(a)) for i, a in enumerate(tensors)]
    seen.append(("versions", [a._version - v for a, v in zip(tensors, versions)]))
    changed = [a for a in tensors if not a.is_leaf]
    seen.append(("gradients", gradients(results + changed, leaves)))
    seen += aliases(everything)
    return seen


def aliases(everything):
    """What a write to one of them shows in the others."""
    seen = []
    for i, tensor in enumerate(everything):
        if not tensor.is_floating_point():
            continue
        try:
            tensor.detach().add_(1)
        except RuntimeError:
            continue
        seen.append((f"write to {i}", [elements(other).tolist() for other in everything]))
    return seen


def alike(function, make, calls=2, **options):
    """Eager and captured are equal, at capture and when the captured code runs again."""
    options = {"fullgraph": True, **options}
    compiled = fg.compile(function, **options)
    for _ in range(calls):
        fg.manual_seed(3)
        expected = observe(function, make)
        fg.manual_seed(3)
        found = observe(compiled, make)
        for one, two in zip(expected, found, strict=True):
            assert one == two, one[0]
    if options["fullgraph"]:
        assert versions_of(compiled) > 0  # it was captured, not called
    return compiled


def versions_of(compiled):
    """How often it was captured."""
    return len(compiled.compiled.versions)


def graphs_of(function, *arguments):
    """Captures and runs it, forward and backward; the graphs that the compilers were given."""
    forward, backward = [], []

    def keep(found):
        def compiler(graph, example_inputs):
            found.append(graph)
            return graph

        return compiler

    result = fg.compiler.aot_function(function, keep(forward), keep(backward))(*arguments)
    results = result if isinstance(result, (list, tuple)) else [result]
    roots = [r for r in results if r is not None and r.requires_grad]
    if roots:
        fg.autograd.backward(roots, [fg.ones_like(r) for r in roots])
    return forward, backward
