"""Times of statements, tables of them, and summaries of models."""

import foregrad as fg
import pytest
from foregrad.utils.benchmark import Compare, Measurement, Timer, select_unit


def made(times, **names):
    timer = Timer("x + 1", globals={}, **names)
    return Measurement(10, [10 * t for t in times], timer._task_spec)


def test_a_statement_is_measured():
    x = fg.ones(4)
    timer = Timer("y = x + n", setup="n = 2", globals={"x": x}, num_threads=1)
    one = timer.timeit(50)
    assert one.number_per_run == 50 and len(one.times) == 1 and 0 < one.median < 1
    several = timer.blocked_autorange(min_run_time=0.02)
    assert sum(several.raw_times) >= 0.02 and several.mean > 0 and several.iqr >= 0
    calls = []
    adaptive = timer.adaptive_autorange(min_run_time=0.001, max_run_time=0.1,
                                        callback=lambda n, t: calls.append(n))
    assert len(adaptive.raw_times) == len(calls) > 0


def test_threads_are_those_that_were_asked_for():
    before = fg.get_num_threads()
    seen = []
    Timer("seen.append(foregrad.get_num_threads())", globals={"seen": seen},
          num_threads=1).timeit(1)
    assert set(seen) == {1} and fg.get_num_threads() == before


def test_an_error_of_the_statement_is_raised_and_leaves_the_threads():
    before = fg.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        Timer("1 / 0", num_threads=1).timeit(1)
    assert fg.get_num_threads() == before


def test_a_measurement_prints_its_median_and_spread():
    text = repr(made([1e-6, 2e-6, 3e-6], label="L", sub_label="S", description="D"))
    assert text.splitlines()[1:] == [
        "L: S", "D", "  Median: 2.00 us", "  IQR:    1.00 us (1.50 to 2.50)",
        "  3 measurements, 10 runs per measurement, 1 thread",
        "  WARNING: Interquartile range is 50.0% of the median measurement.",
        "           This could indicate system fluctuation."]
    assert repr(made([2e-3])).endswith("  2.00 ms\n  1 measurement, 10 runs , 1 thread")
    assert select_unit(0.5) == ("ms", 1e-3) and select_unit(2) == ("s", 1.0)
    merged = Measurement.merge([made([1e-6]), made([3e-6])])
    assert len(merged) == 1 and merged[0].median == 2e-6


def test_measurements_are_compared_in_a_table():
    slow = made([3e-6], label="L", sub_label="slow", description="D")
    fast = made([1e-6], label="L", sub_label="fast", description="D")
    compare = Compare([slow, fast])
    assert str(compare).splitlines()[1:] == [
        "            |   D ", "1 threads: ---------", "      slow  |  3.0",
        "      fast  |  1.0", "", "Times are in microseconds (us)."]
    compare.trim_significant_figures()
    compare.colorize()
    assert "\033[92m" in str(compare) and "[" in str(compare)
    with pytest.raises(ValueError, match="Measurement"):
        Compare([3])


@pytest.mark.parametrize("call, kind", [
    (lambda: Timer("int x;", language="cpp"), NotImplementedError),
    (lambda: Timer(len), ValueError), (lambda: Timer("x", global_setup="int x;"), ValueError),
    (lambda: Timer("1").collect_callgrind(), NotImplementedError),
    (lambda: Measurement(1, [], Timer("1")._task_spec).median, ValueError)])
def test_wrong_uses_are_refused(call, kind):
    with pytest.raises(kind):
        call()


def test_a_model_is_summarised(capsys):
    model = fg.nn.Sequential(fg.nn.Conv2d(3, 8, 3), fg.nn.ReLU(),
                             fg.nn.Sequential(fg.nn.Flatten(), fg.nn.Linear(288, 10)))
    model[0].bias.requires_grad_(False)
    made = fg.utils.summary(model, (2, 3, 8, 8))
    text = capsys.readouterr().out
    assert "0: Conv2d" in text and "[2, 8, 6, 6]" in text and "3,114" in text
    assert (made.total_params, made.trainable_params) == (3114, 3106) and model.training
    assert not model[0]._forward_hooks
    fg.utils.summary(model, verbose=0, depth=1)
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="a dtype for each"):
        fg.utils.summary(model, [(1, 2)], dtypes=[fg.float32, fg.int64])
