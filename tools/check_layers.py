#!/usr/bin/env python3
"""Fails when a file of src/<layer>/ includes a layer to its right in src/layers.txt.

Layers in one comma group (`cli, python`) stand side by side and do not include each other. Passes,
schedule and codegen name no primitive by string: facts about primitives stand on them.
Usage: check_layers.py [root of a checkout]
"""

import pathlib
import re
import sys

BY_NAME = re.compile(r'find_primitive\("|\bname\s*[!=]=\s*"')
NAMELESS = {"passes", "schedule", "codegen"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_ranks(line):
    groups = [group.split(",") for group in line.split("->")]
    return {name.strip(): rank for rank, group in enumerate(groups) for name in group}


def problems_of_file(path, layer, ranks):
    text = path.read_text()
    if layer in NAMELESS and BY_NAME.search(text):
        yield f"{path}: names a primitive by string; put a fact on the primitive"
    for match in INCLUDE.finditer(text):
        target, slash, _ = match.group(1).partition("/")
        if target == "apps" and layer == "cli":  # the command starts the programs of apps/
            continue
        if not slash or target not in ranks:
            yield f'{path}: "{match.group(1)}" is not a full path below src'
        elif target != layer and ranks[target] >= ranks[layer]:
            yield f'{path}: layer {layer} includes "{match.group(1)}", which is not to its left'


def problems(root):
    source = root / "src"
    ranks = read_ranks((source / "layers.txt").read_text())
    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        if folder.name not in ranks:
            yield f"{folder}: this folder is no layer of src/layers.txt"
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".inc", ".cpp"):
                yield from problems_of_file(path, folder.name, ranks)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    found = list(problems(root))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
