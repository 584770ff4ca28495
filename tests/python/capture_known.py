"""Differences between eager and captured that are known: what differs, in which programs."""

import re

# (reason, label of the observation, text of the program)
KNOWN = [
    ("2 custom functions that return views", "gradient|second|hook|backward|is_view|base|after",
     r"(Same|Turn)\.apply"),
    ("3 views made under no_grad", "gradient|second|hook|backward|requires_grad",
     r"no_grad|set_grad_enabled\(False\)"),
    ("4 shapes changed in place", "", r"(t|transpose|unsqueeze|squeeze)_\("),
    ("5 hooks on tensors reached by attributes", "retains_grad|hook|backward|gradient|second",
     r"[op]\.x\d.retain_grad|x\d.retain_grad|x\d.register_hook"),
    ("6 a float as exponent", "", r"\*\* k\d"),
    ("7 writes to expanded inputs", "call", "expanded"),
    ("8 gradients for inputs that are written", "gradient|second|hook", "nonleaf"),
    ("9 results that depend on each other", "backward result|gradient|second", "retain_grad"),
    ("10 versions of data", "counts|version", r"\.data"),
    ("11 views of results", "is_view|base", "logsumexp"),
    ("12 writes to views of split", "after", "split|unbind|chunk|Same|Turn"),
    ("13 errors in unused code", "call / grad mode after", ""),
]


def known(program, found):
    """The reason, if the difference is a known one."""
    text = program.text()
    for reason, label, source in KNOWN:
        if re.search(label, found[0]) and re.search(source, text):
            return reason
    return None
