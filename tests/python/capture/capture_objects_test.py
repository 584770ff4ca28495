"""Attributes of objects that a captured function reads: those that reachable code mentions."""

import types

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


class First:
    """One of two classes that an object may be of."""

    def factor(self):
        return 2


class Second:
    """The other one."""

    def factor(self):
        return 3


class Heir(First):
    """Takes its factor from another class."""


class FirstLayer(fg.nn.Module):
    """One of two layers."""

    def forward(self, x):
        return x * 2


class SecondLayer(fg.nn.Module):
    """The other one."""

    def forward(self, x):
        return x * 3


class Meta(type):
    """A class whose attributes its classes have, too."""

    shared = 2


class OfMeta(metaclass=Meta):
    """Has what its class has."""


def changed_twin(f, change, x):
    """Asserts that compiled f has the results of eager f, before and after a change."""
    g, before = fg.compile(f, fullgraph=True, backend="interpreter"), f(x).tolist()
    assert g(x).tolist() == before
    change()
    assert g(x).tolist() == f(x).tolist() != before


def test_an_object_that_becomes_one_of_another_class():
    one, model = First(), fg.nn.Sequential(FirstLayer())
    changed_twin(lambda x: x * one.factor(), lambda: setattr(one, "__class__", Second), fg.ones(2))
    changed_twin(model, lambda: setattr(model[0], "__class__", SecondLayer), fg.ones(2))


def test_a_class_that_inherits_from_another_one():
    one = Heir()
    changed_twin(lambda x: x * one.factor(), lambda: setattr(Heir, "__bases__", (Second,)),
                 fg.ones(2))


def test_attributes_of_the_class_of_a_class():
    changed_twin(lambda x: x * OfMeta.shared, lambda: setattr(Meta, "shared", 3), fg.ones(2))


def helper():
    """Has attributes."""


@pytest.mark.parametrize("of", [Holder(), helper], ids=["object", "function"])
def test_another_dictionary_of_attributes(of):
    of.factor = 2
    changed_twin(lambda x: x * of.factor, lambda: setattr(of, "__dict__", {"factor": 3}),
                 fg.ones(2))


def test_an_attribute_of_a_tensor_that_changes():
    of = fg.ones(2)
    of.factor = 2
    changed_twin(lambda x: x * of.factor, lambda: setattr(of, "factor", 3), fg.ones(2))


@pytest.mark.parametrize("of", [Holder(), helper, fg.ones(2)], ids=["object", "function", "tensor"])
def test_attributes_that_come_later(of):
    changed_twin(lambda x: x * getattr(of, "later", 2), lambda: setattr(of, "later", 3), fg.ones(2))
    changed_twin(lambda x: x * 2 if hasattr(of, "last") else x, lambda: setattr(of, "last", 3),
                 fg.ones(2))


def test_another_tensor_with_attributes():
    holder, other = Holder(), fg.ones(2)
    holder.tensor, other.factor = fg.ones(2), 3
    changed_twin(lambda x: x * holder.tensor * getattr(holder.tensor, "factor", 2),
                 lambda: setattr(holder, "tensor", other), fg.ones(2))
    plain_again = fg.ones(2)
    changed_twin(lambda x: x * holder.tensor * getattr(holder.tensor, "factor", 2),
                 lambda: setattr(holder, "tensor", plain_again), fg.ones(2))


def test_attributes_that_nothing_mentions_are_no_reason_for_a_version():
    weight = fg.ones(2)
    f = fg.compile(lambda x: x * weight * getattr(weight, "factor", 2), fullgraph=True,
                   backend="interpreter")
    f(fg.ones(2))
    before = fg.compiler.counters.captured
    weight.tag = "of an optimiser"
    assert f(fg.ones(2)).tolist() == [2, 2] and fg.compiler.counters.captured == before


def test_an_attribute_that_hides_the_one_of_the_class_of_a_class():
    class Own(metaclass=Meta):
        """Gets one of its own."""

    changed_twin(lambda x: x * Own.shared, lambda: setattr(Own, "shared", 5), fg.ones(2))


class FirstList(list):
    """A list without a dictionary of attributes."""

    __slots__ = ()

    def factor(self):
        return 2


class SecondList(list):
    """Another one."""

    __slots__ = ()

    def factor(self):
        return 3


class Counting(types.ModuleType):
    """A module with a property."""

    @property
    def factor(self):
        return 3


def test_lists_and_modules_that_become_those_of_another_class():
    one, module = FirstList(), types.ModuleType("settings_of_a_test")
    module.other = 2
    changed_twin(lambda x: x * one.factor(), lambda: setattr(one, "__class__", SecondList),
                 fg.ones(2))
    changed_twin(lambda x: x * getattr(module, "factor", 2),
                 lambda: setattr(module, "__class__", Counting), fg.ones(2))


class Answers(type):
    """A class whose classes have attributes of all names."""

    def __getattr__(cls, name):
        return 5


class Answering(metaclass=Answers):
    """Has all attributes."""


def test_classes_that_answer_to_every_name():
    f = fg.compile(lambda x: x * Answering.anything, fullgraph=True, backend="interpreter")
    assert f(fg.ones(2)).tolist() == [5, 5]


def test_attributes_of_functions_that_nothing_mentions_are_no_reason_for_a_version():
    def tagged():
        """Gets attributes."""

    tagged.first = 1
    f = fg.compile(lambda x: x * getattr(tagged, "factor", 2), fullgraph=True,
                   backend="interpreter")
    f(fg.ones(2))
    before = fg.compiler.counters.captured
    for i in range(10):
        setattr(tagged, f"tag{i}", i)
        assert f(fg.ones(2)).tolist() == [2, 2]
    assert fg.compiler.counters.captured == before
