"""Samplers: orders, numbers, seeds, the parts of several processes, errors."""

import collections

import foregrad as fg
import pytest
from foregrad.utils import data
from loader_datasets import Numbers


def seeded(seed=0):
    return fg.Generator().manual_seed(seed)


def test_the_sequential_sampler_goes_through():
    assert list(data.SequentialSampler(Numbers(4))) == [0, 1, 2, 3]
    assert len(data.SequentialSampler(range(7))) == 7


def test_the_random_sampler_permutes():
    order = list(data.RandomSampler(Numbers(50)))
    assert sorted(order) == list(range(50)) and order != list(range(50))
    assert all(type(i) is int for i in order)


def test_the_random_sampler_follows_seeds_and_moves_on():
    fg.manual_seed(1)
    sampler = data.RandomSampler(Numbers(30))
    first, second = list(sampler), list(sampler)
    assert first != second
    fg.manual_seed(1)
    assert [list(sampler), list(sampler)] == [first, second]
    assert (list(data.RandomSampler(Numbers(30), generator=seeded()))
            == list(data.RandomSampler(Numbers(30), generator=seeded())))


def test_more_samples_than_there_are_take_every_one_equally_often():
    drawn = list(data.RandomSampler(Numbers(3), num_samples=8))
    assert len(drawn) == 8 == len(data.RandomSampler(Numbers(3), num_samples=8))
    assert sorted(drawn[:3]) == sorted(drawn[3:6]) == [0, 1, 2] and drawn[6] != drawn[7]


def test_replacement_draws_evenly():
    drawn = collections.Counter(data.RandomSampler(Numbers(4), replacement=True,
                                                   num_samples=4000, generator=seeded()))
    assert sorted(drawn) == [0, 1, 2, 3] and all(850 < n < 1150 for n in drawn.values())


def test_the_random_sampler_sees_a_source_grow():
    source = [1, 2]
    sampler = data.RandomSampler(source)
    source.append(3)
    assert sorted(sampler) == [0, 1, 2] and sampler.num_samples == len(sampler) == 3


@pytest.mark.parametrize("arguments, kind, message", [
    ({"replacement": 1}, TypeError, "replacement should be a boolean value, but got replacement=1"),
    ({"num_samples": 0}, ValueError, "num_samples should be a positive integer value, but got"),
    ({"num_samples": 2.0}, ValueError, "num_samples=2.0"), ])
def test_the_random_sampler_refuses(arguments, kind, message):
    with pytest.raises(kind, match=message):
        data.RandomSampler(Numbers(), **arguments)
    with pytest.raises(ValueError, match="num_samples=0"):
        data.RandomSampler(Numbers(0))


def test_a_subset_is_drawn_in_random_order():
    sampler = data.SubsetRandomSampler([7, 3, 9, 1, 5], generator=seeded())
    assert sorted(sampler) == [1, 3, 5, 7, 9] and len(sampler) == 5


def test_weights_decide_how_often():
    sampler = data.WeightedRandomSampler([1, 0, 3], 4000, generator=seeded())
    drawn = collections.Counter(sampler)
    assert len(sampler) == 4000 and sorted(drawn) == [0, 2]
    assert 2.6 < drawn[2] / drawn[0] < 3.4
    assert sampler.weights.dtype == fg.float64
    assert sorted(data.WeightedRandomSampler([1., 2.], 2, replacement=False)) == [0, 1]


@pytest.mark.parametrize("arguments, kind, message", [
    (([1, 2], 0), ValueError, "num_samples=0"), (([1, 2], True), ValueError, "num_samples=True"),
    (([1, 2], 2, 5), ValueError, "replacement=5"),
    (([[1, 2]], 2), ValueError, r"weights should be a 1d sequence .* shape \(1, 2\)")])
def test_the_weighted_sampler_refuses(arguments, kind, message):
    with pytest.raises(kind, match=message):
        data.WeightedRandomSampler(*arguments)


def test_the_weighted_sampler_refuses_when_it_draws():
    with pytest.raises(RuntimeError):
        list(data.WeightedRandomSampler([1, 2], 3, replacement=False))
    with pytest.raises(RuntimeError):
        list(data.WeightedRandomSampler([1, -2], 3))


def test_batches_have_their_size():
    batches = data.BatchSampler(data.SequentialSampler(Numbers(7)), 3, False)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]] and len(batches) == 3
    batches = data.BatchSampler(iter(range(7)), 3, True)
    assert list(batches) == [[0, 1, 2], [3, 4, 5]]
    assert len(data.BatchSampler(range(7), 3, True)) == 2


@pytest.mark.parametrize("size, drop, message", [
    (0, False, "batch_size=0"), (True, False, "batch_size=True"), (2.5, False, "batch_size=2.5"),
    (2, 1, "drop_last should be a boolean value, but got drop_last=1")])
def test_the_batch_sampler_refuses(size, drop, message):
    with pytest.raises(ValueError, match=message):
        data.BatchSampler(range(7), size, drop)


def parts(count, replicas, **options):
    return [list(data.DistributedSampler(Numbers(count), replicas, rank, **options))
            for rank in range(replicas)]


def test_processes_take_every_replicas_th_sample():
    assert parts(10, 3, shuffle=False) == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    assert parts(10, 3, shuffle=False, drop_last=True) == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert parts(1, 3, shuffle=False) == [[0], [0], [0]]
    assert parts(2, 3, drop_last=True) == [[], [], []]
    assert len(data.DistributedSampler(Numbers(10), 3, 0)) == 4
    assert len(data.DistributedSampler(Numbers(10), 3, 0, drop_last=True)) == 3


def test_processes_share_one_order_that_changes_with_the_epoch():
    assert sorted(sum(parts(12, 3), [])) == list(range(12))
    assert parts(12, 3, seed=1) == parts(12, 3, seed=1) != parts(12, 3, seed=2)
    sampler = data.DistributedSampler(Numbers(12), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert sampler.epoch == 1 and list(sampler) != first


def test_the_distributed_sampler_needs_a_rank():
    for options in ({}, {"num_replicas": 2}, {"rank": 0}):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            data.DistributedSampler(Numbers(), **options)
    for rank in (2, -1):
        with pytest.raises(ValueError, match=rf"Invalid rank {rank}, .* interval \[0, 1\]"):
            data.DistributedSampler(Numbers(), 2, rank)


def test_a_sampler_needs_a_method():
    with pytest.raises(NotImplementedError, match="has no __iter__"):
        iter(data.Sampler())
    with pytest.raises(TypeError):
        data.Sampler(Numbers())
    with pytest.raises(TypeError):
        len(data.Sampler())
