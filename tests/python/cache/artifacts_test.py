"""Entries of the cache for another machine: saved, loaded, and gathered afresh."""

import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import foregrad as fg
from foregrad.compiler import (cache_key, cache_stats, fresh_cache_artifacts, load_cache_artifacts,
                               save_cache_artifacts)
x = fg.ones(3)
one, other = fg.compile(lambda x: x.sin()), fg.compile(lambda x: x.cos())
key_of_one, key_of_other = cache_key(one, x), cache_key(other, x)
def keys():
    saved = save_cache_artifacts()
    return sorted(saved[1]) if saved else []
"""


@pytest.fixture
def run(tmp_path):
    shared = tmp_path / "shared.key"
    shared.touch(0o600)
    shared.write_bytes(os.urandom(32))

    def run(body, machine="here"):
        environment = {**os.environ, "FOREGRAD_CACHE": "1", "FOREGRAD_CACHE_KEY": str(shared),
                       "FOREGRAD_CACHE_DIR": str(tmp_path / machine / "cache"),
                       "XDG_CONFIG_HOME": str(tmp_path / machine / "config")}
        for folder in (tmp_path / machine, tmp_path / machine / "config"):
            folder.mkdir(mode=0o700, exist_ok=True)
        done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(body)], text=True,
                              cwd=tmp_path, env=environment, capture_output=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")

    return run


def test_what_one_machine_compiled_another_takes_over(run):
    run("""
        assert save_cache_artifacts() is None
        one(x)
        saved, found = save_cache_artifacts()
        assert found == [key_of_one]
        open("artifacts", "wb").write(saved)
    """)
    run("""
        assert load_cache_artifacts(open("artifacts", "rb").read()) == [key_of_one]
        one(x)
        assert (cache_stats()["hits"], cache_stats()["misses"]) == (1, 0)
    """, machine="there")


def test_forwards_backwards_and_steps_are_carried(run):
    body = """
        from foregrad.compiler import AdamW, compile_step
        def train():
            w = fg.ones(3, requires_grad=True)
            fg.compile(lambda w: (w.sin() * w).sum(), fullgraph=True)(w).backward()
            step = compile_step(lambda x: (x * w).sum(), [w], AdamW())
            return w.grad.tolist(), step(x).item(), w.tolist()
    """
    run(body + """
        open("numbers", "w").write(repr(train()))
        kinds = sorted(lookup["fields"]["kind"] for lookup in cache_stats()["lookups"])
        assert kinds == ["backward", "forward", "forward"], kinds  # a step is a forward
        saved, found = save_cache_artifacts()
        assert len(found) == 3
        open("artifacts", "wb").write(saved)
    """)
    run(body + """
        assert len(load_cache_artifacts(open("artifacts", "rb").read())) == 3
        assert repr(train()) == open("numbers").read()
        assert (cache_stats()["hits"], cache_stats()["misses"]) == (3, 0)
    """, machine="there")


def test_a_fresh_scope_has_only_what_came_after_its_beginning(run):
    run("""
        one(x)
        with fresh_cache_artifacts():
            assert keys() == []
            other(x)
            assert keys() == [key_of_other]
        assert keys() == [key_of_one]
    """)


def test_scopes_can_be_inside_each_other_and_end_with_an_exception_too(run):
    run("""
        one(x)
        with fresh_cache_artifacts():
            other(x)
            try:
                with fresh_cache_artifacts():
                    assert keys() == []
                    raise KeyError
            except KeyError:
                pass
            assert keys() == [key_of_other]
        assert keys() == [key_of_one]
    """)


def test_what_is_loaded_in_a_scope_is_one_of_its_artifacts(run):
    run("""
        one(x)
        saved, found = save_cache_artifacts()
        with fresh_cache_artifacts():
            load_cache_artifacts(saved)
            assert keys() == found
    """)
