"""Every Python example of README.md and docs/ runs and prints what the page says.

A block of ```python runs as a program of its own; one followed by ```text must print that text,
where a line that ends with ... may go on. A block that needs a library which is not installed here
is skipped.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.S)
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)


def examples():
    """(code, expected output or None) of every block, with page and line as its id."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(match[1], match[2], id=f"{page.relative_to(ROOT)}:{line}")


def same(printed, expected):
    printed, expected = printed.strip().splitlines(), expected.strip().splitlines()
    return len(printed) == len(expected) and all(
        line.startswith(wanted[:-3]) if wanted.endswith("...") else line == wanted
        for line, wanted in zip(printed, expected))


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
        assert same(ran.stdout, expected), f"prints\n{ran.stdout}\nbut the page says\n{expected}"


def slug(heading):
    """The anchor of a heading, as web pages of repositories have it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_links_lead_somewhere():
    dead = []
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            path, _, anchor = link.partition("#")
            if "://" in path:
                continue
            target = (page.parent / path).resolve() if path else page
            headings = (re.findall(r"^#+ (.*)$", target.read_text(), re.M)
                        if target.suffix == ".md" and target.exists() else [])
            if not target.exists() or anchor and anchor not in map(slug, headings):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert not dead


def test_there_are_examples():
    assert len(list(examples())) >= 8
