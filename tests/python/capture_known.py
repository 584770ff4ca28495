"""Differences between eager and captured that are known: what differs, in which programs.

The numbers are those of the list of bugs that these tests found.
"""

import re

# (reason, label of the observation, text of the program)
KNOWN = [
    ("10 versions and elements of data", "counts|version|gradient|second|backward", r"\.data"),
    ("16 results computed from leaves made inside", "",
     r"requires_grad=True|requires_grad_|(t|transpose|unsqueeze|squeeze)_\("),
    ("53 views with hooks or custom functions", "is_view|base|after|write to",
     r"register_hook|retain_grad|\.apply|no_grad|set_grad_enabled"),
    ("74 custom views under no_grad", "is_leaf", "Turn|Same"),
    ("75 gradients kept of reached tensors", "retains_grad", "retain_grad"),
    ("79 eager: elements between those of a leaf", "gradient|second|backward", "as_strided"),
    ("80 backwards that fail eagerly", ": backward$", ""),
    ("83 second derivatives: None in the place of zeros", "second: of", ""),
    ("12 writes to views of one function", "after", "split|unbind|chunk|apply"),
    ("13 errors in unused code", ": call$", ""),
    ("67 inputs that nothing depends on", "backward result|for inputs", ""),
    ("68 saved values that are not needed", "gradient|second|backward", "# after"),
    ("8 hooks on views that are written", "hook", ""),
    ("72 eager: saved indices require grad", "require grad", ""),
]


def known(program, found):
    """The reason, if the difference is a known one."""
    text = program.text()
    if "more than one element of the written-to tensor" in str(found[2:]):
        return "84 saved-tensor hooks that give an expanded tensor back in another layout"
    for reason, label, source in KNOWN:
        if re.search(label, found[0]) and re.search(source, text):
            return reason
    return None
