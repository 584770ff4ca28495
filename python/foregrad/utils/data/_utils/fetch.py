"""Batches of a dataset: by indices, or as many as its stream gives."""

__all__ = []


class _BaseDatasetFetcher:
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last


class _MapDatasetFetcher(_BaseDatasetFetcher):
    def fetch(self, possibly_batched_index):
        dataset = self.dataset
        if not self.auto_collation:
            data = dataset[possibly_batched_index]
        elif getattr(dataset, "__getitems__", None):
            data = dataset.__getitems__(possibly_batched_index)
        else:
            data = [dataset[index] for index in possibly_batched_index]
        return self.collate_fn(data)


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index):
        """The next batch; StopIteration at the end, also instead of a last one that is dropped."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        data = []
        for _ in possibly_batched_index:
            try:
                data.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not data or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(data)
