"""Settings of optimisers, as the library has and checks them."""

from foregrad import _C


def native_settings(name, settings):
    """The native settings of an optimiser, such as _C.AdamW, from a dictionary."""
    try:
        return getattr(_C, name)(**settings)
    except TypeError:
        raise TypeError(f"{name}: expected numbers, two betas and bools, got {settings}") from None
