"""An exception of a worker on its way to the loader: its class, and its traceback as text."""

import pickle
import sys
import traceback

__all__ = []


class _Text(str):
    """A text that is its own repr: KeyError prints the repr of its message."""

    def __repr__(self):
        return str(self)


class CaughtError:
    """The exception that is being handled, for another process."""

    def __init__(self, where):
        kind, error, trace = sys.exc_info()
        self.name, self.where = kind.__name__, where
        self.text = "".join(traceback.format_exception(kind, error, trace))
        try:
            self._kind = pickle.dumps(kind)
        except Exception:  # a class inside of a function: only its name travels
            self._kind = None

    def reraise(self):
        """Raises it again, as the same class if that takes a message, else as RuntimeError."""
        message = f"Caught {self.name} {self.where}.\nOriginal {self.text}"
        try:
            kind = pickle.loads(self._kind)
            error = kind(_Text(message) if issubclass(kind, KeyError) else message)
        except Exception:
            error = RuntimeError(message)
        raise error
