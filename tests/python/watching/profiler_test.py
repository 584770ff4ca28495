"""The profiler: what it records, its tables and traces, schedules, and its refusals."""

import gzip
import json
import threading

import foregrad as fg
import pytest
from foregrad.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

layer = fg.nn.Linear(20, 30)
x = fg.ones(5, 20)


def keys(measured):
    return {event.key: event for event in measured.key_averages()}


def test_functions_gradients_and_named_blocks_are_measured():
    with profile(activities=[ProfilerActivity.CPU]) as measured:
        with record_function("forward"):
            y = layer(x).relu().sum()
        y.backward()
    found = keys(measured)
    assert {"forward", "aten::linear", "aten::addmm", "aten::relu", "aten::sum", "AddmmBackward0",
            "ReluBackward0"} <= set(found)
    forward = next(event for event in measured.events() if event.key == "forward")
    inside = [child.key for child in forward.cpu_children]
    assert inside == ["aten::linear", "aten::relu", "aten::sum"]
    assert 0 <= forward.self_cpu_time_total < forward.cpu_time_total
    assert found["aten::relu"].count == 1 and found["forward"].is_user_annotation


def test_compiled_code_is_measured_by_its_steps():
    call = fg.compile(lambda t: layer(t).relu().sum())
    call(x)
    with profile() as measured:
        call(x)
    assert any(key.startswith("kernel: ") for key in keys(measured))
    assert "compiled: forward" in keys(measured)


def test_a_table_has_pytorchs_columns():
    with profile(profile_memory=True) as measured:
        for _ in range(3):
            x + 1
        fg.zeros(1000).add_(1)
    text = measured.key_averages().table(sort_by="cpu_time_total", row_limit=5)
    assert "Self CPU %" in text and "CPU time avg" in text and "# of Calls" in text
    assert "CPU Mem" in text and "Self CPU time total:" in text and "aten::add_" in text
    assert keys(measured)["aten::add"].count == 3
    assert keys(measured)["aten::zeros"].cpu_memory_usage >= 4000
    assert len(measured.key_averages().table(row_limit=1).splitlines()) == 6
    with pytest.raises(AttributeError, match="sort_by is 'foo'"):
        measured.key_averages().table(sort_by="foo")
    assert measured.key_averages().total_average().count >= 4


def test_shapes_and_stacks_group_rows():
    with profile(record_shapes=True, with_stack=True) as measured:
        fg.ones(2, 3) + fg.ones(3)
        fg.ones(2) + 1
    rows = [event for event in measured.key_averages(group_by_input_shape=True)
            if event.key == "aten::add"]
    assert [row.input_shapes for row in rows] == [[[2, 3], [3]], [[2], []]]
    stack = next(e for e in measured.events() if e.key == "aten::add").stack
    assert "profiler_test.py" in stack[0] and "test_shapes_and_stacks" in stack[0]
    with profile() as measured:
        x + 1
    with pytest.raises(ValueError, match="record_shapes=True"):
        measured.key_averages(group_by_input_shape=True)
    with pytest.raises(ValueError, match="with_stack=True"):
        measured.key_averages(group_by_stack_n=2)


def test_a_trace_is_written_for_chrome(tmp_path):
    with profile(with_stack=True, record_shapes=True) as measured:
        with record_function("block"):
            x.exp()
    measured.add_metadata_json("run", "[1, 2]")
    measured.export_chrome_trace(str(tmp_path / "t.json.gz"))
    with gzip.open(tmp_path / "t.json.gz") as file:
        trace = json.load(file)
    events = {event["name"]: event for event in trace["traceEvents"] if event["ph"] == "X"}
    assert events["block"]["cat"] == "user_annotation" and trace["run"] == [1, 2]
    assert events["aten::exp"]["args"]["Input Dims"] == [[5, 20]]
    assert events["block"]["ts"] <= events["aten::exp"]["ts"]
    measured.export_stacks(str(tmp_path / "stacks.txt"))


def test_a_schedule_leaves_out_warms_up_and_records(tmp_path):
    ready = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    actions = [plan(i) for i in range(7)]
    none, warm = ProfilerAction.NONE, ProfilerAction.WARMUP
    assert actions == [none, none, warm, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE,
                       none, none]
    handler = tensorboard_trace_handler(str(tmp_path), worker_name="w")

    def on_ready(measured):
        ready.append(measured.step_num)
        handler(measured)

    with profile(schedule=plan, on_trace_ready=on_ready) as measured:
        for _ in range(8):
            x.exp()
            measured.step()
    assert ready == [5] and keys(measured)["aten::exp"].count == 2
    assert {"ProfilerStep#3", "ProfilerStep#4"} <= set(keys(measured))
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("w.") and path.name.endswith(".pt.trace.json")
    for wrong in ({"wait": -1, "warmup": 0, "active": 1}, {"wait": 0, "warmup": 0, "active": 0}):
        with pytest.raises(AssertionError, match="Invalid profiler schedule"):
            schedule(**wrong)


def test_threads_are_measured_apart():
    with profile() as measured:
        thread = threading.Thread(target=lambda: x.cos())
        thread.start()
        thread.join()
        x.sin()
    threads = {event.key: event.thread for event in measured.events()}
    assert threads["aten::cos"] != threads["aten::sin"]


def test_a_function_is_named_by_a_decorator_and_captured():
    @record_function("named")
    def function(t):
        with record_function("inside"):
            return t * 2

    assert fg.compile(function, fullgraph=True)(x).equal(x * 2)
    with profile() as measured:
        function(x)
    assert {"named", "inside"} <= set(keys(measured))


def test_wrong_uses_are_refused():
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])
    with pytest.raises(TypeError, match="ProfilerActivity.CPU"):
        profile(activities=["cpu"])
    with pytest.raises(NotImplementedError, match="with_flops"):
        profile(with_flops=True)
    with pytest.warns(UserWarning, match="CUDA is not available"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(AssertionError, match="must be initialized before getting"):
        profile().key_averages()
    with pytest.raises(AssertionError, match="before stopping"):
        profile().stop()
    with profile(), pytest.raises(RuntimeError, match="already running in this process"):
        profile().start()
    with pytest.raises(TypeError, match="name must be str"):
        record_function(3)


def test_an_error_ends_the_measurement():
    with pytest.raises(KeyError), profile():
        raise KeyError
    with profile() as measured:
        x + 1
    assert "aten::add" in keys(measured)


def test_the_older_profiler_works_alike():
    with fg.autograd.profiler.profile(record_shapes=True) as measured:
        x.exp()
    assert "aten::exp" in measured.table() and measured.self_cpu_time_total > 0
    with fg.autograd.profiler.profile(enabled=False) as off:
        pass
    assert str(off) == "<unfinished profile>"
    with pytest.raises(RuntimeError, match="CUDA"), fg.autograd.profiler.emit_nvtx():
        pass


def test_a_forked_child_records_nothing(run_program):
    run_program("""
        import os
        import foregrad as fg
        from foregrad.profiler import profile
        with profile() as measured:
            child = os.fork()
            fg.ones(2).exp()
            if child == 0:
                os._exit(1 if fg._C._is_recording() else 0)
            assert os.waitpid(child, 0)[1] == 0
        assert len([e for e in measured.events() if e.key == "aten::exp"]) == 1
    """)
