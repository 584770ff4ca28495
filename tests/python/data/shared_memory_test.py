"""Batches on their way from workers: kinds of contents, memory that is used again, kept batches,
worlds without shared memory."""

import collections
import os

import foregrad as fg
import pytest
from foregrad.utils import data
from foregrad.utils.data import _receiving, _transport
from loader_datasets import Numbers, Rows

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
LARGE = 20_000  # numbers that do not fit into a message


Pair = collections.namedtuple("Pair", "a b")


def through_worker(make, count=1, **options):
    """The samples make(0), make(1) ... as they arrive from a worker."""
    class Made(Numbers):
        def __getitem__(self, index):
            return make(index)

    return list(data.DataLoader(Made(count), None, num_workers=1, collate_fn=as_it_is, **options))


def as_it_is(sample):
    return sample


def mapped():
    """The bytes of batches that this process maps."""
    with open("/proc/self/maps") as maps:
        ends = [line.split()[0].split("-") for line in maps if "foregrad-batch" in line]
    return sum(int(end, 16) - int(begin, 16) for begin, end in ends)


@pytest.mark.parametrize("size", [0, 1, 5, LARGE])
@pytest.mark.parametrize("dtype", [fg.bool, fg.uint8, fg.int8, fg.int16, fg.int32, fg.int64,
                                   fg.float16, fg.bfloat16, fg.float32, fg.float64])
def test_tensors_of_every_dtype_arrive(dtype, size):
    expected = (fg.arange(size) % 100).to(dtype)
    tensor, = through_worker(lambda i: (fg.arange(size) % 100).to(dtype))
    assert tensor.dtype == dtype and tensor.equal(expected)
    tensor.add_(1) if dtype != fg.bool else tensor.zero_()  # it is the program's own


@pytest.mark.parametrize("make", [
    lambda: fg.arange(6.).reshape(2, 3).t(), lambda: fg.arange(24.).reshape(2, 3, 4)[:, ::2],
    lambda: fg.tensor([1., 2.]).expand(3, 2), lambda: fg.zeros(0, 3), lambda: fg.tensor(5),
    lambda: fg.arange(60_000.).reshape(100, 600).t(),
    lambda: fg.arange(60_000.).reshape(100, 600)[:, 1:]])
def test_tensors_of_every_layout_arrive(make):
    tensor, = through_worker(lambda i: make())
    assert tensor.equal(make()) and tensor.shape == make().shape
    if make().is_contiguous() or make().ndim == 2 and make().t().is_contiguous():
        assert tensor.stride() == make().stride()


def test_structures_keep_their_classes():
    given = {"x": [fg.ones(2), "text", None], "y": (fg.zeros(LARGE), b"bytes", 1.5),
             "z": Pair(fg.ones(1), {3})}
    made, = through_worker(lambda i: given)
    assert type(made["z"]) is Pair and made["z"].b == {3} and made["x"][1:] == ["text", None]
    assert made["y"][0].equal(fg.zeros(LARGE)) and made["y"][1:] == (b"bytes", 1.5)
    twice = fg.ones(LARGE)
    first, second = through_worker(lambda i: (twice, twice))[0]
    assert first is second


class Own(fg.Tensor):
    pass


def test_subclasses_attributes_and_leaves_that_require_gradients_arrive_as_such():
    leaf, parameter, own, marked = through_worker(lambda i: (
        fg.ones(2).requires_grad_(), fg.nn.Parameter(fg.ones(LARGE)),
        fg.ones(2).as_subclass(Own), noted()))[0]
    assert leaf.requires_grad and leaf.is_leaf and type(leaf) is fg.Tensor
    assert isinstance(parameter, fg.nn.Parameter) and parameter.requires_grad
    assert type(own) is Own and own.tolist() == [1, 1] and marked.note == "n"


def noted():
    tensor = fg.ones(1)
    tensor.note = "n"
    return tensor


def test_a_tensor_with_a_history_is_refused():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        through_worker(lambda i: fg.ones(2, requires_grad=True) * 2)


def test_arrays_of_numpy_arrive_without_a_copy_and_can_be_written():
    np = pytest.importorskip("numpy")
    large, small, texts, readonly = through_worker(lambda i: (
        np.arange(LARGE), np.arange(3), np.array(["a"]), frozen(np.ones(LARGE))))[0]
    assert (large == np.arange(LARGE)).all() and (small == np.arange(3)).all()
    assert texts.tolist() == ["a"] and readonly.sum() == LARGE
    large += 1
    small += 1
    with pytest.raises(ValueError, match="read-only"):
        readonly += 1


def frozen(array):
    array.flags.writeable = False
    return array


# ---- memory that is used again

def test_batches_of_a_loop_take_turns_in_the_same_memory():
    places, most = set(), 0
    for x, y in data.DataLoader(Rows(80, LARGE), 2, num_workers=2):
        assert x[:, 5].tolist() == y.tolist()
        places.add(x.data_ptr())
        most = max(most, mapped())
    assert len(places) <= 2 * 4 and most < 10 * 2 * LARGE * 4
    del x, y
    assert mapped() == 0


def test_batches_that_are_kept_stay_as_they_are_and_leave_shared_memory():
    batches = []
    for x, y in data.DataLoader(Rows(200, LARGE), 2, num_workers=2):
        batches.append((x, y))
        assert mapped() <= 2 * (_receiving._MOST_LEASES + 4) * 3 * LARGE * 4
    for x, y in batches:
        assert x.mean(1).tolist() == y.tolist()


def test_a_view_of_a_batch_keeps_it():
    views = [x[1, 3:7] for x, _ in data.DataLoader(Rows(60, LARGE), 2, num_workers=2)]
    assert [view.tolist() for view in views] == [[float(i)] * 4 for i in range(1, 60, 2)]


def test_a_child_of_the_program_keeps_the_batches_that_it_had():
    loader = data.DataLoader(Rows(60, LARGE), 2, num_workers=1, persistent_workers=True)
    iterator = iter(loader)
    batch = next(iterator)[0]
    may_look, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(may_look, 1)
        os._exit(0 if batch[:, 3].tolist() == [0, 1] else 1)
    del batch
    for _ in iterator:
        pass
    os.write(tell, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(may_look)
    os.close(tell)
    assert [y.tolist()[0] for _, y in loader] == list(range(0, 60, 2))


def test_gradients_and_graphs_keep_their_batches():
    weight = fg.ones(LARGE, requires_grad=True)
    total = 0
    for x, _ in data.DataLoader(Rows(30, LARGE), 2, num_workers=2):
        total = total + (x * weight).sum()
    total.backward()
    assert weight.grad[0].item() == sum(range(30))


def test_a_program_may_write_into_its_batches():
    for x, y in data.DataLoader(Rows(40, LARGE), 2, num_workers=2):
        assert x[:, 0].tolist() == y.tolist() and x[:, -1].tolist() == y.tolist()
        x.fill_(-1)


def test_tensors_that_a_worker_keeps_are_not_overwritten():
    class Keeps:
        def __init__(self):
            self.kept = []

        def __call__(self, samples):
            batch = data.default_collate(samples)
            self.kept.append(batch)
            return batch, [[x[0, 0].item(), y[0].item()] for x, y in self.kept]

    loader = data.DataLoader(Rows(40, LARGE), 2, num_workers=1, collate_fn=Keeps())
    for i, (_, seen) in enumerate(loader):
        assert seen == [[2. * k, 2 * k] for k in range(i + 1)]


def test_a_worker_may_send_the_same_tensor_again():
    cache = {}

    def collate(samples):
        if not cache:
            cache["batch"] = data.default_collate([fg.arange(LARGE)] * 2)
        return cache["batch"]

    for batch in data.DataLoader(Numbers(12), 2, num_workers=1, collate_fn=collate):
        assert batch[1].equal(fg.arange(LARGE))


def test_parts_of_a_collated_batch_arrive():
    def collate(samples):
        x, _ = data.default_collate(samples)
        return x[:, 1:], x.t(), x[0], x.flatten(), x + 1

    batches = data.DataLoader(Rows(6, LARGE), 3, num_workers=1, collate_fn=collate)
    for i, (cut, turned, first, flat, more) in enumerate(batches):
        rows = fg.tensor([3. * i, 3 * i + 1, 3 * i + 2]).reshape(3, 1)
        assert cut.equal(rows.expand(3, LARGE - 1)) and turned.equal(rows.expand(3, LARGE).t())
        assert first.equal(rows[0].expand(LARGE)) and flat.equal(rows.expand(3, LARGE).flatten())
        assert more.equal(rows.expand(3, LARGE) + 1)


def test_batches_of_changing_sizes_arrive():
    sizes = [1, 30_000, 5, 200_000, 70_000, 3, 500_000, 8_000, 90_000] * 4
    made = through_worker(lambda i: [fg.full((sizes[i],), i), fg.full((sizes[-1 - i],), i)],
                          len(sizes))
    for i, (x, y) in enumerate(made):
        assert x.shape == (sizes[i],) and y.shape == (sizes[-1 - i],)
        assert (x == i).all() and (y == i).all()


def test_many_large_tensors_in_one_batch_arrive():
    batch, = through_worker(lambda i: [fg.full((LARGE,), k) for k in range(300)])
    assert all((tensor == k).all() for k, tensor in enumerate(batch))


def test_samples_that_need_more_than_a_copy_are_stacked():
    class Mixed(Numbers):
        def __getitem__(self, index):
            rows = fg.arange(2. * LARGE).reshape(LARGE, 2)
            return rows[:, index % 2], rows.to(fg.float64 if index % 2 else fg.float32)

    for first, second in data.DataLoader(Mixed(4), 2, num_workers=1):
        assert first[1].equal(fg.arange(2. * LARGE)[1::2]) and second.dtype == fg.float64
        assert second[0].equal(second[1])


def test_workers_do_not_share_the_memory_of_the_program():
    rows = fg.zeros(4, 3)

    class Writes(Numbers):
        def __getitem__(self, index):
            return rows[index].add_(1)

    loader = data.DataLoader(Writes(4), 2, num_workers=2)
    assert [x.tolist() for x in loader] == [[[1.] * 3] * 2] * 2
    assert rows.sum().item() == 0


# ---- without shared memory

def refuse(*arguments):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("missing", ["memfd_create", "ftruncate"])
def test_batches_travel_in_messages_where_there_is_no_shared_memory(monkeypatch, missing):
    monkeypatch.setattr(os, missing, refuse)
    for x, y in data.DataLoader(Rows(12, LARGE), 2, num_workers=2):
        assert x.mean(1).tolist() == y.tolist() and mapped() == 0


def test_a_system_without_anonymous_shared_memory_is_served(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    x, y = next(iter(data.DataLoader(Rows(12, LARGE), 2, num_workers=1)))
    assert x.mean(1).tolist() == y.tolist() == [0, 1]


def test_shared_memory_that_runs_out_on_the_way_is_no_error(run_program):
    run_program("""
        import os, resource, sys
        import foregrad as fg
        from foregrad.utils import data

        class Rows(data.Dataset):
            def __len__(self):
                return 40

            def __getitem__(self, index):
                if index == 20:  # files may not grow any more
                    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
                return fg.full((20_000 * (1 + index // 20),), index)

        for i, (x,) in enumerate(data.DataLoader(Rows(), num_workers=1)):
            assert (x == i).all(), i
        assert i == 39
    """)


def test_descriptors_that_run_out_are_no_error(run_program):
    run_program("""
        import resource
        import foregrad as fg
        from foregrad.utils import data

        def few(worker_id):
            import os
            highest = max(map(int, os.listdir("/proc/self/fd")))
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, highest + 1))

        loader = data.DataLoader([fg.full((20_000,), i) for i in range(20)], num_workers=1,
                                 worker_init_fn=few)
        assert [int(x[0, 0]) for x in loader] == list(range(20))
    """)


def test_descriptors_that_run_out_in_the_program_are_an_error_of_one_batch(run_program):
    run_program("""
        import os, resource
        import foregrad as fg
        from foregrad.utils import data

        def batches():
            for size in (10, 50_000, 10, 90_000, 10, 200_000, 300_000):
                yield fg.full((size,), size)

        class Stream(data.IterableDataset):
            def __iter__(self):
                return batches()

        iterator = iter(data.DataLoader(Stream(), None, num_workers=1, prefetch_factor=1))
        next(iterator)
        highest = max(map(int, os.listdir("/proc/self/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, 4096))
        filled = []
        try:
            while True:
                filled.append(os.dup(0))
        except OSError:
            pass
        errors = 0
        for expected in (50_000, 10, 90_000):
            try:
                assert (next(iterator) == expected).all()
            except OSError as error:
                assert "ulimit -n" in str(error), error
                errors += 1
        assert errors == 2, errors
        for one in filled:
            os.close(one)
        rest = [tensor.numel() for tensor in iterator]
        assert rest in ([10, 200_000, 300_000], [10, 300_000]), rest
    """)


def test_a_message_that_claims_too_much_is_refused():
    memory = bytearray(64)
    with pytest.raises(RuntimeError, match="80 bytes at 0 reach beyond the 64 bytes in memory"):
        _transport.tensor_at((memory, memory), 0, fg.float32, (20,), (1,))
    for offset, sizes, strides in ((-4, (1,), (1,)), (65, (0,), (1,)), (0, (-1,), (1,)),
                                   (0, (2,), (-1,)), (0, (2 ** 40, 2 ** 40), (2 ** 40, 1))):
        with pytest.raises(RuntimeError, match="_tensor_in"):
            _transport.tensor_at((memory, memory), offset, fg.float32, sizes, strides)
