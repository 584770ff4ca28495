"""Keys that must differ and keys that must not: programs that differ in one thing each, all in one
store, do what eager code does, in any order, cold and warm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parents[1] / "helpers")

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import foregrad as fg
import cached_variants_training
from cached_variants import VARIANTS, bits_of

differ, eager = [], fg.compiler.counters.eager
names = list(VARIANTS)[::-1] if sys.argv[2] == "backwards" else list(VARIANTS)
for name in names:
    expected = bits_of(VARIANTS[name](lambda f: f))
    if bits_of(VARIANTS[name](fg.compile)) != expected:
        differ.append(name)
print(json.dumps([differ, fg.compiler.cache_stats(), len(names), fg.compiler.counters.reasons]))
"""


def run(folder, order="forwards"):
    environment = {**os.environ, "FOREGRAD_CACHE": "local", "FOREGRAD_CACHE_DIR": str(folder / "c"),
                   "XDG_CONFIG_HOME": str(folder / "k")}
    done = subprocess.run([sys.executable, "-c", PROGRAM, HERE, order], env=environment, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_programs_that_differ_in_one_thing_never_share_code(tmp_path, order):
    differ, cold, count, reasons = run(tmp_path, order)
    assert differ == []
    assert cold["misses"] > count  # most have a backward as well
    assert cold["failures"] == {} and cold["bypasses"] == {}, cold
    differ, warm, _, _ = run(tmp_path, order)
    assert differ == []
    # One is refused when its gradient is traced, after a lookup; others that are test nothing.
    assert len(reasons) == 1
    assert warm["misses"] == 1
    assert warm["hits"] == cold["misses"] + cold["hits"] - 1
