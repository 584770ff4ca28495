#!/usr/bin/env python3
"""Fails when a page of docs/promises names a test that does not exist, or a row without one.

A row of a page is `| promise | codes | tests |`. Tests are `path::name` (Python) or
`path::Suite.name` (C++), or the path of a whole file; a row without a test says `open: why`. Each
code stands in one row, and the codes of a letter have no gaps. Codes stand nowhere else: not in
names of tests, nor in comments, docstrings or other documentation.
Usage: check_promises.py [root of a checkout]
"""

import ast
import io
import pathlib
import re
import sys
import tokenize

PAGES = pathlib.Path("docs", "promises")
FOLDERS = ("apps", "bench", "cmake", "docs", "examples", "python", "src", "tests", "tools")
CODE = re.compile(r"\b[A-H][0-9]{1,2}\b")
REFERENCE = re.compile(r"`(tests/[^`]+)`")
PYTHON_TEST = re.compile(r"^\s*def (test_\w+)\(", re.MULTILINE)
CPP_TEST = re.compile(r"^TEST\w*\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
# Raw strings, strings and characters of C++, which are skipped, and its comments.
CPP_COMMENT = re.compile(
    r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)


def names_of(path):
    """The tests of a file, by the names that pages give them."""
    text = path.read_text()
    if path.suffix == ".py":
        return PYTHON_TEST.findall(text)
    return [f"{suite}.{name}" for suite, name in CPP_TEST.findall(text)]


def rows_of(page):
    """Yields (line number, codes, tests) of the tables of a page."""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and CODE.search(cells[1]):
            yield number, CODE.findall(cells[1]), cells[2]


def problems_of_reference(root, reference):
    path, _, name = reference.partition("::")
    if not (root / path).is_file():
        yield f"{path} does not exist"
    elif name and name not in names_of(root / path):
        yield f"{path} has no test {name}"


def problems_of_pages(root, seen):
    """Checks the rows of all pages; `seen` maps codes to their places afterwards."""
    for page in sorted((root / PAGES).glob("*.md")):
        for number, codes, tests in rows_of(page):
            place = f"{page.relative_to(root)}:{number}"
            for code in codes:
                if code in seen:
                    yield f"{place}: {code} has a row at {seen[code]} already"
                seen[code] = place
            references = REFERENCE.findall(tests)
            if not references and not tests.startswith("open: "):
                yield f"{place}: {', '.join(codes)} names no test and does not say `open: why`"
            for reference in references:
                for problem in problems_of_reference(root, reference):
                    yield f"{place}: {problem}"


def problems_of_gaps(seen):
    for letter in sorted({code[0] for code in seen}):
        numbers = {int(code[1:]) for code in seen if code[0] == letter}
        for number in sorted(set(range(1, max(numbers) + 1)) - numbers):
            yield f"{PAGES}: {letter}{number} has no row"


def python_comments(text):
    """Comments and docstrings, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and (written := ast.get_docstring(node, clean=False)):
            yield node.body[0].lineno, written


def comments_of(path, text):
    if path.suffix == ".py":
        yield from python_comments(text)
    elif path.suffix == ".md":
        yield 1, text
    else:
        for match in CPP_COMMENT.finditer(text):
            if match["comment"]:
                yield text.count("\n", 0, match.start()) + 1, match["comment"]


def files_of(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            known = path.suffix in (".h", ".inc", ".cpp", ".py", ".md")
            if known and path.is_file() and path.parent != root / PAGES:
                yield path


def problems_of_file(root, path, codes):
    place, text = path.relative_to(root), path.read_text()
    for line, comment in comments_of(path, text):
        for match in CODE.finditer(comment):
            if match[0] in codes:
                number = line + comment.count("\n", 0, match.start())
                yield f"{place}:{number}: the code {match[0]} belongs in {PAGES}"
    if place.parts[0] == "tests" and path.suffix in (".cpp", ".py"):
        for name in names_of(path):
            for word in re.split(r"[_.]", name):
                if word.upper() in codes:
                    yield f"{place}: the name {name} has the code {word}, which belongs in {PAGES}"


def problems(root):
    seen = {}
    yield from problems_of_pages(root, seen)
    yield from problems_of_gaps(seen)
    for path in files_of(root):
        yield from problems_of_file(root, path, seen)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(problems(root))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
