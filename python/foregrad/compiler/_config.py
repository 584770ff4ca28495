"""Settings that a program may change while it runs: foregrad.compiler.config."""

import contextlib
import os
from _thread import RLock  # threading, which has it too, takes longer to load

from foregrad import _C


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_text(value):
    """Whether the system takes a value as a text: without the null byte that would end it."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:  # half a character
        return False


def _is_path(value):
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return _is_text(os.fsdecode(value) if isinstance(value, bytes) else value)


def _is_size(value):
    if isinstance(value, str):
        return _C.bytes_of(value) is not None
    return isinstance(value, int) and _is_number(value) and value < 2**63


# By name: the check of a value, the expected values in words, the meaning.
_KNOWN = {
    "cache": (lambda value: isinstance(value, bool) or value in ("local", "remote"),
              "True, False, 'local' (never the remote store) or 'remote' (no files here)",
              "Whether what was compiled is kept and found again."),
    "cache_dir": (_is_path, "the path of a folder", "The folder of the cache."),
    "cache_size": (_is_size, "bytes, or a text such as '500M'",
                   "What the cache may take on disk."),
    "cache_tag": (_is_text, "a text",
                  "Part of every key: another tag is another cache."),
    "cache_strict": (lambda value: isinstance(value, bool), "True or False",
                     "Whether what the cache cannot do is an error."),
    "cache_wait": (_is_number, "seconds",
                   "How long to wait while another process compiles the same."),
    "cache_remote": (_is_text,
                     "'redis://user:password@host:port/database', rediss:// for TLS, or ''",
                     "A Redis server that several machines share; needs cache_key."),
    "cache_remote_timeout": (_is_number, "seconds",
                             "How long one question to the remote store may take."),
    "cache_key": (_is_path, "the path of a file of 32 or more random bytes, or ''",
                  "The secret of those who share a remote store or artifacts."),
    "max_versions": (lambda value: type(value) is int and value >= 1, "a number from 1 on",
                     "How many versions of a function are captured before it runs eagerly."),
}


def _checked(name, value):
    if name not in _KNOWN:
        raise AttributeError(f"compiler.config has no setting '{name}'; there are "
                             f"{', '.join(_KNOWN)}")
    is_one, expected, _ = _KNOWN[name]
    if not is_one(value):
        raise ValueError(f"compiler.config.{name}: got {value!r}; expected {expected}")
    if name == "cache_size" and isinstance(value, str):
        return _C.bytes_of(value)
    return os.fsdecode(value) if name in ("cache_dir", "cache_key") else value


class Config:
    """Settings of the process: attributes. Those of the cache begin as FOREGRAD_* says, by the
    same names.

    A change counts for all threads, from the next call that compiles or looks for compiled code;
    statistics of the cache begin anew with it. FOREGRAD_FORCE_DISABLE_CACHES=1 wins.
    """

    def __init__(self):
        object.__setattr__(self, "_lock", RLock())
        object.__setattr__(self, "_max_versions", _C.MOST_VERSIONS)

    def __getattr__(self, name):
        if name == "max_versions":
            return self._max_versions
        if name not in _KNOWN:
            _checked(name, None)
        return _C.cache_config()[name]

    def __setattr__(self, name, value):
        self._change({name: value})

    def __dir__(self):
        return [*_KNOWN, "patch"]

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in self._values().items()
                             if name != "cache_remote")  # it may hold a password
        return f"Config({settings})"

    def _values(self):
        return {**_C.cache_config(), "max_versions": self._max_versions}

    def _change(self, changes):
        """Changes all given settings or none; returns the values from before."""
        changes = {name: _checked(name, value) for name, value in changes.items()}
        with self._lock:
            before = self._values()
            of_cache = {name: value for name, value in changes.items() if name != "max_versions"}
            if of_cache:
                _C.cache_configure({**before, **of_cache})
            if "max_versions" in changes:
                object.__setattr__(self, "_max_versions", changes["max_versions"])
        return {name: before[name] for name in changes}

    def patch(self, name=None, value=None, /, **changes):
        """A context manager and decorator within which settings are others.

        patch(cache_tag="a"), patch("cache_tag", "a") or patch({"cache_tag": "a"}).
        """
        if isinstance(name, dict):
            changes = {**name, **changes}
        elif name is not None:
            changes = {name: value, **changes}
        for setting, new in changes.items():
            _checked(setting, new)
        return _Patch(self, changes)


class _Patch(contextlib.ContextDecorator):
    def __init__(self, config, changes):
        self._config, self._changes, self._before = config, changes, []

    def __enter__(self):
        self._before.append(self._config._change(self._changes))

    def __exit__(self, *error):
        self._config._change(self._before.pop())


config = Config()
