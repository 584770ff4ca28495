"""Every Python example of README.md and docs/ runs and prints what the page says.

A block of ```python runs as a program of its own; one followed by ```text must print that text. A
block that needs a library which is not installed here is skipped.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.S)
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)


def examples():
    """(where, code, expected output or None) of every block."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(match[1], match[2], id=f"{page.relative_to(ROOT)}:{line}")


@pytest.mark.parametrize("code, expected", list(examples()))
def test_an_example_runs_and_prints_what_the_page_says(code, expected, tmp_path):
    missing = [name for name in IMPORT.findall(code) if not importlib.util.find_spec(name)]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    program = tmp_path / "example.py"
    program.write_text(code)
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    if expected is not None:
        assert ran.stdout.strip() == expected.strip()


def test_there_are_examples():
    assert len(list(examples())) >= 8
