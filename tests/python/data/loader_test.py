"""DataLoader in one process: batches, orders, lengths, attributes, checks of arguments."""

import warnings

import foregrad as fg
import pytest
from foregrad.utils import data
from loader_datasets import Numbers, Rows, Stream, collate_raises


def lists(loader):
    return [batch.tolist() for batch in loader]


def test_batches_come_in_order_and_the_last_is_short_or_dropped():
    assert lists(data.DataLoader(Numbers(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert lists(data.DataLoader(Numbers(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert len(data.DataLoader(Numbers(5), batch_size=2)) == 3
    assert len(data.DataLoader(Numbers(5), batch_size=2, drop_last=True)) == 2
    (x, y), = data.DataLoader(Rows(2), batch_size=2)
    assert x.tolist() == [[0, 0, 0], [1, 1, 1]] and y.tolist() == [0, 1]


def test_lists_and_dictionaries_are_datasets():
    assert lists(data.DataLoader([5, 6, 7], batch_size=2)) == [[5, 6], [7]]
    assert lists(data.DataLoader({0: 5, 1: 6}, batch_size=2)) == [[5, 6]]
    with pytest.raises(KeyError, match="1"):
        list(data.DataLoader({0: 5, 2: 6}, batch_size=2))


def test_shuffling_follows_the_seed_and_changes_from_pass_to_pass():
    loader = data.DataLoader(Numbers(40), batch_size=40, shuffle=True)
    fg.manual_seed(1)
    first, second = lists(loader), lists(loader)
    assert first != second and sorted(first[0]) == list(range(40))
    fg.manual_seed(1)
    assert [lists(loader), lists(loader)] == [first, second]


def test_a_generator_decides_instead_of_the_seed():
    def order(seed):
        fg.manual_seed(seed)
        generator = fg.Generator().manual_seed(5)
        return lists(data.DataLoader(Numbers(30), shuffle=True, generator=generator))

    assert order(1) == order(2)


def test_samplers_of_the_user_decide():
    assert lists(data.DataLoader(Numbers(9), 2, sampler=[8, 1, 1])) == [[8, 1], [1]]
    loader = data.DataLoader(Numbers(9), batch_sampler=[[1], [2, 3]])
    assert lists(loader) == [[1], [2, 3]]
    assert (loader.batch_size, loader.drop_last) == (None, False)
    assert list(data.DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2]
    assert list(data.DataLoader(Numbers(9), None, sampler=[[1, 2], [3]])) == [[1, 2], [3]]


def test_streams_end_by_themselves():
    assert lists(data.DataLoader(Stream(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert lists(data.DataLoader(Stream(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert lists(data.DataLoader(Stream(4), batch_size=2)) == [[0, 1], [2, 3]]
    assert list(data.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    assert len(data.DataLoader(Stream(5, has_length=True), batch_size=2)) == 3
    assert len(data.DataLoader(Stream(5, has_length=True), batch_size=2, drop_last=True)) == 2
    with pytest.raises(TypeError):
        len(data.DataLoader(Stream(5)))


def test_a_stream_longer_than_it_said_is_a_warning():
    dataset = Stream(5, has_length=True)
    loader = data.DataLoader(dataset)
    dataset.length = 4
    assert len(loader) == 4
    with pytest.warns(UserWarning, match="reported to be 4.* but 5 samples have been fetched"):
        assert len(list(loader)) == 5


def test_an_iterator_knows_its_length_and_stays_at_its_end():
    iterator = iter(data.DataLoader(Numbers(3), batch_size=2))
    assert len(iterator) == 2 and iter(iterator) is iterator
    assert len(list(iterator)) == 2 and list(iterator) == []
    loader = data.DataLoader(Numbers(3))
    assert len(list(zip(loader, loader))) == 3  # two passes at once


def test_batches_are_asked_for_in_one_call_where_the_dataset_can():
    class Squares(Numbers):
        def __getitems__(self, indices):
            return [index ** 2 for index in indices]

    assert lists(data.DataLoader(Squares(5), batch_size=3)) == [[0, 1, 4], [9, 16]]
    part = data.Subset(Squares(5), [4, 3])
    assert lists(data.DataLoader(part, batch_size=2)) == [[16, 9]]


def test_errors_of_dataset_and_collate_fn_arrive_as_they_are():
    with pytest.raises(ValueError, match="^these samples do not fit$"):
        list(data.DataLoader(Numbers(3), collate_fn=collate_raises))


def test_pinning_is_accepted_and_said_to_do_nothing():
    with pytest.warns(UserWarning, match="no accelerator is found, then device pinned memory"):
        assert lists(data.DataLoader(Numbers(2), pin_memory=True)) == [[0], [1]]
    with (pytest.warns(UserWarning, match="pin_memory_device is deprecated"),
          pytest.warns(UserWarning, match="no accelerator is found")):
        list(data.DataLoader(Numbers(2), pin_memory=True, pin_memory_device="cuda"))


def test_a_loader_has_the_attributes_of_pytorch():
    loader = data.DataLoader(Numbers(), 4, shuffle=True, drop_last=True)
    assert isinstance(loader.sampler, data.RandomSampler) and loader.batch_size == 4
    assert isinstance(loader.batch_sampler, data.BatchSampler) and loader.drop_last is True
    assert (loader.num_workers, loader.prefetch_factor, loader.timeout) == (0, None, 0)
    assert loader.collate_fn is data.default_collate and loader.generator is None
    assert loader.persistent_workers is False and loader.pin_memory is False
    assert loader.worker_init_fn is None and loader.multiprocessing_context is None
    assert data.DataLoader(Numbers(), None).collate_fn is data.default_convert
    assert data.DataLoader(Numbers(), num_workers=1).prefetch_factor == 2


@pytest.mark.parametrize("name", ["batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
                                  "persistent_workers"])
def test_attributes_that_decide_the_batches_stay(name):
    loader = data.DataLoader(Numbers())
    with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is"):
        setattr(loader, name, 3)
    loader.num_workers = loader.own = 0


WRONG = [
    ({"num_workers": -1}, ValueError, "num_workers option should be non-negative"),
    ({"timeout": -1}, ValueError, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, ValueError, "only be specified in multiprocessing"),
    ({"num_workers": 1, "prefetch_factor": -1}, ValueError, "prefetch_factor option should be non"),
    ({"persistent_workers": True}, ValueError, "persistent_workers option needs num_workers > 0"),
    ({"sampler": [1], "shuffle": True}, ValueError, "sampler option is mutually exclusive with sh"),
    ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler option is mutually"),
    ({"batch_sampler": [[1]], "drop_last": True}, ValueError, "batch_sampler option is mutually"),
    ({"batch_size": None, "drop_last": True}, ValueError, "batch_size=None option disables"),
    ({"batch_size": 0}, ValueError, "batch_size should be a positive integer value, but got"),
    ({"batch_size": 2.5}, ValueError, "batch_size=2.5"), ({"unknown": 1}, TypeError, "unknown"),
    ({"num_workers": 1, "multiprocessing_context": "nope"}, ValueError,
     r"valid start method in \['fork', 'spawn', 'forkserver'\], but got .*'nope'"),
    ({"num_workers": 1, "multiprocessing_context": 5}, TypeError, "valid context object or a str"),
    ({"multiprocessing_context": "fork"}, ValueError, "can only be used with multi-process loadin"),
]


@pytest.mark.parametrize("options, kind, message", WRONG)
def test_arguments_that_do_not_fit_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        data.DataLoader(Numbers(), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}])
def test_streams_have_no_sampler(options):
    with pytest.raises(ValueError, match=f"expected unspecified {list(options)[0]} option"):
        data.DataLoader(Stream(), **options)
    data.DataLoader(Stream(), shuffle=False)


def test_arguments_that_do_not_fit_are_refused_in_the_loop():
    with pytest.raises(AssertionError, match="a timeout needs workers"):
        list(data.DataLoader(Numbers(), timeout=3))
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        list(data.DataLoader(Numbers(), num_workers=1, prefetch_factor=0))
    with pytest.raises(ValueError, match="num_samples=0"):
        data.DataLoader(Numbers(0), shuffle=True)


def test_many_workers_are_a_warning():
    with pytest.warns(UserWarning, match="create 1000 worker processes in total"):
        data.DataLoader(Numbers(), num_workers=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.DataLoader(Numbers(), num_workers=1)


def test_a_compiled_step_takes_the_batches_of_a_loader():
    weight = fg.ones(3, requires_grad=True)
    compiled = fg.compile(lambda x, y: ((x * weight).sum(1) - y).pow(2).mean(), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in data.DataLoader(Rows(8), batch_size=4):
            loss = compiled(x, y)
            assert loss.item() == ((x * weight).sum(1) - y).pow(2).mean().item()
            loss.backward()


def test_default_collate_is_captured():
    compiled = fg.compile(lambda a, b: data.default_collate([(a, b), (b, a)]), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = compiled(fg.ones(2), fg.zeros(2))
    assert first.tolist() == [[1, 1], [0, 0]] and second.tolist() == [[0, 0], [1, 1]]
