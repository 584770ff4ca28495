"""Lists that contain themselves, or are nested very deeply: an error, or a result, soon."""

import foregrad as fg
import pytest

SELF = [1, 2]
SELF.append(SELF)
ONLY = []
ONLY.append(ONLY)


@pytest.mark.parametrize("data", [SELF, ONLY, [[1.0], [SELF]], (1, SELF)],
                         ids=["itself", "only itself", "within", "in a tuple"])
def test_data_that_contains_itself_is_refused(data):
    x = fg.ones(2, 3)
    for call in (lambda: fg.tensor(data), lambda: fg.as_tensor(data), lambda: x[data],
                 lambda: fg.result_type(data, 1), lambda: fg.tensor(data, dtype=fg.float32),
                 lambda: fg.zeros(data), lambda: x.__setitem__(0, data), lambda: x.new(data)):
        with pytest.raises((ValueError, TypeError, RuntimeError, IndexError, RecursionError)):
            call()


def test_a_list_that_changes_while_it_is_read_is_refused():
    class Empties:
        def __init__(self, holder):
            self.holder = holder

        def __index__(self):
            del self.holder[:]
            return 1

        def __float__(self):
            return float(self.__index__())

    for call in (fg.tensor, lambda data: fg.tensor(data, dtype=fg.float64)):
        data = [1, 2, 3]
        data.insert(1, Empties(data))
        with pytest.raises(ValueError, match="changed its length"):
            call(data)
    sizes = [1, 2, 3]
    sizes.insert(1, Empties(sizes))
    assert fg.zeros(sizes).dim() <= 2


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_what_is_nested_deeply_in_a_closure_is_captured_soon(run_program, kind):
    run_program(f"""
        import os
        import resource
        import warnings
        import foregrad as fg
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        deep = fg.ones(2)
        for _ in range(50_000):
            deep = {{"list": [deep], "tuple": (deep,), "dict": {{"k": deep}}}}["{kind}"]
        captured = fg.compile(lambda x: x * (2 if deep else 3))
        assert captured(fg.ones(2)).tolist() == [2.0, 2.0]
        assert captured(fg.ones(2)).tolist() == [2.0, 2.0]
        os._exit(0)
    """, timeout=60)


def test_arguments_nested_deeply_end_with_an_error_or_a_result():
    deep = fg.ones(2)
    for _ in range(100_000):
        deep = [deep]
    captured = fg.compile(lambda tree: fg.ones(2))
    for tree in (deep, SELF):
        try:
            assert captured(tree).tolist() == [1.0, 1.0]
        except RecursionError:
            pass
    while deep.__class__ is list:  # without recursion
        deep = deep[0]
