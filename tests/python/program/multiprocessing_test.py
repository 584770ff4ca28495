"""Tensors that processes share: in queues, as arguments, under all ways to start a process."""

import os
import pickle
import signal
import time

import foregrad as fg
import foregrad.multiprocessing as mp
import pytest


def add_one(queue, x):
    x.add_(1)
    queue.put(x * 2)
    time.sleep(0.5)  # the memory is asked of this process


def add_index(index, x):
    x[index] += index + 1


def fail(index):
    if index == 1:
        raise ValueError("the second one")
    time.sleep(20)


def end(index, code):
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def train(index, model):
    for parameter in model.parameters():
        parameter.data.fill_(index + 5.0)


@pytest.fixture(params=["file_descriptor", "file_system"])
def strategy(request):
    before = mp.get_sharing_strategy()
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy(before)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_tensor_goes_to_a_process_and_back(method, strategy):
    context = mp.get_context(method)
    queue, x = context.Queue(), fg.zeros(3).share_memory_()
    process = context.Process(target=add_one, args=(queue, x))
    process.start()
    assert queue.get(timeout=60).tolist() == [2, 2, 2]
    process.join()
    assert process.exitcode == 0 and x.tolist() == [1, 1, 1]


def test_a_queue_shares_what_it_carries(strategy):
    queue = mp.SimpleQueue()
    x = fg.arange(6.0).reshape(2, 3).clone()
    queue.put(x)
    y = queue.get()
    y[0, 0] = 7
    assert x[0, 0] == 7 and x.is_shared() and y.is_shared()
    queue.put(x.t())
    assert queue.get().stride() == (1, 3)
    for special in (fg.zeros(0, 2), fg.tensor(3), fg.ones(2, dtype=fg.bfloat16),
                    fg.ones(4)[1:3]):
        queue.put(special)
        got = queue.get()
        assert got.equal(special) and got.dtype is special.dtype
    queue.put(fg.nn.Parameter(fg.ones(2)))
    got = queue.get()
    assert isinstance(got, fg.nn.Parameter) and got.requires_grad


def test_no_name_stays_in_the_folder_of_shared_memory(run_program):
    run_program("""
        import os
        import foregrad as fg
        import foregrad.multiprocessing as mp
        mp.set_sharing_strategy("file_system")
        mine = lambda: [n for n in os.listdir("/dev/shm") if f"foregrad_{os.getpid()}_" in n]
        queue = mp.SimpleQueue()
        queue.put(fg.ones(3))
        assert mine()
        got = queue.get()
        assert got.sum() == 3
        del got
        assert not mine(), mine()
        queue.put(fg.ones(3))  # never taken: its name goes at the end
        print(os.getpid())
    """)
    assert not [name for name in os.listdir("/dev/shm") if name.endswith("_sent")]


def test_memory_is_moved_once_and_freed():
    x = fg.ones(1000)
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared()
    address = x.data_ptr()
    assert x.share_memory_().data_ptr() == address
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        fg.ones(10).share_memory_()
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert fg.zeros(0).share_memory_().numel() == 0


def test_the_memory_of_several_tensors_is_not_moved_from_one_of_them():
    x = fg.zeros(4)
    view = x[:2]
    for one in (x, view):
        with pytest.raises(RuntimeError, match="would stay behind"):
            one.share_memory_()
    del view, one
    x.share_memory_()
    x[:2].add_(1)
    assert x.tolist() == [1, 1, 0, 0]


def test_a_tensor_with_history_is_not_sent():
    x = fg.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="non-leaf tensor"):
        mp._memory.reduction.ForkingPickler.dumps(x)


def test_a_model_is_shared_and_trained_by_processes():
    model = fg.nn.Sequential(fg.nn.Linear(2, 2), fg.nn.BatchNorm1d(2))
    model.share_memory()
    assert all(t.is_shared() for t in (*model.parameters(), *model.buffers()))
    mp.start_processes(train, (model,), nprocs=1, start_method="fork")
    assert all((parameter == 5).all() for parameter in model.parameters())
    assert fg.nn.Linear(2, 2).share_memory()(fg.ones(1, 2)).shape == (1, 2)


def test_spawn_starts_processes_with_their_numbers():
    x = fg.zeros(2).share_memory_()
    assert mp.spawn(add_index, args=(x,), nprocs=2) is None
    assert x.tolist() == [1, 2]


def test_an_error_of_one_process_ends_all_and_is_raised():
    with pytest.raises(mp.ProcessRaisedException, match="the second one") as caught:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert "-- Process 1 terminated" in str(caught.value) and caught.value.error_index == 1
    assert not mp.active_children()
    assert pickle.loads(pickle.dumps(caught.value)).error_index == 1


@pytest.mark.parametrize("code, text", [(3, "exit code 3"),
                                        (-signal.SIGKILL, "terminated with signal SIGKILL")])
def test_a_process_that_ends_is_named(code, text):
    with pytest.raises(mp.ProcessExitedException, match=f"process 0 .*{text}") as caught:
        mp.start_processes(end, (code,), start_method="fork")
    assert caught.value.exit_code == code


def test_a_context_can_be_waited_for():
    x = fg.zeros(2).share_memory_()
    context = mp.start_processes(add_index, (x,), nprocs=2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    while not context.join(timeout=10):
        pass
    assert x.tolist() == [1, 2]


def test_strategies_have_names():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    with pytest.raises(AssertionError, match="invalid sharing strategy 'foo'"):
        mp.set_sharing_strategy("foo")
    assert mp.Process and mp.Pool and mp.cpu_count() > 0
