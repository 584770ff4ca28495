"""State that native code reads is never frozen: it is compared, or the function runs eagerly."""

import array
import collections
import contextvars
import copy
import datetime
import functools
import io
import itertools
import logging
import math
import operator
import os
import queue
import random
import secrets
import sys
import threading
import time
import types
import uuid
import warnings
import weakref
from functools import partial

import foregrad as fg
import numpy as np
import pytest
from capture_compare import plain, versions_of
from foregrad.compiler import CaptureError, counters


class Holder:
    """Attributes, of objects and of the class."""

    shared = 1

    def __init__(self):
        self.k, self.deep = 1, types.SimpleNamespace(k=1)


RANDOM, STATE, GENERATOR = random.Random(3), np.random.RandomState(3), np.random.default_rng(3)
HOLDER, SIZE = Holder(), 1
COUNT, CYCLE = itertools.count(), itertools.cycle([1.0, 2.0, 3.0])
ITEMS, LINES = iter(range(1000)), io.StringIO("".join(f"{i}\n" for i in range(1000)))
CONTEXT, LOCAL = contextvars.ContextVar("context", default=1), threading.local()


def shuffled():
    items = list(range(1000))
    random.shuffle(items)
    return items[0]


DRAWS = {
    "random": lambda: random.random(),
    "uniform": lambda: random.uniform(0, 1),
    "choice": lambda: random.choice(range(10**9)),
    "gauss": lambda: random.gauss(0, 1),
    "shuffle": shuffled,
    "sample": lambda: random.sample(range(10**6), 1)[0],
    "an own Random": lambda: RANDOM.random(),
    "a Random made inside": lambda: random.Random().random(),
    "numpy rand": lambda: np.random.rand(),
    "numpy randn": lambda: np.random.randn(),
    "numpy beta": lambda: np.random.beta(1.0, 1.0),
    "numpy permutation": lambda: int(np.random.permutation(10**6)[0]),
    "numpy choice": lambda: int(np.random.choice(10**9)),
    "a RandomState": lambda: STATE.rand(),
    "a Generator": lambda: GENERATOR.random(),
    "a Generator's shuffle": lambda: float(GENERATOR.permutation(10**6)[0]),
    "a Generator made inside": lambda: np.random.default_rng().random(),
    "time": lambda: time.time(),
    "perf_counter": lambda: time.perf_counter(),
    "monotonic": lambda: time.monotonic_ns() % 10**9,
    "now": lambda: datetime.datetime.now().timestamp(),
    "urandom": lambda: int.from_bytes(os.urandom(4), "little"),
    "uuid4": lambda: uuid.uuid4().int % 10**9,
    "secrets": lambda: secrets.randbelow(10**9),
    "next of a count": lambda: next(COUNT),
    "next of a cycle": lambda: next(CYCLE),
    "next of an iterator": lambda: next(ITEMS),
    "a loop over an iterator": lambda: [i for i in itertools.islice(ITEMS, 1)][0],
    "a line of a file": lambda: int(LINES.readline()),
    "a clock that iter() calls": lambda: next(iter(time.perf_counter, None)),
    "a clock that map() calls": lambda: list(map(operator.methodcaller("__call__"),
                                                 [time.perf_counter]))[0],
    "a clock behind a partial": partial(time.perf_counter),
    "a clock in a list": lambda: [clock() for clock in CLOCKS][0],
    "a clock that is caught": lambda: caught(),
    "a method that another thing calls": lambda: operator.methodcaller("random")(RANDOM),
    "a method that a caller from outside calls": lambda: CALLER(RANDOM),
    "a computed name that starmap calls": lambda: next(
        itertools.starmap(getattr(random, "ran" + "dom"), [()])),
    "a method by a computed name": lambda: next(
        itertools.starmap(getattr(RANDOM, "ran" + "dom"), [()])),
    "an entry of a module that starmap calls": lambda: next(
        itertools.starmap(random.__dict__["random"], [()])),
    "a clock by a computed name": lambda: next(
        itertools.starmap(vars(time)["perf_counter"], [()])),
}
CALLER = operator.methodcaller("random")
CLOCKS = [time.perf_counter]


def caught():
    try:
        return time.perf_counter()
    except RuntimeError:
        return 0.0


@pytest.mark.parametrize("name", DRAWS)
def test_what_differs_from_call_to_call_is_not_frozen(name):
    draw = DRAWS[name]

    def f(x):
        return x * draw()

    why = "every call|changes when|may be read|random numbers|not seen|computed name"
    with pytest.raises(RuntimeError, match=why):
        fg.compile(f, fullgraph=True)(fg.ones(1, dtype=fg.float64))
    compiled = fg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one of equal warnings is enough
        seen = {compiled(fg.ones(1, dtype=fg.float64)).item() for _ in range(3)}
    assert len(seen) == 3 and "runs eagerly" in compiled.compiled.refused


@pytest.mark.parametrize("name", ["random", "gauss", "shuffle", "numpy rand", "numpy randn",
                                  "a RandomState", "a Generator", "next of a count",
                                  "a computed name that starmap calls",
                                  "an entry of a module that starmap calls"])
def test_a_refused_capture_draws_nothing(name):
    global COUNT
    seen = []
    for function in (DRAWS[name], None):
        random.seed(5), np.random.seed(5), STATE.seed(5)
        GENERATOR.bit_generator.state = np.random.default_rng(5).bit_generator.state
        COUNT = itertools.count()
        draw = DRAWS[name]
        f = (lambda x: x * draw()) if function else fg.compile(lambda x: x * draw())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen.append([f(fg.ones(1, dtype=fg.float64)).item() for _ in range(3)])
    assert seen[0] == seen[1]


def set_size(i):
    global SIZE
    SIZE = i


@functools.lru_cache(None)
def remembered():
    return SIZE


def remember_again(i):
    set_size(i)
    remembered.cache_clear()


class Settings(dict):
    k = 1


class Slotted:
    __slots__ = ("k",)


SLOTTED, WEAK, QUEUE = Slotted(), weakref.ref(HOLDER), queue.SimpleQueue()
MODULE = types.ModuleType("settings_of_a_test")
MODULE.SCALE = 1
NAME, GETTER, ITEM = "k", operator.attrgetter("deep.k"), operator.itemgetter("a")
TABLE, NUMBERS, BYTES = {"a": 1}, array.array("d", [1.0]), np.ones(1)
SHOWN, VALUES, SETTINGS = types.MappingProxyType(TABLE), TABLE.values(), Settings()
ORDERED = collections.OrderedDict(a=1)
SPACE, OTHER, THIRD = (types.SimpleNamespace(k=k) for k in (1, 2, 3))
RECORDS = np.rec.array([(1.0,)], dtype=[("a", "f8")])
OF_CLASS = np.ones(1).view(type("OfClass", (np.ndarray,), {}))
OBJECTS = np.array([Holder()], dtype=object)


def imported():
    import settings_of_a_test
    return settings_of_a_test.SCALE


def imported_from():
    from settings_of_a_test import SCALE
    return SCALE


def by_index(index):
    return [-SIZE, SIZE][index]


READS = {
    "getattr": (lambda: getattr(HOLDER, NAME), lambda i: setattr(HOLDER, "k", i)),
    "getattr of a class": (lambda: getattr(Holder, "sha" + "red"),
                           lambda i: setattr(Holder, "shared", i)),
    "getattr of a module": (lambda: getattr(MODULE, "SC" + "ALE"),
                            lambda i: setattr(MODULE, "SCALE", i)),
    "getattr of a slot": (lambda: getattr(SLOTTED, NAME), lambda i: setattr(SLOTTED, "k", i)),
    "vars": (lambda: vars(HOLDER)["k"], lambda i: setattr(HOLDER, "k", i)),
    "vars of a module": (lambda: vars(MODULE)["SCALE"], lambda i: setattr(MODULE, "SCALE", i)),
    "__dict__": (lambda: HOLDER.__dict__["k"], lambda i: setattr(HOLDER, "k", i)),
    "attrgetter": (lambda: GETTER(HOLDER), lambda i: setattr(HOLDER.deep, "k", i)),
    "attrgetter made inside": (lambda: operator.attrgetter("k")(HOLDER),
                               lambda i: setattr(HOLDER, "k", i)),
    "itemgetter": (lambda: ITEM(ORDERED), lambda i: ORDERED.update(a=i)),
    "a format": (lambda: int("{0.k}".format(HOLDER)), lambda i: setattr(HOLDER, "k", i)),
    "lru_cache": (lambda: remembered(), remember_again),
    "an attribute of a dictionary": (lambda: SETTINGS.k, lambda i: setattr(SETTINGS, "k", i)),
    "an array": (lambda: NUMBERS[0], lambda i: NUMBERS.__setitem__(0, i)),
    "a numpy array": (lambda: float(BYTES.sum()), lambda i: BYTES.fill(i)),
    "a mapping proxy": (lambda: SHOWN["a"], lambda i: TABLE.update(a=i)),
    "a view of a dictionary": (lambda: sum(VALUES), lambda i: TABLE.update(a=i)),
    "import": (imported, lambda i: setattr(MODULE, "SCALE", i)),
    "from import": (imported_from, lambda i: setattr(MODULE, "SCALE", i)),
    "a key of sorted": (lambda: sorted([0, 1], key=by_index)[0] + 1, lambda i: set_size(1 - i)),
    "map": (lambda: sum(map(by_index, [1])), set_size),
    "os.environ": (lambda: int(os.environ["SIZE_OF_A_TEST"]),
                   lambda i: os.environ.update(SIZE_OF_A_TEST=str(i))),
    "copy": (lambda: copy.copy(HOLDER).k, lambda i: setattr(HOLDER, "k", i)),
    "the text of a namespace": (lambda: int(str(SPACE)[12:13]), lambda i: setattr(SPACE, "k", i)),
    "a namespace that is compared": (lambda: 1 + (SPACE == OTHER) + 2 * (SPACE == THIRD),
                                     lambda i: setattr(SPACE, "k", i)),
    "an array with fields": (lambda: float(RECORDS.a[0]), lambda i: RECORDS.a.fill(i)),
    "an array of another class": (lambda: float(OF_CLASS[0]), lambda i: OF_CLASS.fill(i)),
}


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setitem(sys.modules, MODULE.__name__, MODULE)
    monkeypatch.setenv("SIZE_OF_A_TEST", "1")


@pytest.mark.parametrize("name", READS)
def test_what_native_code_reads_is_compared_at_every_call(name):
    read, change = READS[name]

    def f(x):
        return x * read()

    compiled = fg.compile(f, fullgraph=True)
    for i in (1, 2, 2, 3):
        change(i)
        assert compiled(fg.ones(1)).item() == f(fg.ones(1)).item()
    assert versions_of(compiled) == 3


class Forward(fg.nn.Module):
    def forward(self, x):
        return x * SIZE


def test_variables_that_only_the_forward_of_a_module_reads():
    module = Forward()
    compiled = fg.compile(module, fullgraph=True)
    for i in (1, 2, 3):
        set_size(i)
        assert compiled(fg.ones(1)).item() == i


REFUSED = {
    "the number of threads": (lambda: fg.get_num_threads(), fg.set_num_threads),
    "errors of numpy": (lambda: 1 if np.geterr()["divide"] == "ignore" else 2,
                        lambda i: np.seterr(divide="ignore" if i == 2 else "warn")),
    "the day of numpy": (lambda: int(np.datetime64("today") > np.datetime64("2000-01-01")) + SIZE,
                         set_size),
    "globals": (lambda: globals()["SIZE"], set_size),
    "eval": (lambda: eval("SIZE"), set_size),
    "sys.modules": (lambda: sys.modules["settings_of_a_test"].SCALE,
                    lambda i: setattr(MODULE, "SCALE", i)),
    "__import__": (lambda: __import__("settings_of_a_test").SCALE,
                   lambda i: setattr(MODULE, "SCALE", i)),
    "a context variable": (lambda: CONTEXT.get(), lambda i: CONTEXT.set(i)),
    "a thread's own": (lambda: LOCAL.k, lambda i: setattr(LOCAL, "k", i)),
    "a file": (lambda: int(open(HOLDER.path).read()), lambda i: HOLDER.path.write_text(str(i))),
    "a path": (lambda: int(HOLDER.path.read_text()), lambda i: HOLDER.path.write_text(str(i))),
    "its thread": (lambda: threading.get_ident() % 2 + SIZE, set_size),
    "a weak reference": (lambda: WEAK().k, lambda i: setattr(HOLDER, "k", i)),
    "a queue": (lambda: QUEUE.get() + SIZE, lambda i: QUEUE.put(0) or QUEUE.put(0) or set_size(i)),
    "a large array": (lambda: float(HOLDER.large[0]), lambda i: HOLDER.large.fill(i)),
    "an array of objects": (lambda: OBJECTS[0].k, lambda i: setattr(OBJECTS[0], "k", i)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compared_runs_eagerly(name, tmp_path, request):
    read, change = REFUSED[name]
    HOLDER.path, HOLDER.large = tmp_path / "number", np.ones(10**5)
    request.addfinalizer(lambda before=fg.get_num_threads(): fg.set_num_threads(before))
    request.addfinalizer(lambda before=np.geterr(): np.seterr(**before))

    def f(x):
        return x * read()

    for _ in range(3):  # there is enough in the queue for all calls
        change(1)
    with pytest.raises(RuntimeError):
        fg.compile(f, fullgraph=True)(fg.ones(1))
    compiled = fg.compile(f)
    with pytest.warns(UserWarning, match="runs eagerly"):
        compiled(fg.ones(1))
    for i in (2, 3):
        change(i)
        assert compiled(fg.ones(1)).item() == f(fg.ones(1)).item()


def ordinary(x, names=("a", "b")):
    total, text = 0.0, []
    for i, (name, (key, value)) in enumerate(zip(names, {"x": 1, "y": 2}.items())):
        text.append(f"{name}{key:>3}".strip().upper())
        total += math.sqrt(value) + max(i, len(text)) + abs(-value) + int("3") + ord(name)
    pairs = sorted(itertools.product(range(2), repeat=2), key=operator.itemgetter(1), reverse=True)
    total += sum(a * b for a, b in pairs) + functools.reduce(operator.add, [1, 2, 3])
    found = collections.Counter(text).most_common(1)[0][1] + collections.deque([1, 2]).popleft()
    if isinstance(x, fg.Tensor) and hasattr(x, "shape") and all(map(str.isupper, text)):
        total += round(math.pi, 2) + divmod(7, 2)[1] + found + len(set(names) | {"c"})
    total += float(np.arange(3).sum() + np.sqrt(np.array([4.0]))[0]) + datetime.date(2020, 1, 2).day
    logging.getLogger("a test").warning("logged")
    print("printed", file=sys.stderr)
    with threading.Lock():
        return x * total


def test_ordinary_calls_of_native_functions_are_captured(caplog):
    compiled, before = fg.compile(ordinary, fullgraph=True), counters.eager
    for _ in range(3):
        assert compiled(plain(3)).equal(ordinary(plain(3)))
    assert versions_of(compiled) == 1 and counters.eager == before


def test_what_is_mentioned_but_not_called_is_captured():
    def f(x, training=False):
        if training and random.random() < 0.5:
            return x * time.time() + np.random.rand() + GENERATOR.random()
        return x * 2

    assert fg.compile(f, fullgraph=True)(fg.ones(2)).tolist() == [2.0, 2.0]


def test_the_refusal_names_the_function_and_the_line():
    def f(x):
        return x * random.uniform(0, 1)

    with pytest.raises(CaptureError, match=r"Random.random\(\) is called, which may give something "
                                           "else at every call; call it outside and pass"):
        fg.compile(f, fullgraph=True)(fg.ones(1))
    with pytest.warns(UserWarning, match=r"capture_native_test.py:\d+\)$"):
        fg.compile(f)(fg.ones(1))


def test_a_backward_that_draws_is_refused():
    class Noisy(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * random.random()

    with pytest.raises(RuntimeError, match="every call"):
        x = fg.ones(1, requires_grad=True)
        fg.compile(lambda x: Noisy.apply(x), fullgraph=True)(x).sum().backward()


def test_a_tensor_that_lru_cache_keeps_is_real():
    @functools.lru_cache(None)
    def mask(size):
        return fg.ones(size) * 2

    compiled = fg.compile(lambda x: x * mask(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            assert compiled(fg.ones(3)).tolist() == [2.0] * 3
    assert mask(3).tolist() == [2.0] * 3


@pytest.mark.parametrize("size", [None, 128])
def test_an_lru_cache_that_is_cleared_and_filled_again(size):
    @functools.lru_cache(size)
    def remembered_of(key):
        return [SIZE, key]

    compiled = fg.compile(lambda x: x * remembered_of(1)[0], fullgraph=True)
    for i in (1, 2, 3):
        set_size(i)
        remembered_of.cache_clear()
        remembered_of(1)  # once each time, and before the capture
        set_size(0)
        assert compiled(fg.ones(1)).item() == i


def test_functions_that_are_found_by_a_computed_name_are_followed():
    def f(x):
        return getattr(MODULE, "by_" + "index")(1) * x

    MODULE.by_index = by_index
    compiled = fg.compile(f, fullgraph=True)
    for i in (1, 2):
        set_size(i)
        assert compiled(fg.ones(1)).item() == i


def test_profilers_go_on_while_a_function_is_captured():
    seen = set()
    sys.setprofile(lambda frame, event, argument: seen.add(frame.f_code.co_name))
    try:
        fg.compile(ordinary, fullgraph=True)(plain(3))
        here = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert here is not None and {"ordinary", "trace"} <= seen


@pytest.mark.parametrize("size", [None, 128])
def test_keys_of_an_lru_cache_and_what_is_done_to_its_results(size):
    @functools.lru_cache(size)
    def remembered_of(key):
        return {"factor": SIZE * key}

    compiled = fg.compile(lambda x: x * remembered_of(1)["factor"], fullgraph=True)
    for keys in ((1, 2), (2, 1)):
        remembered_of.cache_clear()
        for key in keys:
            set_size(2 if key == keys[0] else 3)
            remembered_of(key)
        expected = remembered_of(1)["factor"]
        assert compiled(fg.ones(1)).item() == expected
    remembered_of(1)["factor"] = 7
    assert compiled(fg.ones(1)).item() == 7
    before = versions_of(compiled)
    for key in (2, 1, 2):
        remembered_of(key)  # a hit is no change
        assert compiled(fg.ones(1)).item() == 7 and versions_of(compiled) == before


def test_a_large_lru_cache_is_not_compared():
    @functools.lru_cache(None)
    def remembered_of(key):
        return key

    for key in range(2000):
        remembered_of(key)
    with pytest.raises(RuntimeError, match="lru_cache of more than 1000 entries"):
        fg.compile(lambda x: x * remembered_of(3), fullgraph=True)(fg.ones(1))


def test_an_lru_cache_with_another_function_behind_it_is_refused():
    @functools.lru_cache
    def remembered_of(key):
        return key

    remembered_of.__wrapped__ = ordinary
    with pytest.raises(RuntimeError, match="whose __wrapped__ is not the function that it calls"):
        fg.compile(lambda x: x * remembered_of(3), fullgraph=True)(fg.ones(1))


def test_generators_that_other_threads_draw_from_are_left_alone():
    drawn, stop = [], threading.Event()

    def draw():
        while not stop.wait(0.0002):
            drawn.append(random.random())

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for i in range(30):
            model = fg.nn.Sequential(fg.nn.Linear(3, 3), fg.nn.Tanh(), fg.nn.Linear(3, 3))
            fg.compile(model, fullgraph=True, backend="interpreter")(fg.ones(2, 3))
    finally:
        stop.set()
        thread.join()
    assert len(set(drawn)) == len(drawn)


class Setup:
    """Attributes that functions ask for by name."""

    k, debug, p, training = 2, False, 0.5, False


def profiled(x, self=Setup):
    if self.debug:
        print(time.time())
    return x.max() * getattr(self, "k", 2)


def augmented(x, self=Setup):
    if self.training and random.random() < self.p:
        return x
    return x.sub(1).max() * getattr(self, "k")


def layered(x, self=Setup):
    total = min(self.k, 3) + sys.flags.debug
    for name in sorted("k"):
        total += getattr(self, name)
    return x * total


def ordered(x):
    objects = sorted([Holder(), Holder()], key=operator.attrgetter("k"))
    return x * objects[0].k * float(np.linspace(0, 1, 3).mean())


@pytest.mark.parametrize("function", [profiled, augmented, layered, ordered])
def test_computed_names_beside_modules_of_python_are_captured(function):
    assert fg.compile(function, fullgraph=True)(plain(3)).equal(function(plain(3)))
