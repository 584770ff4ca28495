"""The examples train in small: each ends with a line that says how well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

# example, steps, what its last line measures, and how good that must be
CASES = [("mlp", 150, "accuracy", lambda value: value > 0.95),
         ("cnn", 60, "accuracy", lambda value: value > 0.9),
         ("gpt", 60, "loss", lambda value: value < 3.0),
         ("pinn", 300, "error", lambda value: value < 0.05),
         ("custom_op", 150, "error", lambda value: value < 0.01)]


def run_example(name, *arguments):
    return subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)],
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONWARNINGS": "error"})


@pytest.mark.parametrize("name, steps, what, good", CASES, ids=[case[0] for case in CASES])
def test_an_example_learns(name, steps, what, good):
    ran = run_example(name, steps)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    losses = [float(line.split()[3]) for line in lines if line.startswith("step ")]
    assert len(losses) == 10 and losses[-1] < losses[0]
    word, value = lines[-1].split()
    assert word == what and good(float(value)), ran.stdout


def test_the_gpt_reads_a_file_of_ones_own(tmp_path):
    text = tmp_path / "text"
    text.write_text("to be or not to be, " * 50)
    ran = run_example("gpt", 30, text)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout.split()[-1]) < 1.0, ran.stdout  # it is easily learned


def test_every_example_is_tested_and_there_in_both_languages():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {case[0] for case in CASES}
    assert all((EXAMPLES / f"{name}.cpp").exists() for name in names)
