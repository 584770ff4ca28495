"""Which attributes of objects a captured function reads: those that code which may run mentions."""

import foregrad as fg
import pytest
from capture_compare import leaf, plain


class Holder:
    """Attributes."""


class Trainer:
    """Keeps a model and the batches that it learns from."""

    def __init__(self, batches):
        self.weight = leaf(3)
        self.scale = 2.0
        self.batches = [plain(3) * i for i in range(batches)]

    def loss(self, x):
        return (self.weight * x * self.scale).sum()


def test_what_only_a_constructor_mentions_is_not_read():
    trainer = Trainer(12)
    f = fg.compile(trainer.loss, fullgraph=True)
    before = fg.compiler.counters.captured
    for batch in trainer.batches:
        assert f(batch).item() == trainer.loss(batch).item()
    assert fg.compiler.counters.captured == before + 1
    trainer.scale = 3.0
    assert f(trainer.batches[1]).item() == trainer.loss(trainer.batches[1]).item()


class Scaled:
    """Takes what its constructor reads from elsewhere."""

    default = Holder()

    def __init__(self):
        self.factor = Scaled.default.factor

    def again(self, x):
        return x * type(self)().factor

    def again_by_class(self, x):
        return x * self.__class__().factor


@pytest.mark.parametrize("how", ["name", "type", "class", "member"])
def test_what_a_constructor_reads_when_it_is_called(how):
    Scaled.default.factor = 2
    one, holder = Scaled(), Holder()
    holder.kind = Scaled
    f = fg.compile({"name": lambda x: x * Scaled().factor, "type": one.again,
                    "class": one.again_by_class, "member": lambda x: x * holder.kind().factor}[how],
                   fullgraph=True)
    assert f(fg.ones(1)).item() == 2
    Scaled.default.factor = 5
    assert f(fg.ones(1)).item() == 5
