"""The profiler: times of functions, gradients and compiled code, as a table and as a trace."""

from foregrad.autograd.profiler import record_function
from foregrad.profiler._actions import (
    ProfilerAction,
    ProfilerActivity,
    schedule,
    supported_activities,
)
from foregrad.profiler._profile import profile, tensorboard_trace_handler

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule",
           "supported_activities", "tensorboard_trace_handler"]
