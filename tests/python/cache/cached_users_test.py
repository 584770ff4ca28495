"""Two users, and what a warm process shows."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import pytest

import foregrad as fg

PROGRAM = textwrap.dedent("""
    import ctypes, json, os
    import foregrad as fg
    import foregrad.compiler
    # The package may be where the other user cannot read.
    ctypes.CDLL(os.path.join(os.path.dirname(fg.__file__), "libforegrad-codegen.so"))
    user = int(os.environ["AS_USER"])
    if user:
        os.setgroups([]), os.setgid(user), os.setuid(user)
    x = fg.arange(12.0).reshape(3, 4).sin().requires_grad_()
    loss = fg.compile(lambda x: (x.sin() * x).sum())(x)
    loss.backward()
    stats = fg.compiler.cache_stats()
    print(json.dumps([loss.item().hex(), x.grad.tolist(), stats]))
""")


def run(folder, user=0, store="c", keys="k", **more):
    environment = {**os.environ, "FOREGRAD_CACHE": "local", "AS_USER": str(user),
                   "FOREGRAD_CACHE_DIR": str(folder / store), "XDG_CONFIG_HOME": str(folder / keys),
                   **more}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loss, grad, stats = json.loads(done.stdout)
    return (loss, grad), stats, done.stderr


OTHER = 65534  # nobody


@pytest.fixture
def open_folder():
    """One that other users can pass through."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        yield pathlib.Path(folder)


def test_another_user_neither_reads_nor_is_given_what_this_one_compiled(open_folder):
    # As root this is the real thing; who is not root cannot become another user, and sees the same
    # with a key of another and a folder that is open to others.
    cold, stats, _ = run(open_folder)
    assert stats["misses"] == 2 and stats["failures"] == {}
    if os.getuid() == 0:
        (open_folder / "of another").mkdir()
        os.chown(open_folder / "of another", OTHER, OTHER)
        # The folder of root is none of theirs: it works, without a cache.
        answer, stats, said = run(open_folder, OTHER, keys="of another")
        assert answer == cold and stats["hits"] == 0 and stats["saved"] == 0
        assert list(stats["failures"]) == ["no folder"]
        assert said.count("warning: cache:") == 1, said
        # In folders of their own they have a cache of their own.
        for expected in ((0, 2), (2, 0)):
            answer, stats, _ = run(open_folder, OTHER, "of another/store", "of another")
            assert answer == cold and (stats["hits"], stats["misses"]) == expected
        # Root does not take entries from a folder that belongs to them.
        answer, stats, _ = run(open_folder, 0, "of another/store")
        assert answer == cold and stats["hits"] == 0
        assert list(stats["failures"]) == ["foreign folder"]
    # Entries that were made with the key of another user are left alone, and are no hits.
    answer, stats, _ = run(open_folder, keys="another key")
    assert answer == cold and stats["hits"] == 0
    assert list(stats["failures"]) == ["not authentic"]
    os.chmod(open_folder / "c", 0o777)
    answer, stats, _ = run(open_folder)
    assert answer == cold and stats["hits"] == 0
    assert list(stats["failures"]) == ["open folder"]


def test_a_warm_process_logs_graphs_as_if_it_had_compiled(tmp_path):
    logs = [run(tmp_path, FOREGRAD_LOG="graph")[2] for _ in range(2)]
    label = re.compile(r", from the cache, where it is since it was compiled in \d+ ms")
    for what in ("guards", "joint", "partition"):
        found = [re.search(rf"foregrad graph: {what}(.*?):\n(.*?)\n(?=foregrad|$)", log, re.S)
                 for log in logs]
        assert found[0].group(1) == "" and label.fullmatch(found[1].group(1)), what
        assert found[0].group(2) == found[1].group(2) != "", what
    assert not label.search(logs[0])
    for what in ("forward", "backward"):
        warm, cold = (re.findall(rf"foregrad graph: {what}, {how}.*?:\n(graph.*?\n}})", log, re.S)
                      for how, log in (("from the cache", logs[1]), ("after ", logs[0])))
        assert warm == cold[-1:]


@pytest.fixture
def cache(tmp_path):
    """In a process of its own: what is set is read once."""

    def ask(body):
        environment = {**os.environ, "FOREGRAD_CACHE": "local", "XDG_CONFIG_HOME": str(tmp_path),
                       "FOREGRAD_CACHE_DIR": str(tmp_path / "c"), "FOREGRAD_LOG": "cache"}
        source = "import foregrad as fg\nfrom foregrad import compiler\n" + textwrap.dedent(body)
        done = subprocess.run([sys.executable, "-c", source], env=environment, text=True,
                              capture_output=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split(), done.stderr

    return ask


def test_keys_can_be_asked_for_without_compiling(cache):
    keys, log = cache("""
        x, w = fg.ones(3).requires_grad_(), fg.ones(3).requires_grad_()
        scale = 2.0
        def f(x, s):
            return (x.sin() * s * scale).sum()
        class Twice(fg.autograd.Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: g * scale)
        step = compiler.compile_step(lambda x: (x * w).sum(), [w], compiler.AdamW())
        compiled = fg.compile(f)
        print(compiler.cache_key(compiled, x, 3.0))
        assert compiler.cache_key(f, x, 3.0) == compiled.cache_key(x, 3.0)
        assert compiler.cache_key(f, x, 4.0) == compiled.cache_key(x, 3.0)  # an input
        print(compiler.cache_key(Twice.apply, x))
        before = compiler.cache_key(Twice.apply, x)
        scale = 3.0
        assert compiler.cache_key(Twice.apply, x) != before
        scale = 2.0
        print(step.cache_key(fg.ones(3)))
        assert compiler.cache_stats()["misses"] == 0
        compiled(x, 3.0), fg.compile(Twice.apply)(x), step(fg.ones(3))
        assert compiler.cache_stats()["misses"] == 3
    """)
    assert [key[:12] for key in keys] == re.findall(r"miss (\w{12}) in", log)


def test_what_happened_is_recorded_and_said_at_the_end(cache):
    source = """
        f = fg.compile(lambda x: x.sin() * 2)
        f(fg.ones(3)), fg.compile(lambda x: x.sin(), backend="interpreter")(fg.ones(3))
        one, other = compiler.cache_stats()["lookups"]
        assert one["key"] == f.cache_key(fg.ones(3)) and one["microseconds"] > 0
        assert one["fields"]["kind"] == "forward" and one["fields"]["level"], one
        assert other["key"] == "" and other["reason"] == "a back end of the user"
        print(one["outcome"].replace(" ", "_"), other["outcome"])
    """
    ends = ["0 hits (0 in memory, 0 local, 0 remote), 1 misses, 1 saved",
            "1 hits (0 in memory, 1 local, 0 remote), 0 misses, 0 saved"]
    for outcome, end in zip(("miss", "hit_(local)"), ends):
        said, log = cache(source)
        assert said == [outcome, "bypass"]
        assert log.splitlines()[-1] == (f"foregrad cache: this process: {end}, 0 saved remotely, "
                                        "1 bypasses, 0 failures")


def test_a_function_that_is_not_cached_has_no_key_and_says_why():
    compiled = fg.compile(lambda x: x.sin(), backend="interpreter")
    with pytest.raises(RuntimeError, match="cache_key: the cache does not keep this function: a "
                                           "back end of the user"):
        fg.compiler.cache_key(compiled, fg.ones(3))


@pytest.mark.parametrize("backend", ["native", "inductor", "default"])
def test_back_ends_of_the_library_are_cached(cache, backend):
    source = f"""
        fg.compile(lambda x: x.sin() * 2, backend="{backend}")(fg.ones(3))
        stats = compiler.cache_stats()
        print(stats["hits"], stats["misses"])
        assert stats["bypasses"] == {{}}
    """
    assert cache(source)[0] == ["0", "1"]
    assert cache(source)[0] == ["1", "0"]
