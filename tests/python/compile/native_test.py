"""Lifetime of native code: it goes with its last user, a missing code generator is no error, and
random numbers that no operation reads are drawn all the same."""

import gc
import os
import shutil
import subprocess
import sys
import textwrap

import foregrad as fg


def loaded_objects():
    with open("/proc/self/maps") as maps:
        return sum("memfd:foregrad" in line and " r-xp " in line for line in maps)


def test_code_is_closed_with_the_last_node_that_needs_it():
    gc.collect()
    before = loaded_objects()
    x = fg.arange(5.0).requires_grad_()
    compiled = fg.compile(lambda x: (x.sin() * x).exp())
    result = compiled(x)
    (expected,) = fg.autograd.grad(result.sum(), x, retain_graph=True)
    assert loaded_objects() == before + 2  # forward and backward
    del compiled
    gc.collect()
    assert loaded_objects() > before  # the node of the result still has its backward
    (again,) = fg.autograd.grad(result.sum(), x)
    assert again.equal(expected)
    del result
    gc.collect()
    assert loaded_objects() == before


def test_random_numbers_that_nobody_reads_are_drawn():
    def f(x):
        fg.rand(7)
        fg.nn.functional.dropout(x, 0.5)
        return x * 2 + fg.rand(3)

    compiled = fg.compile(f, fullgraph=True)

    def outcome(function):
        fg.manual_seed(3)
        return [function(fg.ones(3)).tolist() for _ in range(3)], fg.rand(2).tolist()

    assert outcome(compiled) == outcome(f)


def test_without_a_generator_graphs_are_interpreted_which_is_said_and_counted(tmp_path):
    package = tmp_path / "foregrad"
    shutil.copytree(os.path.dirname(fg.__file__), package,
                    ignore=shutil.ignore_patterns("libforegrad-codegen.so", "__pycache__"))
    program = textwrap.dedent("""
        import foregrad as fg
        x = fg.arange(4.0).requires_grad_()
        f = lambda x: (x.sin() * x).sum()
        y = fg.compile(f)(x)
        y.backward()
        print(fg.compiler.counters.interpreted, y.item() == f(x).item())
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 True\n"
    said = "runs through the interpreter: the code generator cannot be loaded"
    assert done.stderr.count(said) == 1
