"""explain(): the page about a compiled function; graphs(); the trace of all phases."""

import html.parser
import json
import os
import subprocess
import sys

import pytest

import foregrad as fg
from foregrad.compiler import (
    SGD,
    aot_function,
    compile_step,
    min_cut_rematerialization_partition,
)

VOID = {"meta"}


class Checker(html.parser.HTMLParser):
    """Fails where an element is closed that is not open."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def loss_function():
    weight = fg.ones(3, 4, requires_grad=True)

    @fg.compile(fullgraph=True)
    def loss(x):
        return (x.mm(weight).tanh() * 2).sum()

    return loss


def test_a_page_tells_what_was_compiled_and_is_whole():
    loss = loss_function()
    loss(fg.ones(2, 3)).backward()
    page = loss.explain()
    Checker(page)
    for part in ("loss_function.&lt;locals&gt;.loss", "<h3>forward</h3>", "<h3>backward</h3>",
                 "capture gradient", "Where the time goes", "Where the memory goes",
                 "What is kept, and why", "free weight", "explain_test.py:",
                 "numbers, texts and objects that the function reads are what they were"):
        assert part in page, part
    for part in ("<script", "<link", "src="):
        assert part not in page, part


def test_a_page_is_written_to_a_path(tmp_path):
    loss = loss_function()
    loss(fg.ones(2, 3))
    assert loss.explain(tmp_path / "loss.html") is None
    assert "<h3>forward</h3>" in (tmp_path / "loss.html").read_text()


def test_a_function_that_was_not_called_or_runs_eagerly_says_so():
    @fg.compile
    def f(x):
        return x * 2 if x.sum() > 0 else x

    assert "It was not called yet." in f.explain()
    with pytest.warns(UserWarning):
        f(fg.ones(2))
    assert "f runs eagerly: " in f.explain()


def test_objects_and_other_backends_are_explained():
    class Model:
        def __init__(self):
            self.weight = fg.ones(3)

        def forward(self, x):
            return x * self.weight

        __call__ = forward

    model = fg.compile(Model(), backend="interpreter")
    model(fg.ones(3))
    page = model.explain()
    assert "It runs through another backend" in page
    assert "mul -&gt; [3]" in page
    assert list(model.graphs()) == ["forward"]


def test_what_the_backward_computes_again_is_listed():
    f = aot_function(lambda x: (x.sin().exp() * x).cos().sum(), fw_compiler="native",
                     partition_fn=min_cut_rematerialization_partition)
    f(fg.ones(8, requires_grad=True)).backward()
    assert "Computed again in the backward: " in f.explain()


def squares_step(**options):
    weight = fg.ones(3, requires_grad=True)

    def squares(x):
        return (x * weight).pow(2).sum()

    return compile_step(squares, [weight], SGD(lr=0.1), **options)


def test_a_step_is_explained_as_one_program(tmp_path):
    step = squares_step()
    assert "It was not called yet." in step.explain()
    step(fg.ones(3))
    page = step.explain()
    Checker(page)
    for part in ("compile_step(squares_step.&lt;locals&gt;.squares)", "<h3>forward</h3>",
                 "Where the time goes", "explain_test.py:"):
        assert part in page, part
    assert list(step.graphs()) == ["forward"]
    assert step.explain(tmp_path / "step.html") is None
    assert "Where the time goes" in (tmp_path / "step.html").read_text()


def test_a_step_that_is_not_compiled_has_nothing_to_explain():
    step = squares_step(disable=True)
    step(fg.ones(3))
    for ask in (step.explain, step.graphs, lambda: step.cache_key(fg.ones(3))):
        with pytest.raises(RuntimeError, match="with disable=True nothing is compiled"):
            ask()


def test_graphs_are_texts_that_can_be_read_back():
    loss = loss_function()
    loss(fg.ones(2, 3)).backward()
    loss(fg.ones(5, 3))
    graphs = loss.graphs()
    assert list(graphs)[:3] == ["forward", "backward", "version 2: forward"]
    for graph in graphs.values():
        assert fg.compiler.Graph(graph.code).code == graph.code


def test_measuring_writes_to_nothing_that_the_program_has():
    state = fg.zeros(3)

    @fg.compile
    def count(x):
        state.add_(x)
        return fg.rand(3) * x

    fg.manual_seed(1)
    count(fg.ones(3))
    following = fg.rand(3)
    fg.manual_seed(1)
    count(fg.ones(3))
    count.explain()
    assert fg.equal(fg.rand(3), following)
    assert state.tolist() == [2.0, 2.0, 2.0]


PROGRAM = """
import foregrad as fg
weight = fg.ones(3, 4, requires_grad=True)
@fg.compile
def loss(x):
    return (x.mm(weight).tanh() * 2).sum()
for _ in range(2):
    loss(fg.ones(2, 3)).backward()
"""


def test_a_trace_has_every_phase_every_call_and_every_step(tmp_path):
    path = tmp_path / "trace.json"
    subprocess.run([sys.executable, "-c", PROGRAM], check=True,
                   env={**os.environ, "FOREGRAD_TRACE": str(path)})
    events = json.loads(path.read_text())
    names = {(event["cat"], event["name"]) for event in events}
    phases = ("capture", "capture gradient", "partition", "simplify", "fold_constants",
              "common_subexpressions", "recompute_late", "compute_again", "dead_code", "verify",
              "fuse", "plan_memory", "make loops", "load generator", "generate code", "emit",
              "LLVM", "link", "load")
    assert {("phase", name) for name in phases} <= names
    assert {("call", "find version"), ("call", "forward"), ("call", "backward")} <= names
    assert ("step", "mm [2, 3] [3, 4] -> [2, 4]") in names
    for event in events:
        assert event["ph"] == "X" and event["dur"] >= 0 and event["pid"] and "tid" in event
    assert sum(event["name"] == "backward" for event in events) == 2
    notes = [event["args"]["note"] for event in events if event["name"] == "simplify"]
    assert all("operations, then" in note for note in notes)
