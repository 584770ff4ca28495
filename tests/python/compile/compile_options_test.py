"""Options of compile and its like work, or are refused with a sentence; settings of the process."""

import os
import threading

import foregrad as fg
import numpy as np
import pytest
from foregrad.compiler import CacheError, CaptureError, aot_function, config, counters, nop


@pytest.mark.parametrize("option, why", [
    ({"dynamic": True}, "every new size is a version of its own"),
    ({"disable_functionalization": True}, "graphs are always functional"),
    ({"keep_inference_input_mutations": True}, "graphs never write to their inputs"),
    ({"num_params_buffers": 2}, "no input is treated as another one"),
    ({"enable_log": False}, "FOREGRAD_LOG=graph"),
    ({"decompositions": {"a": 1}}, "made of primitives already")])
def test_options_of_aot_function_that_are_not_here_are_refused(option, why):
    for make in (aot_function, fg.compiler.aot_module):
        with pytest.raises(NotImplementedError, match=why):
            make(fg.nn.Linear(2, 2), nop, **option)


def test_the_inference_compiler_gets_calls_without_gradients():
    seen = []

    def named(name):
        return lambda graph, examples: seen.append(name) or graph

    f = aot_function(lambda x: (x * 2).sin(), named("forward"), named("backward"),
                     inference_compiler=named("inference"))
    f(fg.ones(2))
    assert seen == ["inference"]
    f(fg.ones(2, requires_grad=True)).sum().backward()
    assert seen == ["inference", "forward", "backward"]
    with fg.no_grad():
        f(fg.ones(3, requires_grad=True))
    assert seen[3:] == ["inference"]
    f = aot_function(lambda x: x * 2, named("forward"))
    f(fg.ones(2))
    assert seen[4:] == ["forward"]


def test_options_of_compile():
    def f(x):
        return x * 2

    for options in ({"mode": "max-autotune"}, {"mode": "reduce-overhead"}, {"mode": "default"},
                    {"mode": "max-autotune-no-cudagraphs"}, {"dynamic": False},
                    {"options": {}}):
        assert fg.compile(f, fullgraph=True, **options)(fg.ones(1)).item() == 2
    with pytest.raises(NotImplementedError, match="dynamic=True is not here yet"):
        fg.compile(f, dynamic=True)
    with pytest.raises(RuntimeError, match="unrecognized mode 'fast'; expected one of"):
        fg.compile(f, mode="fast")
    with pytest.raises(RuntimeError, match="unexpected option 'epilogue_fusion'"):
        fg.compile(options={"epilogue_fusion": True})
    with pytest.raises(RuntimeError, match="both can't be specified"):
        fg.compile(f, mode="default", options={})


def test_options_elsewhere():
    x = fg.ones(2, 3, 4, 5)
    for call in (lambda: x.cpu(memory_format=fg.channels_last),
                 lambda: x.float(memory_format=fg.channels_last),
                 lambda: x.new_tensor([1.0], pin_memory=True),
                 lambda: fg.autograd.gradcheck(lambda t: t, x, check_grad_dtypes=True),
                 lambda: fg.autograd.gradgradcheck(lambda t: t, x,
                                                   gen_non_contig_grad_outputs=True)):
        with pytest.raises(NotImplementedError, match="not here yet|nothing else exists"):
            call()
    with pytest.raises(TypeError):
        x.type(fg.float64, anything=3)
    with pytest.raises(RuntimeError, match="only 'cpu'"):
        x.new_tensor([1.0], device="cuda")
    with pytest.raises(BufferError, match="only the cpu"):
        x.__dlpack__(stream=3)
    copied = np.array(x, copy=True)
    copied[:] = 0
    assert x.sum().item() == 120
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=np.float64, copy=False)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        y = fg.ones(1, requires_grad=True)
        fg.autograd.grad(y * 2, y, only_inputs=False)


# ---- settings


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with config.patch(cache_dir=tmp_path, cache=True):
        yield


def test_settings_are_read_set_and_checked(tmp_path):
    assert config.cache is True and config.cache_dir == str(tmp_path)
    with config.patch(cache_size="3K", cache_wait=1, cache_tag="a", cache="local"):
        assert (config.cache_size, config.cache_wait, config.cache_tag) == (3072, 1.0, "a")
        assert config.cache == "local" and config.cache_strict is False
        assert "cache_tag='a'" in repr(config) and "max_versions" in dir(config)
    assert config.cache_tag == ""
    for name, value, message in (("cache_size", "much", "expected bytes, or a text such as"),
                                 ("cache_size", -1, "expected bytes"),
                                 ("cache_tag", 3, "expected a text"),
                                 ("cache_strict", 1, "expected True or False"),
                                 ("cache", "far", "expected True, False"),
                                 ("cache_wait", -1.0, "expected seconds"),
                                 ("cache_dir", None, "expected the path of a folder"),
                                 ("cache_dir", "a\0b", "expected the path of a folder"),
                                 ("cache_tag", "\ud800", "expected a text"),
                                 ("max_versions", 0, "expected a number from 1 on")):
        with pytest.raises(ValueError, match=f"compiler.config.{name}: got .*; {message}"):
            setattr(config, name, value)
    for wrong in (lambda: config.cach, lambda: setattr(config, "cach", 1),
                  lambda: config.patch(cach=1)):
        with pytest.raises(AttributeError, match="no setting 'cach'; there are cache, cache_dir"):
            wrong()


def test_a_folder_may_have_a_name_of_any_bytes(tmp_path):
    name = b"\xff-caf\xe9"
    for folder in (os.fsencode(tmp_path) + b"/" + name, tmp_path / os.fsdecode(name)):
        with config.patch(cache_dir=folder):
            assert os.fsencode(config.cache_dir).endswith(name) and "cache_dir=" in repr(config)
            with config.patch(cache_strict=True):  # and the folder stays
                fg.compile(lambda x: x * 2.5)(fg.ones(2))
    assert (tmp_path / os.fsdecode(name)).is_dir()


def key_of(tag):
    with config.patch({"cache_tag": tag}):
        return fg.compiler.cache_key(lambda x: x * 2, fg.ones(2))


def test_a_patch_is_a_context_and_a_decorator_and_ends():
    @config.patch("cache_tag", "decorated")
    def tag(depth=0):
        return tag(depth - 1) if depth else config.cache_tag

    assert tag(2) == "decorated" and config.cache_tag == ""
    with pytest.raises(KeyError):
        with config.patch(cache_tag="b", max_versions=2):
            raise KeyError
    assert config.cache_tag == "" and config.max_versions == 8
    assert key_of("a") != key_of("b") and key_of("a") == key_of("a")


def test_versions_are_as_many_as_the_setting_says():
    compiled = fg.compile(lambda x: x * 2, fullgraph=True)
    with config.patch(max_versions=2):
        for size in (1, 2):
            compiled(fg.ones(size))
        with pytest.raises(CaptureError, match="captured 2 times"):
            compiled(fg.ones(3))


def test_the_cache_is_off_where_a_program_says_so():
    def f(x):
        return (x * 3).sin()

    with config.patch(cache=False):
        fg.compile(f, fullgraph=True)(fg.ones(2))
        assert fg.compiler.cache_stats()["misses"] == 0
    fg.compile(f, fullgraph=True)(fg.ones(2))
    assert fg.compiler.cache_stats()["misses"] == 1
    fg.compile(f, fullgraph=True)(fg.ones(2))
    assert fg.compiler.cache_stats()["hits"] == 1
    fg.compiler.cache.clear()
    fg.compile(f, fullgraph=True)(fg.ones(2))
    assert fg.compiler.cache_stats()["misses"] == 2


@pytest.mark.parametrize("fullgraph", [True, False])
def test_strict_mode_is_an_error_of_the_program(fullgraph, tmp_path):
    (tmp_path / "file").write_text("")
    with config.patch(cache_strict=True, cache_dir=tmp_path / "file"):
        with pytest.raises(CacheError, match="cache, in strict mode"):
            fg.compile(lambda x: x * 5, fullgraph=fullgraph)(fg.ones(2))
    assert issubclass(CacheError, RuntimeError)


def test_reset_forgets_versions_refusals_and_counts():
    def f(x):
        return x * 2 if x.sum() > 0 else x

    good, bad = fg.compile(lambda x: x * 2), fg.compile(f)
    good(fg.ones(1))
    with pytest.warns(UserWarning, match="runs eagerly"):
        bad(fg.ones(1))
    fg.compiler.reset()
    assert counters.captured == counters.calls == counters.eager == 0 and not counters.reasons
    assert good.compiled.versions == [] and bad.compiled.refused is None
    assert good(fg.ones(1)).item() == 2 and counters.captured == 1
    with pytest.warns(UserWarning, match="runs eagerly"):
        bad(fg.ones(1))


def test_threads_may_change_settings_and_reset_while_others_call():
    captured, failed = [], []
    compiled = fg.compile(lambda x, k: x * k, fullgraph=True,
                          backend=lambda graph, examples: captured.append(graph) or graph)

    def work(i):
        try:
            for k in range(12):
                with config.patch(max_versions=4 + i):
                    assert compiled(fg.ones(1), k % 3).item() == k % 3
                if k % 4 == i:
                    fg.compiler.reset()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    config.max_versions = 8
    assert not failed
    assert len(captured) >= 3  # one for each k, and again after a reset
