"""The options of tensors that print themselves."""

import math

from foregrad import _C

_DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {"default": {}, "short": {"precision": 2, "edgeitems": 2},
             "full": {"threshold": math.inf}}
_now = dict(_DEFAULTS)


def _checked(name, value):
    if name == "threshold" and value == math.inf:
        return 2**63 - 1
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"set_printoptions: {name} is {value!r}; expected an integer")
    if value < (1 if name == "linewidth" else 0) or value >= 2**31:
        raise ValueError(f"set_printoptions: {name} is {value}; expected at least "
                         f"{1 if name == 'linewidth' else 0}, and less than 2**31")
    return int(value)


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None,
                     sci_mode=None):
    """Sets how tensors print: digits, when they are summarised, elements at the edges, width."""
    wanted = dict(_now)
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions: profile is {profile!r}; expected one of "
                             f"{', '.join(map(repr, _PROFILES))}")
        wanted = {**_DEFAULTS, **_PROFILES[profile]}
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}
    wanted.update({name: value for name, value in given.items() if value is not None})
    if sci_mode not in (None, True, False):
        raise TypeError(f"set_printoptions: sci_mode is {sci_mode!r}; expected True, False or None")
    wanted["sci_mode"] = sci_mode  # as PyTorch: None is automatic, whatever it was
    numbers = [_checked(name, wanted[name]) for name in given]
    _C._set_print_options(*numbers, wanted["sci_mode"])
    _now.update(wanted)
