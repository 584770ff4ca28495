"""Settings of one module that a context changes for a while."""

import contextlib


@contextlib.contextmanager
def changed(names, wanted):
    """Sets the wanted names of a module's dictionary, and sets them back."""
    before = {name: names[name] for name in wanted}
    names.update(wanted)
    try:
        yield
    finally:
        names.update(before)


class Precision:
    """The precision of one kind of operation, which only GPUs ask for."""

    fp32_precision = "none"
