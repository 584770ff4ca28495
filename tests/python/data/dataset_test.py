"""Datasets made of others: their samples, lengths, parts and errors."""

import foregrad as fg
import pytest
from foregrad.utils import data
from loader_datasets import Numbers, Stream


class Tens(Numbers):
    """Gives whole batches, ten times as large, to see which way was taken."""

    def __getitems__(self, indices):
        return [10 * index for index in indices]


def test_rows_of_tensors_are_samples():
    rows = data.TensorDataset(fg.arange(6).reshape(3, 2), fg.tensor([5., 6., 7.]))
    assert len(rows) == 3
    first, second = rows[1]
    assert first.tolist() == [2, 3] and second.item() == 6
    assert [part.tolist() for part in rows[1:]] == [[[2, 3], [4, 5]], [6, 7]]
    with pytest.raises(IndexError):
        rows[3]
    assert [int(x) for (x,) in data.TensorDataset(fg.arange(3))] == [0, 1, 2]


def test_tensors_of_different_lengths_are_refused():
    with pytest.raises(AssertionError, match="Size mismatch between tensors: .* 3, 2 rows"):
        data.TensorDataset(fg.ones(3), fg.ones(2))


def test_stacked_datasets_give_tuples_or_dictionaries():
    assert data.StackDataset(Numbers(3), Tens(3))[2] == (2, 2)
    named = data.StackDataset(a=Numbers(3), b=Tens(3))
    assert len(named) == 3 and named[1] == {"a": 1, "b": 1}
    assert named.__getitems__([1, 2]) == [{"a": 1, "b": 10}, {"a": 2, "b": 20}]
    assert data.StackDataset(Numbers(3), Tens(3)).__getitems__([2]) == [(2, 20)]


def test_datasets_that_do_not_stack_are_refused():
    with pytest.raises(ValueError, match="At least one dataset should be passed"):
        data.StackDataset()
    with pytest.raises(ValueError, match="Size mismatch between datasets: .* 2, 3 samples"):
        data.StackDataset(Numbers(2), Numbers(3))
    with pytest.raises(ValueError, match="both types are given"):
        data.StackDataset(Numbers(2), a=Numbers(2))

    class Short(Numbers):
        def __getitems__(self, indices):
            return indices[1:]

    with pytest.raises(ValueError, match="output size mismatch. Expected 2, got 1"):
        data.StackDataset(Short(4)).__getitems__([0, 1])


def test_concatenated_datasets_count_on():
    both = Numbers(3) + Numbers(2)
    assert isinstance(both, data.ConcatDataset) and len(both) == 5
    assert [both[i] for i in range(-5, 5)] == 2 * [0, 1, 2, 0, 1]
    assert both.cumulative_sizes == [3, 5]
    with pytest.warns(FutureWarning, match="renamed to `cumulative_sizes`"):
        assert both.cummulative_sizes == [3, 5]
    with pytest.raises(ValueError, match="absolute value of index should not exceed"):
        both[-6]
    with pytest.raises(IndexError, match="got 5 for 5 samples"):
        both[5]
    with_empty = data.ConcatDataset([Numbers(0), Numbers(1), Numbers(0), Numbers(1)])
    assert [with_empty[0], with_empty[1]] == [0, 0]


def test_datasets_that_cannot_be_concatenated_are_refused():
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        data.ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        data.ConcatDataset([Stream()])


def test_streams_are_chained():
    both = Stream(2) + Stream(3)
    assert isinstance(both, data.ChainDataset) and list(both) == [0, 1, 0, 1, 2]
    assert len(data.ChainDataset([Stream(2, has_length=True), Stream(3, has_length=True)])) == 5
    with pytest.raises(AssertionError, match="only supports IterableDataset, and got a Numbers"):
        list(data.ChainDataset([Numbers(2)]))
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        len(data.ChainDataset([Numbers(2)]))


def test_subsets_take_indices_one_by_one_and_in_batches():
    part = data.Subset(Numbers(10), [3, 4, 8])
    assert len(part) == 3 and part[2] == 8 and part[[0, 1]] == [3, 4]
    assert part.__getitems__([2, 0]) == [8, 3]
    assert data.Subset(Tens(10), [3, 4, 8]).__getitems__([2, 0]) == [80, 30]


def test_random_split_covers_the_dataset_once():
    parts = data.random_split(Numbers(10), [3, 0, 7])
    assert [len(part) for part in parts] == [3, 0, 7]
    assert all(isinstance(part, data.Subset) for part in parts)
    assert sorted(i for part in parts for i in part.indices) == list(range(10))


@pytest.mark.parametrize("count, fractions, lengths", [
    (10, [0.33, 0.33, 0.34], [4, 3, 3]), (11, [0.5, 0.5], [6, 5]), (10, [1], [10]),
    (2, [0.1, 0.9], [1, 1])])
def test_fractions_are_rounded_down_and_the_rest_dealt_out(count, fractions, lengths):
    assert [len(part) for part in data.random_split(Numbers(count), fractions)] == lengths


def test_random_split_follows_its_generator():
    def indices(seed):
        generator = fg.Generator().manual_seed(seed)
        return [part.indices for part in data.random_split(Numbers(20), [0.5, 0.5], generator)]

    assert indices(1) == indices(1) != indices(2)
    fg.manual_seed(3)
    first = data.random_split(Numbers(20), [20])[0].indices
    fg.manual_seed(3)
    assert data.random_split(Numbers(20), [20])[0].indices == first


def test_splits_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match="Sum of input lengths .* add up to 7, .* 10 samples"):
        data.random_split(Numbers(10), [3, 4])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        data.random_split(Numbers(10), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="split at index 1 is 0"):
        data.random_split(Numbers(3), [0.999, 0.001])


def test_base_classes_say_which_method_is_missing():
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        data.Dataset()[0]
    with pytest.raises(TypeError, match="__iter__"):
        data.IterableDataset()
    with pytest.raises(AttributeError):
        data.Dataset().missing


def test_classes_take_a_type_of_samples():
    class Typed(data.Dataset[int]):
        pass

    assert data.DataLoader[int] and data.Sampler[int] and data.IterableDataset[int]
    assert issubclass(Typed, data.Dataset)


def test_public_modules_are_those_of_pytorch():
    from foregrad.utils.data._utils.collate import default_collate
    from foregrad.utils.data.dataloader import (_BaseDataLoaderIter,
                                                _MultiProcessingDataLoaderIter,
                                                _SingleProcessDataLoaderIter)
    from foregrad.utils.data.dataset import Dataset, random_split
    from foregrad.utils.data.distributed import DistributedSampler
    from foregrad.utils.data.sampler import Sampler

    assert fg.utils.data is data and default_collate is data.default_collate
    assert Dataset is data.Dataset and Sampler is data.Sampler
    assert random_split is data.random_split and DistributedSampler is data.DistributedSampler
    assert issubclass(_SingleProcessDataLoaderIter, _BaseDataLoaderIter)
    assert issubclass(_MultiProcessingDataLoaderIter, _BaseDataLoaderIter)


def test_pipes_of_data_are_named_as_missing():
    with pytest.raises(AttributeError, match="has no IterDataPipe: pipes of data are not here"):
        data.IterDataPipe
    with pytest.raises(AttributeError, match="has no attribute 'Unknown'"):
        data.Unknown
