"""Names of PyTorch's compiler: foregrad.compile has no use for them, so they change nothing."""

from foregrad._foreign_settings import install, say

config = install(__name__)


def disable(fn=None, recursive=True, *, reason=None, wrapping=True):
    """A decorator that would keep a function out of the compiler: it is captured all the same,
    with equal results."""
    if fn is None:
        return disable
    say("_dynamo.disable")
    return fn


def allow_in_graph(fn):
    """The function itself."""
    return fn


def disallow_in_graph(fn):
    """The function itself."""
    return fn


def graph_break(msg=""):
    """Does nothing: a captured function is one graph."""


def mark_dynamic(t, index, *, min=None, max=None):
    """Does nothing: fg.compile(dynamic=True) makes sizes free."""
    say("_dynamo.mark_dynamic")


def mark_static(t, index=None):
    """Does nothing: sizes are constants unless fg.compile(dynamic=True)."""


def maybe_mark_dynamic(t, index):
    """Does nothing."""


def reset():
    """Forgets what was compiled in this process."""
    from foregrad.compiler import reset as forget

    forget()


def is_compiling():
    """Whether a function is being captured."""
    from foregrad import _C

    return _C.is_capturing()


def list_backends(exclude_tags=("debug", "experimental")):
    """Names of PyTorch's backends: none, as foregrad.compile has its own."""
    return []


def optimize(*args, **kwargs):
    """foregrad.compile as a decorator."""
    from foregrad import compile as compile_now

    say("_dynamo.optimize")
    return compile_now
