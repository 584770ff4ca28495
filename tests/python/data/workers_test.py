"""DataLoader with workers: orders, seeds, streams, start methods, passes, what a worker knows."""

import gc
import time
import warnings

import foregrad as fg
import pytest
from foregrad.utils import data
from loader_datasets import Numbers, Processes, Rows, Seeds, Stream, init_seeds_numpy

# The tests may run with fewer processors than workers.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def lists(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_and_their_order_are_those_of_one_process(workers):
    alone = list(data.DataLoader(Rows(23), batch_size=4))
    together = list(data.DataLoader(Rows(23), batch_size=4, num_workers=workers))
    assert len(together) == 6
    for (x, y), (u, v) in zip(alone, together):
        assert x.equal(u) and y.equal(v) and x.dtype == u.dtype and y.dtype == v.dtype


def test_shuffling_does_not_depend_on_the_number_of_workers():
    def order(workers):
        fg.manual_seed(3)
        return lists(data.DataLoader(Numbers(30), 4, shuffle=True, num_workers=workers))

    assert order(0) == order(2) == order(3)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_start_by_every_method(method):
    loader = data.DataLoader(Rows(9), 2, num_workers=2, multiprocessing_context=method)
    assert loader.multiprocessing_context.get_start_method() == method
    assert [y.tolist() for _, y in loader] == [[0, 1], [2, 3], [4, 5], [6, 7], [8]]


def test_what_cannot_travel_to_a_spawned_process_is_an_error_at_the_start():
    loader = data.DataLoader(Numbers(), num_workers=2, collate_fn=lambda samples: samples,
                             multiprocessing_context="spawn")
    with pytest.raises(Exception, match="pickle"):
        iter(loader)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_knows_its_place_and_has_its_own_seeds(method):
    pytest.importorskip("numpy")

    def seeds():
        fg.manual_seed(7)
        return list(data.DataLoader(Seeds(4), None, num_workers=2,
                                    multiprocessing_context=method))

    first, second, third, _ = seeds()
    assert [first["id"], second["id"], third["id"]] == [0, 1, 0] and first["count"] == 2
    base = first["seed"]
    for sample in (first, second):
        assert sample["seed"] == sample["initial"] == base + sample["id"]
        assert sample["threads"] == 1
    for kind in ("random", "tensor"):
        assert len({sample[kind] for sample in (first, second, third)}) == 3
    assert first["numpy"] != second["numpy"]
    again = seeds()
    assert again[:3] == [first, second, third]
    import numpy
    entropy = [1, base & 0xFFFFFFFF, base >> 32, 0]
    expected = numpy.random.RandomState(numpy.random.SeedSequence(entropy).generate_state(4))
    assert second["numpy"] == [int(word) for word in expected.get_state()[1][:4]]


def test_a_generator_decides_the_seeds_of_workers():
    def seeds(state):
        fg.manual_seed(state)
        generator = fg.Generator().manual_seed(5)
        loader = data.DataLoader(Seeds(2), None, num_workers=2, generator=generator)
        return [sample["seed"] for sample in loader]

    assert seeds(1) == seeds(2)


def test_numpy_is_seeded_also_when_a_worker_imports_it_later(run_program):
    pytest.importorskip("numpy")
    done = run_program("""
        import sys
        import foregrad as fg
        from foregrad.utils import data

        class Late(data.Dataset):
            def __len__(self):
                return 2

            def __getitem__(self, index):
                assert "numpy" not in sys.modules
                import numpy
                return numpy.random.randint(2 ** 30)

        for _ in range(2):
            fg.manual_seed(3)
            a, b = data.DataLoader(Late(), None, num_workers=2)
            print(a, b, a != b)
    """)
    first, second = done.stdout.splitlines()
    assert first == second and first.endswith("True")


def test_there_is_no_worker_in_the_main_process_and_its_place_is_fixed():
    class Assigns(Numbers):
        def __getitem__(self, index):
            try:
                data.get_worker_info().id = 5
            except AttributeError as error:
                return str(error)

    assert data.get_worker_info() is None
    assert list(data.DataLoader(Assigns(1), None, num_workers=1)) == ["cannot assign to field 'id'"]


def test_worker_init_fn_is_called_with_the_number_of_the_worker():
    np = pytest.importorskip("numpy")
    loader = data.DataLoader(Seeds(2), None, num_workers=2, worker_init_fn=init_seeds_numpy)
    for i, sample in enumerate(loader):
        expected = np.random.RandomState(i).get_state()[1][:4]
        assert sample["numpy"] == [int(word) for word in expected]


def test_streams_are_read_by_every_worker_or_shared():
    loader = data.DataLoader(Stream(5), 2, num_workers=2)
    assert lists(loader) == [[0, 1], [0, 1], [2, 3], [2, 3], [4], [4]]
    loader = data.DataLoader(Stream(7, shares=True), 2, num_workers=2)
    assert lists(loader) == [[0, 2], [1, 3], [4, 6], [5]]
    loader = data.DataLoader(Stream(9, shares=True), 2, num_workers=3, drop_last=True)
    assert lists(loader) == [[0, 3], [1, 4], [2, 5]]
    assert list(data.DataLoader(Stream(3, shares=True), None, num_workers=2)) == [0, 1, 2]
    assert lists(data.DataLoader(Stream(0), 2, num_workers=2)) == []


def test_a_worker_whose_stream_is_short_leaves_the_rest_to_others():
    class Uneven(data.IterableDataset):
        def __iter__(self):
            return iter(range(1 if data.get_worker_info().id == 0 else 12))

    loader = data.DataLoader(Uneven(), None, num_workers=2, prefetch_factor=1)
    assert sorted(loader) == sorted([0, *range(12)])


def test_streams_that_every_worker_reads_are_a_warning():
    loader = data.DataLoader(Stream(3, has_length=True), num_workers=2)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="each worker gives all samples unless it asks get_worker"):
        assert len(list(loader)) == 6


def test_persistent_workers_serve_every_pass():
    loader = data.DataLoader(Processes(8), None, num_workers=2, persistent_workers=True)
    first = list(loader)
    iterator = iter(loader)
    next(iterator)  # left early
    assert list(loader) == first and len(set(first)) == 2
    again = data.DataLoader(Processes(8), None, num_workers=2)
    assert set(again).isdisjoint(again)


def test_persistent_workers_begin_streams_anew():
    loader = data.DataLoader(Stream(5, shares=True), 2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        assert lists(loader) == [[0, 2], [1, 3], [4]]


def test_a_pass_that_is_left_early_leaves_nothing_for_the_next():
    loader = data.DataLoader(Rows(40), 4, num_workers=2, persistent_workers=True,
                             prefetch_factor=4)
    for _ in range(5):
        for x, y in loader:
            assert y.tolist() == [0, 1, 2, 3]
            break
    assert [y.tolist()[0] for _, y in loader] == list(range(0, 40, 4))


def test_without_order_a_slow_batch_holds_up_no_other():
    class Slow(Numbers):
        def __getitem__(self, index):
            time.sleep(0.4 if index == 0 else 0)
            return index

    loader = data.DataLoader(Slow(12), None, num_workers=2, in_order=False)
    order = list(loader)
    assert sorted(order) == list(range(12)) and order[0] != 0
    assert list(data.DataLoader(Slow(12), None, num_workers=2)) == list(range(12))


@pytest.mark.parametrize("factor", [1, 3])
def test_as_many_batches_are_made_ahead_as_prefetch_factor_says(factor):
    asked = []

    class Asked(data.Sampler):
        def __iter__(self):
            for i in range(20):
                asked.append(i)
                yield i

    loader = data.DataLoader(Numbers(20), None, sampler=Asked(), num_workers=2,
                             prefetch_factor=factor)
    iterator = iter(loader)
    assert len(asked) == 2 * factor
    next(iterator)
    assert len(asked) == 2 * factor + 1
    assert len(list(iterator)) == 19


def test_a_long_list_of_indices_and_a_long_batch_of_texts_arrive():
    loader = data.DataLoader(Numbers(300_000), 100_000, num_workers=2)
    assert [int(batch.sum()) for batch in loader] == [4999950000, 14999950000, 24999950000]
    texts = data.DataLoader(["x" * 50_000] * 40, 20, num_workers=1)
    assert [sum(map(len, batch)) for batch in texts] == [1_000_000, 1_000_000]


def test_iterators_of_one_loader_run_side_by_side():
    loader = data.DataLoader(Numbers(6), 2, num_workers=1)
    assert [(a.tolist(), b.tolist()) for a, b in zip(loader, loader)] == [
        ([i, i + 1], [i, i + 1]) for i in (0, 2, 4)]


def test_a_worker_may_not_have_workers():
    class Nested(Numbers):
        def __getitem__(self, index):
            return len(list(data.DataLoader(Numbers(2), num_workers=index)))

    assert list(data.DataLoader(Nested(1), None, num_workers=1)) == [2]
    with pytest.raises(AssertionError, match="daemonic processes are not allowed to have children"):
        list(data.DataLoader(Nested(2), None, num_workers=1))


def test_an_iterator_with_workers_ends_like_any_other():
    iterator = iter(data.DataLoader(Numbers(2), num_workers=1))
    assert len(list(iterator)) == 2
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        iterator.__getstate__()


def test_a_compiled_step_takes_batches_of_workers():
    weight = fg.ones(3, requires_grad=True)
    compiled = fg.compile(lambda x, y: ((x * weight).sum(1) - y).pow(2).mean(), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in data.DataLoader(Rows(8), batch_size=4, num_workers=1):
            assert compiled(x, y).item() == ((x * weight).sum(1) - y).pow(2).mean().item()


def test_passes_leave_no_objects_behind():
    loader = data.DataLoader(Rows(6), 2, num_workers=1)
    list(loader)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5):
        list(loader)
    gc.collect()
    assert len(gc.get_objects()) - before < 50
