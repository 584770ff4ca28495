"""Expressions over one library: `torch`, `data` its utils.data, `loader` the class DataLoader."""

DATASETS = """
data.TensorDataset(torch.ones(3), torch.ones(2))
data.TensorDataset(torch.arange(3), torch.arange(3))[1]
data.TensorDataset(torch.arange(3), torch.arange(3))[:2]
data.TensorDataset(torch.arange(3))[3]
len(data.TensorDataset())
data.StackDataset()
data.StackDataset(Numbers(2), Numbers(3))
data.StackDataset(Numbers(2), a=Numbers(2))
data.StackDataset(a=Numbers(2), b=Numbers(3))
[data.StackDataset(a=Numbers(2), b=Numbers(2))[1], data.StackDataset(Numbers(2), Numbers(2))[1]]
data.StackDataset(Short(4), Numbers(4)).__getitems__([1, 2])
data.StackDataset(Tens(4), Numbers(4)).__getitems__([1, 2])
data.StackDataset(a=Tens(4), b=Numbers(4)).__getitems__([1, 2])
data.ConcatDataset([])
data.ConcatDataset([Stream()])
[data.ConcatDataset([Numbers(3), Numbers(4)])[i] for i in range(-7, 7)]
data.ConcatDataset([Numbers(3), Numbers(4)]).cumulative_sizes
data.ConcatDataset([Numbers(3), Numbers(4)]).cummulative_sizes
data.ConcatDataset([Numbers(3), Numbers(4)])[-8]
data.ConcatDataset([Numbers(3), Numbers(4)])[8]
type(Numbers() + Numbers()).__name__, type(Stream() + Stream()).__name__
list(data.ChainDataset([Stream(2), Stream(3)]))
list(data.ChainDataset([Numbers(2)]))
len(data.ChainDataset([Sized(2), Sized(3)]))
len(data.ChainDataset([Numbers(2)]))
data.Subset(Numbers(), [3, 4])[1], data.Subset(Numbers(), [3, 4])[[0, 1]]
data.Subset(Tens(), [3, 4]).__getitems__([1, 0]), data.Subset(Numbers(), [3, 4]).__getitems__([0])
data.random_split(Numbers(), [3, 4])
[len(x) for x in data.random_split(Numbers(), [.33, .33, .34])]
[len(x) for x in data.random_split(Numbers(11), [.5, .5])]
[len(x) for x in data.random_split(Numbers(7), [.1, .2, .3, .4])]
data.random_split(Numbers(11), [.5, .7])
data.random_split(Numbers(11), [-.5, 1.5])
[len(x) for x in data.random_split(Numbers(3), [.999, .001])]
[len(x) for x in data.random_split(Numbers(), [1])]
[len(x) for x in data.random_split(Numbers(), [10, 0])]
type(data.random_split(Numbers(), [10])[0].indices).__name__
data.Dataset()[0]
iter(data.IterableDataset())
data.Dataset().missing
"""

SAMPLERS = """
iter(data.Sampler())
data.Sampler(Numbers())
len(data.Sampler())
data.RandomSampler(Numbers(), replacement=1)
data.RandomSampler(Numbers(), num_samples=0)
data.RandomSampler(Numbers(), num_samples=2.)
data.RandomSampler(Numbers(0))
sorted(list(data.RandomSampler(Numbers(3), num_samples=8))[:6])
len(list(data.RandomSampler(Numbers(3), replacement=True, num_samples=70)))
list(data.RandomSampler([1], generator=5))
sorted(data.SubsetRandomSampler([5, 7, 1]))
list(data.SubsetRandomSampler([]))
data.WeightedRandomSampler([1, 2], 0)
data.WeightedRandomSampler([1, 2], True)
data.WeightedRandomSampler([1, 2], 2, 5)
data.WeightedRandomSampler([[1, 2]], 2)
list(data.WeightedRandomSampler([1, 2], 3, False))
list(data.WeightedRandomSampler([1, -2], 3))
data.WeightedRandomSampler([1, 2], 2).weights
list(data.WeightedRandomSampler([0, 1, 0], 3))
data.BatchSampler(range(5), 0, False)
data.BatchSampler(range(5), 2, 1)
data.BatchSampler(range(5), True, False)
list(data.BatchSampler(range(10), 3, False)), list(data.BatchSampler(range(10), 3, True))
len(data.BatchSampler(Numbers(), 3, False)), len(data.BatchSampler(Numbers(), 3, True))
data.DistributedSampler(Numbers())
data.DistributedSampler(Numbers(), 2)
data.DistributedSampler(Numbers(), 2, 2)
data.DistributedSampler(Numbers(), 2, -1)
[list(data.DistributedSampler(Numbers(), 3, r, shuffle=False)) for r in range(3)]
[list(data.DistributedSampler(Numbers(), 3, r, shuffle=False, drop_last=True)) for r in range(3)]
[list(data.DistributedSampler(Numbers(1), 3, r, shuffle=False)) for r in range(3)]
[list(data.DistributedSampler(Numbers(2), 5, r, shuffle=False)) for r in range(5)]
[len(data.DistributedSampler(Numbers(n), 3, 0, drop_last=True)) for n in range(8)]
"""

COLLATION = """
data.default_collate([])
data.default_collate([1, 2])
data.default_collate([True, False])
data.default_collate([1., 2])
data.default_collate([1, 2.5])
data.default_collate(['a', 'b'])
data.default_collate([b'a', b'b'])
data.default_collate([None, None])
data.default_collate([object()])
data.default_collate([1j])
data.default_collate([(1, 2.), (3, 4.)])
data.default_collate([[1, 2.], [3, 4.]])
data.default_collate([[1, 2.], [3]])
data.default_collate([(1, 2.), (3,)])
data.default_collate([{'a': 1}, {'a': 2}])
data.default_collate([{'a': 1}, {'b': 2}])
data.default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
data.default_collate([collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)])
data.default_collate([Pair(1, 2), Pair(3, 4)])
data.default_collate([collections.deque([1, 2]), collections.deque([3, 4])])
data.default_collate([collections.UserDict(a=1)] * 2)
data.default_collate([torch.ones(2), torch.zeros(2)])
data.default_collate([torch.ones(2), torch.zeros(3)])
data.default_collate([torch.ones(2), 1])
data.default_collate([1, 'a'])
data.default_collate([range(2), range(2)])
data.default_collate([{1}, {2}])
data.default_collate([[], []])
data.default_collate([(torch.ones(1), 'x')] * 2)
data.default_collate([np.ones(2), np.zeros(2)])
data.default_collate([np.float32(2), np.float32(1)])
data.default_collate([np.float64(2)])
data.default_collate([np.int16(2), np.int16(1)])
data.default_collate([np.bool_(2), np.bool_(1)])
data.default_collate([np.array(2), np.array(1)])
data.default_collate([np.array(['a']), np.array(['b'])])
data.default_collate([np.array([object()])])
data.default_collate([np.str_('a')])
data.default_collate([np.datetime64('2020-01-01')])
data.default_convert([1, (2, np.ones(2)), {'a': np.float32(1)}, 'x', Pair(1, np.ones(1))])
data.default_convert([np.array(['s']), None, range(2), (1,), set()])
data.default_convert(collections.OrderedDict(a=np.ones(1)))
collate.collate([1, 2], collate_fn_map={int: lambda batch, *, collate_fn_map=None: 'ints'})
collate.collate([1, 2])
"""

LOADERS = """
loader(Numbers(), num_workers=-1)
loader(Numbers(), timeout=-1)
list(loader(Numbers(), timeout=1))
loader(Numbers(), prefetch_factor=2)
loader(Numbers(), num_workers=1, prefetch_factor=-1)
loader(Numbers(), persistent_workers=True)
loader(Stream(), shuffle=True)
list(loader(Stream(), shuffle=False))
loader(Stream(), sampler=[1])
loader(Stream(), batch_sampler=[[1]])
loader(Numbers(), sampler=[1], shuffle=True)
loader(Numbers(), batch_sampler=[[1]], batch_size=2)
loader(Numbers(), batch_sampler=[[1]], drop_last=True)
loader(Numbers(), batch_sampler=[[1]], shuffle=True)
loader(Numbers(), batch_size=None, drop_last=True)
list(loader(Numbers(3), batch_size=None, shuffle=False))
loader(Numbers(), batch_size=0)
loader(Numbers(), batch_size=2.5)
loader(Numbers(), batch_size=True)
loader(Numbers(), batch_size=-1)
loader(Numbers(0), shuffle=True)
list(loader(Numbers(0)))
len(loader(Endless()))
loader(Endless(), shuffle=True)
len(loader(Stream()))
len(loader(Sized())), len(loader(Sized(), 3)), len(loader(Sized(), 3, drop_last=True))
(lambda each: (len(each), list(each)))(loader(Sized()))
(lambda each: (len(each), list(each)))(loader(Sized(), num_workers=2))
loader(Numbers(), num_workers=1, multiprocessing_context='nope')
loader(Numbers(), num_workers=1, multiprocessing_context=5)
loader(Numbers(), multiprocessing_context='fork')
[setattr(loader(Numbers()), 'batch_size', 3)]
[setattr(loader(Numbers()), 'persistent_workers', 3)]
[setattr(loader(Numbers()), 'collate_fn', 3)]
list(loader(Numbers(2), pin_memory=True))
list(loader(Numbers(2), pin_memory=True, pin_memory_device='cuda'))
loader(Numbers(2), num_workers=100).num_workers
loader(Numbers(2), unknown=1)
loader(Numbers(2), num_workers='1')
list(loader([1, 2, 3], batch_size=2)), list(loader([1, 2, 3], batch_size=2, drop_last=True))
list(loader({0: 5, 1: 6}, batch_size=2))
list(loader({0: 5, 2: 6}, batch_size=2))
list(loader(Numbers(9), 2, sampler=[8, 1, 1]))
list(loader(Numbers(9), batch_sampler=[[1], [2, 3]]))
list(loader(Numbers(9), None, sampler=[[1, 2], [3]]))
(lambda i: [next(i, None), next(i, None), next(i, None)])(iter(loader([1])))
len(iter(loader([1, 2, 3], batch_size=2)))
type(loader([1], shuffle=True).sampler).__name__, type(loader(Stream()).sampler).__name__
list(loader([1], generator=5))
list(loader(Stream(5), 2)), list(loader(Stream(5), 2, drop_last=True))
list(loader(Stream(2), None))
list(loader(Stream(5), 2, num_workers=2))
list(loader(Stream(5), 2, num_workers=2, drop_last=True))
list(loader(Numbers(9), 2, num_workers=2)), list(loader(Numbers(4), None, num_workers=2))
list(loader(Tens(9), 2, num_workers=2))
sorted(set(loader(Seeds(8), None, num_workers=2, collate_fn=tuple)))
list(loader(Fails(5), None, num_workers=2))
list(loader(Fails(5), None))
list(loader(Numbers(5), num_workers=2, worker_init_fn=lambda i: 1 / 0))
list(loader(Numbers(5), num_workers=2, collate_fn=lambda samples: 1 / 0))
data.get_worker_info()
data._DatasetKind.Map, data._DatasetKind.Iterable
list(loader(Numbers(2), num_workers=1, pin_memory=True))
"""

CASES = [line for text in (DATASETS, SAMPLERS, COLLATION, LOADERS) for line in text.split("\n")
         if line]

# Errors of other functions, that have their own words there and here.
OTHER_WORDS = {
    "data.TensorDataset(torch.arange(3))[3]",
    "iter(data.Sampler())",
    "list(data.RandomSampler([1], generator=5))",
    "list(data.WeightedRandomSampler([1, 2], 3, False))",
    "list(data.WeightedRandomSampler([1, -2], 3))",
    "data.default_collate([torch.ones(2), 1])",
    "data.default_collate([1, 'a'])",
    "list(loader(Numbers(), timeout=1))",
    "list(loader([1], generator=5))",
    "len(data.TensorDataset())",
}

SIGNATURES = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "DistributedSampler",
              "RandomSampler", "SequentialSampler", "StackDataset", "Subset",
              "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
              "default_convert", "get_worker_info", "random_split"]
