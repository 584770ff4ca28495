"""Grad modes as context managers and decorators, of functions and generators."""

import functools
import sys
import warnings

from foregrad import _C


class _Mode:
    """A context manager that is a decorator too; generators enter it around every step."""

    def clone(self):
        return type(self)()

    def __call__(self, function):
        import inspect  # slow to load, and needed by decorators only

        if inspect.isclass(function):
            warnings.warn("decorating a class is deprecated: the mode holds while the class is "
                          "called, not in its methods; decorate __init__ for that, or the methods",
                          FutureWarning, stacklevel=2)
            cls = function
            function = lambda *args, **kwargs: cls(*args, **kwargs)  # noqa: E731
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    response = generator.send(None)
                while True:
                    try:
                        request = yield response
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException:
                        with self.clone():
                            response = generator.throw(*sys.exc_info())
                    else:
                        with self.clone():
                            response = generator.send(request)
            except StopIteration as stop:
                return stop.value

        return wrapped


class _GradMode(_Mode):
    enabled = True

    def __init__(self):
        self.outer = []

    def __new__(cls, function=None):
        self = object.__new__(cls)
        if function is None:
            return self
        cls.__init__(self)
        return self(function)

    def __enter__(self):
        self.outer.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self.enabled)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.outer.pop())


class no_grad(_GradMode):
    """Nothing is recorded inside."""

    enabled = False


class enable_grad(_GradMode):
    """Calls are recorded inside, even within no_grad."""


class set_grad_enabled(_Mode):
    """Sets grad mode now; as a context manager, until its end."""

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled: mode must be a bool, not {type(mode).__name__}")
        self.outer = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(self.mode)

    def __call__(self, function):
        _C._set_grad_enabled(self.outer)
        return super().__call__(function)

    def clone(self):
        return set_grad_enabled(self.mode)

    def __enter__(self):
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *error):
        _C._set_grad_enabled(self.outer)

    def __repr__(self):
        return f"foregrad.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(_Mode):
    """Nothing is recorded, and new tensors carry no version counter."""

    def __new__(cls, mode=True):
        self = object.__new__(cls)
        if isinstance(mode, bool):
            return self
        cls.__init__(self)
        return self(mode)

    def __init__(self, mode=True):
        self.mode = mode
        self.outer = []

    def clone(self):
        return inference_mode(self.mode)

    def __enter__(self):
        self.outer.append((_C.is_grad_enabled(), _C.is_inference_mode_enabled()))
        _C._set_modes(not self.mode, self.mode)

    def __exit__(self, *error):
        _C._set_modes(*self.outer.pop())
