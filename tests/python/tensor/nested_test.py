"""Lists that contain themselves, or are nested very deeply: an error, or a result, soon."""

import foregrad as fg
import pytest
from wrong_arguments import shrinking

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
    for call in (fg.tensor, lambda data: fg.tensor(data, dtype=fg.float64)):
        with pytest.raises(ValueError, match="changed its length"):
            call(shrinking())
    assert fg.zeros(shrinking()).dim() <= 2


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
        for _ in range(100_000):
            deep = {{"list": [deep], "tuple": (deep,), "dict": {{"k": deep}}}}["{kind}"]
        captured = fg.compile(lambda x: x * (2 if deep else 3), fullgraph=True)
        for _ in range(2):
            assert captured(fg.ones(2)).tolist() == [2.0, 2.0]
        assert len(captured.compiled.versions) == 1
        os._exit(0)
    """, timeout=60)


@pytest.mark.parametrize("tree", ["deep", "itself"])
def test_arguments_nested_deeply_or_in_themselves_are_refused_soon(run_program, tree):
    run_program(f"""
        import os
        import foregrad as fg
        deep, itself = fg.ones(2), [1, 2]
        for _ in range(100_000):
            deep = [deep]
        itself.append(itself)
        for fullgraph in (False, True):
            try:
                fg.compile(lambda tree: fg.ones(2), fullgraph=fullgraph)({tree})
            except RecursionError as error:
                assert "in the arguments of a compiled function" in str(error), error
            else:
                raise AssertionError("not refused")
        os._exit(0)
    """, timeout=30)
