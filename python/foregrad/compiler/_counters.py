"""Counters of captures, versions and eager calls in this process."""

from foregrad import _C


class Counters:
    """Numbers of captures, of captured calls, and of eager calls by reason."""

    captured = property(lambda self: _C.capture_counters()[0])
    calls = property(lambda self: _C.capture_counters()[1])
    eager = property(lambda self: _C.capture_counters()[2])
    reasons = property(lambda self: _C.capture_counters()[3])
    interpreted = property(lambda self: _C.capture_counters()[4])
    seconds = property(lambda self: _C.capture_counters()[5])  # until versions were ready

    def __repr__(self):
        return (f"Counters(captured={self.captured}, calls={self.calls}, eager={self.eager}, "
                f"interpreted={self.interpreted}, reasons={self.reasons})")


counters = Counters()
