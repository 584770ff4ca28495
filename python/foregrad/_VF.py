"""torch._VF: functions of the library by the names that recurrent code calls."""

from foregrad import _C


def __getattr__(name):
    try:
        return getattr(_C._functions, name)
    except AttributeError:
        raise AttributeError(f"module 'foregrad._VF' has no attribute '{name}'") from None
