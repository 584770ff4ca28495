"""Compiled functions in several processes: the second one compiles nothing, and no wrong entry is
ever taken."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import json, sys
import foregrad as fg
import foregrad.nn.functional as F
{body}
x = fg.arange(12.0).reshape(3, 4).sin().requires_grad_()
w = fg.arange(8.0).reshape(4, 2).cos().requires_grad_()
loss = fg.compile(f)(x, w)
loss.backward()
stats = fg.compiler.cache_stats()
print(json.dumps([loss.item().hex(), x.grad.tolist(), w.grad.tolist(),
                  stats["hits"], stats["misses"], stats["bypasses"]]))
"""

PLAIN = """
def f(x, w):
    return F.gelu(x @ w).sum()
"""


@pytest.fixture
def run(tmp_path):
    def run(body, **more):
        environment = {**os.environ, "FOREGRAD_CACHE": "1", "XDG_CACHE_HOME": str(tmp_path / "c"),
                       "XDG_CONFIG_HOME": str(tmp_path / "k"), "FOREGRAD_CACHE_STRICT": "1", **more}
        source = PROGRAM.format(body=textwrap.dedent(body))
        done = subprocess.run([sys.executable, "-c", source], env=environment, text=True,
                              capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        *results, hits, misses, bypasses = json.loads(done.stdout)
        return results, hits, misses, bypasses

    return run


def test_the_second_process_compiles_nothing(run):
    cold, hits, misses, _ = run(PLAIN)
    assert (hits, misses) == (0, 2)  # forward and backward
    warm, hits, misses, _ = run(PLAIN)
    assert (hits, misses) == (2, 0)
    assert warm == cold


# Tensors that a function reaches by itself are found in an order that depends on the hash seed.
REACHING = """
{names} = (fg.arange(8.0).reshape(4, 2) * i for i in range(7))
class Holder:
    def __init__(self):
        self.zeta, self.eta, self.alpha = zeta, eta, alpha
holder = Holder()
def f(x, w):
    h = x @ (w + holder.zeta * holder.eta + beta - gamma) + (x @ delta) * (x @ epsilon)
    return F.gelu(h + x @ holder.alpha).sum()
"""


@pytest.mark.parametrize("program", [
    PLAIN, REACHING.format(names="alpha, beta, gamma, delta, epsilon, zeta, eta")])
def test_names_lines_hash_seed_and_folder_do_not_matter(run, tmp_path, program):
    cold, _, misses, _ = run(program)
    assert misses == 2
    renamed = "\n\n\n" + program.replace("def f(x, w)", "def g(a, b)").replace("x @", "a @")
    renamed = renamed.replace("@ w", "@ b").replace("(w +", "(b +").replace("holder", "other")
    renamed += "\nf = g\n"
    for more in ({"PYTHONHASHSEED": "7"}, {"PYTHONHASHSEED": "8"},
                 {"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "HOME": str(tmp_path)}):
        warm, hits, misses, _ = run(renamed, **more)
        assert (warm, hits, misses) == (cold, 2, 0)


def test_the_folders_of_the_program_and_of_the_process_do_not_matter(tmp_path):
    answers = []
    for name in ("one", "another/deeper"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.py").write_text(PROGRAM.format(body=textwrap.dedent(PLAIN)))
        environment = {**os.environ, "FOREGRAD_CACHE": "1", "XDG_CACHE_HOME": str(tmp_path / "c"),
                       "XDG_CONFIG_HOME": str(tmp_path / "k"), "FOREGRAD_CACHE_STRICT": "1"}
        done = subprocess.run([sys.executable, f"{folder.name}.py"], env=environment, cwd=folder,
                              text=True, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    assert [answer[3:5] for answer in answers] == [[0, 2], [2, 0]]
    assert answers[0][:3] == answers[1][:3]


def test_two_directories_are_two_caches(run, tmp_path):
    run(PLAIN)
    assert run(PLAIN, FOREGRAD_CACHE_DIR=str(tmp_path / "another"))[1:3] == (0, 2)
    assert run(PLAIN, FOREGRAD_CACHE_DIR=str(tmp_path / "another"))[1:3] == (2, 0)


@pytest.mark.parametrize("other", [
    PLAIN.replace("gelu(x @ w)", "gelu(x @ w, approximate='tanh')"),
    PLAIN.replace("x @ w", "x.detach() @ w + (x * 0).sum()"),
    PLAIN.replace(".sum()", ".sum() * 2"),
])
def test_another_function_is_a_miss(run, other):
    run(PLAIN)
    assert run(other)[1] == 0


CUSTOM = """
def helper(g):
    return g * FACTOR

class Twice(fg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return helper(g)

def f(x, w):
    return Twice.apply(x @ w).sum()
"""
HOOK = """
def f(x, w):
    y = x @ w
    y.register_hook(lambda g: g * FACTOR)
    return y.sin().sum()
"""
CLOSURE = """
factor = FACTOR
def f(x, w):
    return (x @ w * factor).sum()
"""


@pytest.mark.parametrize("program", [CUSTOM, HOOK, CLOSURE])
def test_an_edited_backward_hook_helper_or_global_is_a_miss(run, program):
    two, _, misses, _ = run(program.replace("FACTOR", "2.0"))
    assert misses == 2
    three, hits, _, _ = run(program.replace("FACTOR", "3.0"))
    assert hits == 0
    assert two != three
    for factor, expected in (("2.0", two), ("3.0", three)):
        again, hits, misses, _ = run(program.replace("FACTOR", factor))
        assert (again, hits, misses) == (expected, 2, 0)


def test_levels_have_entries_of_their_own(run):
    run(PLAIN)
    assert run(PLAIN, FOREGRAD_LEVEL="baseline")[1] == 0
    assert run(PLAIN, FOREGRAD_LEVEL="baseline")[2] == 0


def test_threads_share_entries(run):
    cold = run(PLAIN, FOREGRAD_NUM_THREADS="1")[0]
    warm, hits, misses, _ = run(PLAIN, FOREGRAD_NUM_THREADS="2")
    assert (warm, hits, misses) == (cold, 2, 0)


def test_it_can_be_turned_off_and_tagged(run):
    run(PLAIN)
    assert run(PLAIN, FOREGRAD_CACHE="0")[1:3] == (0, 0)
    assert run(PLAIN, FOREGRAD_FORCE_DISABLE_CACHES="1")[1:3] == (0, 0)
    assert run(PLAIN, FOREGRAD_CACHE_TAG="mine")[1:3] == (0, 2)


def test_a_damaged_store_is_a_miss(run, tmp_path):
    cold = run(PLAIN)[0]
    damaged = 0
    for path in (tmp_path / "c").rglob("*"):
        if path.is_file() and path.stat().st_size > 4096:
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            os.chmod(path, 0o600)
            path.write_bytes(bytes(content))
            damaged += 1
    assert damaged >= 2
    again, hits, misses, _ = run(PLAIN, FOREGRAD_CACHE_STRICT="0")
    assert again == cold
    assert hits == 0


def test_processes_that_start_at_once_compile_once(tmp_path):
    environment = {**os.environ, "FOREGRAD_CACHE": "1", "XDG_CACHE_HOME": str(tmp_path / "c"),
                   "XDG_CONFIG_HOME": str(tmp_path / "k"), "FOREGRAD_CACHE_STRICT": "1"}
    source = PROGRAM.format(body=textwrap.dedent(PLAIN))
    processes = [subprocess.Popen([sys.executable, "-c", source], env=environment, text=True,
                                  stdout=subprocess.PIPE) for _ in range(64)]
    answers = [json.loads(process.communicate(timeout=300)[0]) for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert all(answer[:3] == answers[0][:3] for answer in answers)
    stored = [path for path in (tmp_path / "c").rglob("*")
              if path.is_file() and path.stat().st_size > 4096 and path.name != "lookups"]
    assert len(stored) == 2  # one forward, one backward
    assert sum(answer[3] for answer in answers) == 2 * 63
