"""Times of statements, measured several times and compared in tables."""

from foregrad.utils.benchmark._compare import Compare
from foregrad.utils.benchmark._measurement import Measurement, TaskSpec, select_unit
from foregrad.utils.benchmark._timer import Language, Timer, timer

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer"]
