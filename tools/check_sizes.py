#!/usr/bin/env python3
"""Fails on files over 600 lines, functions over 80 lines and lines over 100 columns.

Warns over 400 and 40. Functions of C++ are found by their braces: a block is a function when what
stands before it ends like a parameter list or a lambda. Lambdas inside a function belong to it;
those outside of one (the bodies of op entries) count by themselves.
Usage: check_sizes.py [root of a checkout]
"""

import ast
import pathlib
import re
import sys

FOLDERS = ("src", "tests", "examples", "bench", "tools", "cmake", "python")
SUFFIXES = (".h", ".inc", ".cpp", ".py", ".cmake")
FILE_LIMIT, FILE_WARNING = 600, 400
FUNCTION_LIMIT, FUNCTION_WARNING = 80, 40
COLUMNS = 100

# Comments, raw strings, strings, characters; digit separators (1'000) are no characters.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")
FUNCTION = re.compile(r"\)[\s\w&:<>,*()\[\]{}.\->]*$|\[[^\[\]]*\]\s*$")
SPECIALISATION = re.compile(r"\b(?:struct|class)\s+[\w:]+\s*<.*>\s*$", re.DOTALL)
ATTRIBUTE = re.compile(r"\balignas\([^()]*\)|__attribute__\(\(.*?\)\)")
MEMBER_BRACES = re.compile(r"([:,]\s+\w+_)\{([^{}]*)\}")  # A(int x) : member_{x} {
NAME = re.compile(r"([\w:~]+)\s*\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def is_function(head):
    head = ATTRIBUTE.sub("", head)
    if SPECIALISATION.search(head):
        return False
    if SCOPE.search(head) and not re.search(r"\)[^()]*$", head):
        return False
    return bool(FUNCTION.search(head))


def cpp_functions(text):
    """Yields (name, first line, last line) of every outermost function or lambda."""
    code = NOT_CODE.sub(blank, text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.MULTILINE)
    code = MEMBER_BRACES.sub(r"\1(\2)", code)
    opened, depth, head_start = None, 0, 0  # depth counts braces inside of the open function
    for i, char in enumerate(code):
        if char == "{":
            head = code[head_start:i]
            if opened is None and is_function(head):
                opened, depth = (head, head_start + len(head) - len(head.lstrip())), 0
            depth += 1
        elif char == "}":
            depth -= 1
            if opened is not None and depth == 0:
                head, start = opened
                name = NAME.search(head)
                yield (name.group(1) if name else "lambda", code.count("\n", 0, start) + 1,
                       code.count("\n", 0, i) + 1)
                opened = None
        if char in ";{}":
            head_start = i + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def functions(path, text):
    if path.suffix in (".h", ".inc", ".cpp"):
        return cpp_functions(text)
    return python_functions(text) if path.suffix == ".py" else ()


def judge(where, what, size, limit, warning):
    """Yields (fatal, message) when size is over the limit, or at least worth a warning."""
    if size > warning:
        message = f"{where}: {what} has {size} lines; at most {warning}, never over {limit}"
        yield size > limit, message


def check_file(path):
    text = path.read_text()
    lines = text.splitlines()
    yield from judge(path, "the file", len(lines), FILE_LIMIT, FILE_WARNING)
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield True, f"{path}:{number}: {len(line)} columns; at most {COLUMNS}"
    for name, first, last in functions(path, text):
        yield from judge(f"{path}:{first}", name, last - first + 1, FUNCTION_LIMIT,
                         FUNCTION_WARNING)
    yield from check_integer_sizes(path, text)


def check_integer_sizes(path, text):
    """src/ops has no plain integer sizes, only Dim: x.size(i) and x.stride(i) are for users."""
    parts = path.parts
    if "ops" not in parts or "kernels" in parts or "tests" in parts:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"[.>](size|stride)\([^)]", line.split("//")[0]):
            yield True, (f"{path}:{number}: a plain integer size; write sizes()[i], a Dim, or "
                         "sizes()[i].value() where a kernel needs a number")


def files(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES or path.name == "CMakeLists.txt":
                yield path
    yield from root.glob("CMakeLists.txt")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = [problem for path in files(root) for problem in check_file(path)]
    for fatal, message in found:
        print(message if fatal else f"warning: {message}")
    return 1 if any(fatal for fatal, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main())
