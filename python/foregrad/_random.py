"""The seed and state of random numbers."""

from foregrad import _C
from foregrad._creation import tensor
from foregrad._types import device, uint8

default_generator = _C._default_generator()


def manual_seed(seed):
    """Restarts the random numbers of this process."""
    return default_generator.manual_seed(int(seed))


def seed():
    """Seeds from the system and returns the seed."""
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def _get_state(self):
    """The state as a tensor of bytes."""
    seed, offset = self._state()
    return tensor(list(seed.to_bytes(8, "little") + offset.to_bytes(8, "little")), dtype=uint8)


def _set_state(self, new_state):
    """Takes a state that get_state gave."""
    if not isinstance(new_state, _C.Tensor):
        raise TypeError("set_state: expected a tensor of bytes, as get_state gives, not "
                        f"{type(new_state).__name__}")
    data = bytes(new_state.tolist())
    if len(data) != 16:
        raise RuntimeError(f"set_state: expected a state of 16 bytes, got {len(data)}")
    self._set_words(int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little"))
    return self


def _clone_state(self):
    return self._clone()


def _reduce(self):
    from foregrad._saving.rebuild import _generator

    return _generator, (self.get_state(),)


_C.Generator.get_state = _get_state
_C.Generator.set_state = _set_state
_C.Generator.clone_state = _clone_state
_C.Generator.__reduce__ = _reduce
_C.Generator.device = property(lambda self: device("cpu"))


def get_rng_state():
    """The state of the default generator, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Takes a state that get_rng_state gave."""
    default_generator.set_state(new_state)
