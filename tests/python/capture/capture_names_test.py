"""The inputs of a graph are called as the function's code calls them."""

import functools
import re

import foregrad as fg
import pytest
from capture_compare import leaf, plain

WEIGHT = plain(3)
TABLE = {"rate": plain(3)}


class Layer(fg.nn.Module if hasattr(fg.nn, "Module") else object):
    def __init__(self):
        super().__init__()
        self.weight, self.parts = leaf(3), [plain(3), plain(3)]

    def forward(self, x):
        return x * self.weight + self.parts[1]

    def __call__(self, x):
        return self.forward(x)


def names(function, *args, **kwargs):
    """The names of the inputs of the captured function."""
    compiled = fg.compile(function, fullgraph=True)
    compiled(*args, **kwargs)
    owner = compiled if hasattr(compiled, "compiled") else compiled._compiled
    version, = owner.compiled.versions
    code = version.graph(False).code
    assert fg._C.Graph(code).code == code
    return re.findall(r'(?:argument|parameter) \d+ "(.*)"', code.partition("{\n")[0])


def test_arguments():
    def f(x, pair, *rest, table, k):
        return x + pair[0] * pair[1] + rest[0] + rest[1] + table["a"] + table["it's"] * k

    t = [plain(3, start=float(i)) for i in range(7)]
    assert names(f, t[0], (t[1], t[2]), t[3], t[4], table={"a": t[5], "it's": t[6]}, k=0.5) == [
        "x", "pair[0]", "pair[1]", "rest[0]", "rest[1]", "table['a']", "table['it's']", "k"]


def test_one_tensor_in_two_places_has_its_first_name():
    x = plain(3)
    assert names(lambda a, b, c: a * b + c, x, x, plain(3)) == ["a", "c"]


def test_functions_that_do_not_say_what_they_take():
    assert names(fg.sin, plain(3)) == ["args[0]"]


def test_functions_around_functions():
    def f(a, b, *rest):
        return a * b + sum(rest)

    @functools.wraps(f)
    def wrapped(*args):
        return f(*args)

    t = [plain(3, start=float(i)) for i in range(4)]
    assert names(wrapped, *t) == ["a", "b", "rest[0]", "rest[1]"]
    assert names(functools.partial(f, 2.0), *t) == ["b", "rest[0]", "rest[1]", "rest[2]"]
    assert names(functools.partial(f, b=t[0]), t[1]) == ["a", "kwargs['b']"]


def test_variables_and_attributes():
    free, holder = plain(3), Layer()
    table = {"w": plain(3)}

    def f(x, layer):
        return x * free + WEIGHT + TABLE["rate"] + holder.weight + table["w"] + layer.parts[0]

    found = names(f, plain(3), Layer())
    assert found[0] == "x"
    assert sorted(found[1:]) == sorted(["free free", "global WEIGHT", "global TABLE['rate']",
                                        "free holder.weight", "free table['w']",
                                        "layer.parts[0]"])


def test_objects_and_methods():
    expected = ["x", "self.weight", "self.parts[1]"]
    assert names(Layer(), plain(3)) == expected
    assert names(Layer().forward, plain(3)) == expected


def test_float_attributes_that_changed():
    holder = Layer()
    holder.rate = 0.5

    def f(x):
        return x * holder.rate

    compiled = fg.compile(f, fullgraph=True)
    for holder.rate in (0.5, 0.25):
        compiled(plain(3))
    _, version = compiled.compiled.versions
    assert '"free holder.rate"' in version.graph(False).code


def test_pictures_and_listings_show_the_names():
    found = []

    def show(graph, examples):
        found.append(graph.code)
        return graph

    w = leaf(3)
    f = fg.compiler.aot_function(lambda t: t["x1"] * w, show)
    f({"x1": plain(3)}).sum().backward()
    assert "\"t['x1']\"" in found[0] and '"free w"' in found[0]


def written(file, x, w, above, hook=""):
    """The same function with other names, in another place."""
    source = (f"def f({x}, {w}):\n    {x} = {x}.sin()\n    {hook and hook.format(x=x, w=w)}\n"
              f"    return ({x} @ {w}).exp().sum()\n")
    source = "\n" * above + source
    variables = {}
    exec(compile(source, file, "exec"), variables)
    return variables["f"]


def graphs_of(function):
    compiled = fg.compile(function, fullgraph=True)
    x, w = fg.ones(2, 3, requires_grad=True), fg.ones(3, 2, requires_grad=True)
    compiled(x, w).backward()
    return {title: graph.code for title, graph in compiled.graphs().items()}


@pytest.mark.parametrize("hook", ["", "{x}.register_hook(lambda g: g * {w}.data.add_(1).sum())"])
def test_code_from_the_cache_has_the_lines_and_names_of_the_program_that_runs(tmp_path, hook):
    one = written("one.py", "x", "w", 0, hook)
    other = written("other.py", "image", "weight", 7, hook)
    with fg.compiler.config.patch(cache=False):
        expected = graphs_of(other)
    assert "other.py:9" in expected["forward"] and '"image"' in expected["forward"]
    assert not hook or '"weight"' in expected["backward"]
    with fg.compiler.config.patch(cache=True, cache_dir=tmp_path):
        assert "one.py:4" in graphs_of(one)["forward"]
        found = graphs_of(other)
        assert fg.compiler.cache_stats()["hits"] == 2, "a forward and a backward"
    assert found == expected


def test_the_graph_is_the_same_however_often_it_is_captured():
    """Nothing in it depends on where objects lie in memory."""
    hook = "{x}.register_hook(lambda g: g * {w}.data.add_(1).sum())"
    held, found = [], set()
    for count in range(30):
        with fg.compiler.config.patch(cache=False):
            found.add(tuple(graphs_of(written("one.py", "x", "w", 0, hook)).values()))
        held.append([leaf(3).sin().exp() * leaf(3) for _ in range(count)])
        del held[:-3]
    assert len(found) == 1
