"""Random programs with a cache: the first process compiles them, the second finds all of them, and
both do what eager code does."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
from capture_fuzz import Report
from capture_programs import make_program
import foregrad as fg

report, differ = Report(), []
for seed in range(16_000_000, 16_000_000 + int(sys.argv[2])):
    program = make_program(seed)
    program.backend = None  # the default, which is cached
    if report.add(program):
        differ.append(seed)
print(json.dumps([differ, fg.compiler.cache_stats()]))
"""


def run(folder, count):
    environment = {**os.environ, "FOREGRAD_CACHE": "local", "FOREGRAD_CACHE_DIR": str(folder / "c"),
                   "XDG_CONFIG_HOME": str(folder / "k")}
    here = str(Path(__file__).resolve().parents[1] / "helpers")
    done = subprocess.run([sys.executable, "-c", PROGRAM, here, str(count)], env=environment,
                          text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_random_programs_are_found_again_and_do_the_same(tmp_path):
    differ, cold = run(tmp_path, 200)
    assert differ == []
    assert cold["misses"] > 200
    differ, warm = run(tmp_path, 200)
    assert differ == []
    assert warm["misses"] == 0
    assert warm["hits"] == cold["misses"] + cold["hits"]
    assert warm["failures"] == {}
