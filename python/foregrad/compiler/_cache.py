"""The cache of compiled code: keys, statistics, and entries for another machine."""

import contextlib

from foregrad import _C


def cache_key(function, *args, **kwargs):
    """The key of the cache for a call of a compiled function or step; compiles nothing.

    It is the one that `foregrad cache ls` shows once the call was made. A plain function counts as
    compile() of it. A call that is not cached is an error that says why.
    """
    if not hasattr(function, "cache_key"):
        from foregrad.compiler._compile import compile
        function = compile(function, fullgraph=True)
    return function.cache_key(*args, **kwargs)


def cache_stats():
    """Counters of the cache in this process: hits, misses, saved entries, bypasses by reason.

    "lookups" are the last ones: outcome, key, reason of a bypass, microseconds, fields of the key
    (of long ones their digests).
    """
    return _C.cache_stats()


def save_cache_artifacts():
    """Entries that this process compiled or found, as (bytes, keys); None if there are none.

    The bytes are authenticated with the shared key that FOREGRAD_CACHE_KEY names.
    """
    return _C.cache_save_artifacts()


def load_cache_artifacts(serialized_artifacts):
    """Takes over the bytes of save_cache_artifacts(): all entries or none. Returns the keys."""
    if not isinstance(serialized_artifacts, (bytes, bytearray, memoryview)):
        raise TypeError("load_cache_artifacts: expected the bytes that save_cache_artifacts() "
                        f"returned, got {type(serialized_artifacts).__name__}")
    return _C.cache_load_artifacts(bytes(serialized_artifacts))


@contextlib.contextmanager
def fresh_cache_artifacts():
    """Within it save_cache_artifacts() gives only what came after its beginning; what was there
    before counts again afterwards. For the whole process; entries and hits stay what they are."""
    scope = _C.FreshArtifacts()
    try:
        yield
    finally:
        scope.close()
