#!/usr/bin/env python3
"""Finds comments and sentences of the docs that hide their subject.

Comments (// in C++, # and docstrings in Python), every sentence of the documentation of a function
(the text in `define`), and every sentence, heading, list item and table cell of the docs begin with
the noun or verb they are about: never with `What`, `Who`, `Where`, `Which` or `Of`. "Where:" in
front of a list is fine, and so is a trailing "// of ...", which goes on from the name on its left.
The words `who`, `whoever` and `nobody` stand nowhere: the caller, the pass or the thread has a
name. Code in backquotes and in fenced blocks is not read.
Usage: check_words.py [root of a checkout]
"""

import ast
import io
import pathlib
import re
import sys
import tokenize

FOLDERS = ("src", "apps", "python", "tests", "bench", "examples", "tools", "docs")
PAGES = ("README.md", "CONTRIBUTING.md")
MARKS = r"[\s*_(\[\"'#>-]*"
OPENING = re.compile(MARKS + r"(What|Who|Where(?!:)|Which|Of)\b(?!-)", re.IGNORECASE)
TRAILING = re.compile(MARKS + r"(What|Who|Where(?!:)|Which)\b(?!-)", re.IGNORECASE)
SENTENCE = re.compile(r"[.!?][*_)\"]*\s+" + MARKS + r"(What|Who|Where(?!:)|Which|Of)\b(?!-)")
HIDDEN = re.compile(r"\b(who|whoever|nobody)\b", re.IGNORECASE)
CODE = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)
CPP_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(//[^\n]*)')
LITERAL = r'"(?:\\.|[^"\\\n])*"'
DOCUMENTED = re.compile(r"\bdefine(?:_as<[^;(]*>)?\(\s*[\w:.<>()]+,\s*((?:" + LITERAL + r"\s*)+)")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s+")


def without_code(text):
    """The text with code between backquotes blanked out, line by line as long as before."""
    return CODE.sub(lambda found: re.sub(r"[^\n]", "x", found.group()), text)


def hidden_words(text, line):
    """(line, message) of every forbidden word in a text that begins at a line."""
    for found in HIDDEN.finditer(text):
        yield line + text.count("\n", 0, found.start()), f'says "{found.group()}"'


def problems_of_text(text, line, sentences, opening=OPENING):
    """(line, message) of one comment or paragraph; `sentences`: each of its sentences counts."""
    text = without_code(text)
    if found := opening.match(text):
        yield line, f'begins with "{found.group(1)}"'
    if sentences:
        for found in SENTENCE.finditer(text):
            at = line + text.count("\n", 0, found.start(1))
            yield at, f'a sentence begins with "{found.group(1)}"'
    yield from hidden_words(text, line)


def cpp_comments(text):
    """(line, code before it, text) of every line that has a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        comment = next((m for m in CPP_COMMENT.finditer(line) if m.group(1)), None)
        if comment:
            yield number, line[:comment.start()].strip(), comment.group(1).lstrip("/")


def python_comments(text):
    """The same of Python."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield token.start[0], token.line[:token.start[1]].strip(), token.string.lstrip("#")


def problems_of_comments(comments):
    """Lines of comments below each other are one comment; one behind code stands alone."""
    block, first = [], 0
    for number, code, words in [*comments, (0, "", "")]:
        if block and (code or number != first + len(block)):
            yield from problems_of_text("\n".join(block), first, False)
            block = []
        if code:
            yield from problems_of_text(words, number, False, TRAILING)
        else:
            first = first if block else number
            block.append(words)


def documentations(text):
    """(line, text) of the documentation of every function: the text that define() gets."""
    for found in DOCUMENTED.finditer(text):
        parts = re.findall(LITERAL, found.group(1))
        line = text.count("\n", 0, found.start(1)) + 1
        yield line, "".join(part[1:-1] for part in parts)


def problems_of_cpp(text):
    yield from problems_of_comments(cpp_comments(text))
    for line, words in documentations(text):
        yield from problems_of_text(words, line, True)


def docstrings(text):
    """(line, text) of every paragraph of every docstring."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, kinds) or ast.get_docstring(node, clean=False) is None:
            continue
        line = node.body[0].lineno
        for part in re.split(r"(\n\s*\n)", node.body[0].value.value):
            if part.strip():
                yield line, part
            line += part.count("\n")


def problems_of_python(text):
    yield from problems_of_comments(python_comments(text))
    for line, words in docstrings(text):
        yield from problems_of_text(words, line, False)


def paragraphs(text):
    """(line, text) of the paragraphs, list items, headings and table cells of a page."""
    block, first, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = FENCE.match(line)
        starts = ITEM.match(line) or line.startswith(("#", "|"))
        if block and (fence or fenced or starts or not line.strip()):
            yield first, "\n".join(block)
            block = []
        if fence:
            fenced = not fenced
        elif fenced or not line.strip():
            continue
        elif line.startswith("|"):
            yield from ((number, cell) for cell in without_code(line).split("|") if cell.strip())
        elif line.startswith("#"):
            yield number, line
        else:
            first = number if not block else first
            block.append(ITEM.sub("", line, count=1) if starts else line)


def problems_of_page(text):
    for line, words in paragraphs(text):
        yield from problems_of_text(words, line, True)


def checker_of(path):
    if path.suffix in (".h", ".cpp", ".inc"):
        return problems_of_cpp
    if path.suffix in (".py", ".pyi"):
        return problems_of_python
    if path.suffix == ".md":
        return problems_of_page
    if not path.suffix and path.read_bytes()[:40].split(b"\n")[0].endswith(b"python3"):
        return problems_of_python
    return None


def files(root):
    for name in FOLDERS:
        for path in sorted((root / name).rglob("*")):
            if path.is_file() and not any(part.startswith((".", "__")) for part in path.parts
                                          if part != path.name):
                yield path
    for name in PAGES:
        if (root / name).is_file():
            yield root / name


def problems(root):
    for path in files(root):
        checker = checker_of(path)
        if not checker:
            continue
        for line, message in sorted(checker(path.read_text())):
            yield f"{path}:{line}: {message}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(problems(root))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
