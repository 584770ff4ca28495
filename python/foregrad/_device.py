"""Devices as objects, and the refusal of all but the cpu where a tensor would be on one."""

import builtins

KINDS = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
         "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")


class NotCompiled(AssertionError, RuntimeError):
    """A device that this library has no code for was asked to do something.

    PyTorch raises AssertionError where it is built without the device, and RuntimeError where the
    machine has none: this is both.
    """


_ERRORS = {"cuda": NotCompiled, "xpu": NotCompiled, "mtia": NotCompiled, "hip": NotCompiled,
           "meta": NotImplementedError}


def not_compiled(who, kind, device=None):
    """The error of a call that needs a device, by its name."""
    shown = "" if device is None else f" (got device '{device}')"
    if kind == "meta":
        return NotImplementedError(f"{who}: tensors without elements (device 'meta') do not exist "
                                   "here; use device 'cpu'")
    return _ERRORS.get(kind, RuntimeError)(
        f"{who}: Foregrad is not compiled with {kind.upper()} enabled{shown}; only 'cpu' exists")


class device:
    """A device by its name and number. Tensors are on the cpu only; others are names."""

    __slots__ = ("type", "index")

    def __new__(cls, type=None, index=None, *, device=None):
        if device is not None and type is None and index is None:
            type = device
        if isinstance(type, cls) and index is None:
            return type
        if isinstance(type, builtins.int) and not isinstance(type, bool) and index is None:
            raise RuntimeError(f"device: {type} is the number of an accelerator, and there is "
                               "none; use 'cpu'")
        if not isinstance(type, str):
            raise TypeError("device: expected a string, such as 'cpu' or 'cuda:0', or a device, "
                            f"not {builtins.type(type).__name__}")
        self = object.__new__(cls)
        kind, index = _parsed(type, index)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", index)
        return self

    def __setattr__(self, name, value):
        raise AttributeError(f"device: '{name}' cannot be set; make another device")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (str(self),)

    def __enter__(self):
        """Makes the device the default: only the cpu can be."""
        expect_cpu(self, "with device(...)")
        return self

    def __exit__(self, *error):
        return None


def _parsed(text, index):
    """The kind and the number of a device."""
    given, text = text, text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    kind, colon, number = given.partition(":")
    if not text:
        raise RuntimeError("device: the string is empty; expected one such as 'cpu' or 'cuda:0'")
    if kind not in KINDS:
        raise RuntimeError(f"device: '{text}' does not exist; expected one of {', '.join(KINDS)} "
                           "at its start")
    if colon and index is not None:
        raise RuntimeError(f"device: '{text}' has an index, and so has the call: {index}")
    if colon:
        if not (number.isascii() and number.isdecimal()) or (number[0] == "0" and number != "0"):
            raise RuntimeError(f"device: '{text}' has no number behind the colon")
        index = int(number)
    if index is not None and not isinstance(index, int):
        raise TypeError(f"device: the index must be an int, not {type(index).__name__}")
    if index is not None and index < 0:
        raise RuntimeError(f"device: the index is {index}; it must not be negative")
    return kind, index


_device = device


def expect_cpu(device, who):
    """Refuses a device other than the cpu, in the name of a function; None is the cpu."""
    if device is None:
        return
    try:
        found = _device(device)
    except RuntimeError as error:
        raise RuntimeError(f"{who}: {error}") from None
    if found.type != "cpu":
        raise not_compiled(who, found.type, found)


def set_default_device(device):
    """Sets the device of new tensors: the cpu, also for None."""
    expect_cpu(device, "set_default_device")


def get_default_device():
    """The device of new tensors."""
    return _device("cpu")
