"""fg.compiler.compile_step: a training step as one program, with PyTorch's numbers and names."""

import copy
import gc
import pickle
import warnings
import weakref

import foregrad as fg
import pytest
from foregrad.compiler import SGD, Adagrad, Adam, AdamW, RMSprop, compile_step, counters

RATES = [0.1 / (i + 1) for i in range(12)]


def filled(*shape, start=-0.7, dtype=fg.float32):
    count = 1
    for size in shape:
        count *= size
    return fg.tensor([start + 0.37 * (i % 7) for i in range(count)], dtype=dtype).reshape(shape)


class Model:
    def __init__(self, dtype=fg.float32):
        self.w1, self.b1, self.w2 = (filled(*shape, dtype=dtype).requires_grad_()
                                     for shape in ((6, 5), (5,), (5, 3)))

    def parameters(self):
        yield from (self.w1, self.b1, self.w2)

    def loss(self, x, y):
        return ((x @ self.w1 + self.b1).tanh() @ self.w2 - y).pow(2).mean()


def batch(i, dtype=fg.float32):
    return filled(4, 6, start=0.1 * i, dtype=dtype), filled(4, 3, start=-0.3 * i, dtype=dtype) * 3


def bits(tensors):
    return [t.tolist() for t in tensors]


def versions_of(step):
    return len(step._run.compiled.versions)


SETTINGS = [AdamW(), AdamW(betas=(0.8, 0.9), eps=1e-3, weight_decay=0.3), AdamW(amsgrad=True),
            AdamW(maximize=True), Adam(), Adam(weight_decay=0.1), SGD(),
            SGD(momentum=0.9), SGD(weight_decay=0.1, maximize=True),
            SGD(momentum=0.9, dampening=0.3, weight_decay=0.1), SGD(momentum=0.9, nesterov=True),
            RMSprop(weight_decay=0.1), RMSprop(momentum=0.9, centered=True),
            Adagrad(lr_decay=0.1, initial_accumulator_value=0.1)]


@pytest.mark.parametrize("dtype", [fg.float32, fg.float64, fg.bfloat16], ids=str)
@pytest.mark.parametrize("clip", [{}, {"clip_norm": 0.5}, {"clip_value": 0.02}], ids=str)
@pytest.mark.parametrize("optimizer", SETTINGS, ids=str)
def test_a_step_has_the_bits_of_the_eager_step_at_any_rate(optimizer, clip, dtype):
    compiled, eager = Model(dtype), Model(dtype)
    step = compile_step(compiled.loss, compiled, optimizer, fullgraph=True, **clip)
    plain = compile_step(eager.loss, eager, optimizer, disable=True, **clip)
    for i, lr in enumerate(RATES):
        step.lr = plain.lr = lr
        assert step(*batch(i, dtype)).item() == plain(*batch(i, dtype)).item()
        assert bits(compiled.parameters()) == bits(eager.parameters())
        assert (step.grad_norm is None) == ("clip_norm" not in clip)
        assert step.grad_norm is None or step.grad_norm.item() == plain.grad_norm.item()
    for ours, theirs in zip(step.state.values(), plain.state.values()):
        assert ours.keys() == theirs.keys()
        assert bits(ours.values()) == bits(theirs.values())
    assert versions_of(step) == 1
    assert all(p.grad is None for p in compiled.parameters())


def test_settings_are_printed_compared_and_changed():
    settings = AdamW(lr=0.5)
    assert repr(settings) == ("AdamW(lr=0.5, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, "
                              "amsgrad=False, maximize=False)")
    assert settings == AdamW(0.5) and settings != AdamW() and settings != Adam(lr=0.5)
    assert repr(SGD()) == ("SGD(lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, "
                           "nesterov=False, maximize=False)")
    settings.lr = 0.001
    assert settings == AdamW()
    with pytest.raises(TypeError, match="unhashable"):
        hash(settings)


def test_rates_counts_limits_and_settings_compile_nothing_anew():
    model = Model()
    step = compile_step(model.loss, model, AdamW(), clip_norm=1.0, fullgraph=True)
    before = counters.captured
    for i in range(20):
        step.lr, step.clip_norm = 0.1 / (i + 1), 1.0 + i
        step.param_groups[0]["betas"] = (0.9 - i / 100, 0.999)
        step.param_groups[0]["weight_decay"] = 0.01 * i
        step(*batch(i))
    assert counters.captured - before == 1
    assert step.lr == 0.1 / 20


def test_adamw_follows_the_formula_of_the_paper():
    w = fg.tensor([1.0, -2.0], dtype=fg.float64, requires_grad=True)
    step = compile_step(lambda: (w * w).sum() / 2, [w], AdamW(lr=0.1, weight_decay=0.5))
    p, m, v = [1.0, -2.0], [0.0, 0.0], [0.0, 0.0]
    for t in range(1, 8):
        step()
        for i, g in enumerate(list(p)):
            p[i] *= 1 - 0.1 * 0.5
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            p[i] -= 0.1 * (m[i] / (1 - 0.9 ** t)) / ((v[i] / (1 - 0.999 ** t)) ** 0.5 + 1e-8)
        assert w.tolist() == pytest.approx(p, rel=1e-12)


def test_the_norm_is_that_of_all_gradients_and_they_are_scaled_to_the_limit():
    a = fg.zeros(2, requires_grad=True)
    b = fg.zeros(1, requires_grad=True)
    step = compile_step(lambda: (a * fg.tensor([3.0, 0.0])).sum() + (b * 4).sum(), [a, b],
                        SGD(lr=1.0), clip_norm=2.5)
    step()
    assert step.grad_norm.item() == 5.0
    assert a.tolist() + b.tolist() == pytest.approx([-1.5, 0.0, -2.0], rel=1e-6)


def test_data_of_other_sizes_is_another_version_with_the_same_state():
    model, other = Model(), Model()
    step = compile_step(model.loss, model, AdamW(), fullgraph=True)
    plain = compile_step(other.loss, other, AdamW(), disable=True)
    for i in range(6):
        x, y = batch(i)
        x, y = x[:2 + i % 2], y[:2 + i % 2]
        assert step(x, y).item() == plain(x, y).item()
    assert bits(model.parameters()) == bits(other.parameters())
    assert versions_of(step) == 2
    assert [s["step"].item() for s in step.state.values()] == [6, 6, 6]


def test_what_the_loss_function_returns_comes_back_detached():
    model = Model()

    def loss(x, y, scale=1.0):
        hidden = (x @ model.w1 + model.b1).tanh()
        return (hidden @ model.w2 - y).pow(2).mean() * scale, {"hidden": hidden, "name": "tanh"}, 3

    step = compile_step(loss, model, AdamW(), fullgraph=True)
    (expected, about, _) = loss(*batch(1), scale=0.5)
    found, more, three = step(*batch(1), scale=0.5)
    assert found.item() == expected.item() and three == 3 and more["name"] == "tanh"
    assert more["hidden"].tolist() == about["hidden"].tolist()
    assert not found.requires_grad and not more["hidden"].requires_grad


def test_parameters_without_gradient_are_left_alone():
    model = Model()
    unused = filled(4).requires_grad_()
    frozen = filled(3)
    before = unused.tolist(), frozen.tolist()
    step = compile_step(lambda x, y: model.loss(x, y) + frozen.sum(),
                        [*model.parameters(), unused, frozen], AdamW(lr=0.1), fullgraph=True)
    for i in range(4):
        step(*batch(i))
    assert (unused.tolist(), frozen.tolist()) == before
    assert set(step.state) == set(model.parameters())
    assert versions_of(step) == 2  # one more, where counts of steps differ
    frozen.requires_grad_()
    step(*batch(0))
    assert frozen.tolist() != before[1] and step.state[frozen]["step"].item() == 1
    assert step.state[model.w1]["step"].item() == 5


def test_a_loss_that_depends_on_no_parameter_changes_nothing():
    other = filled(3).requires_grad_()
    parameter = filled(3).requires_grad_()
    step = compile_step(lambda: other.sum(), [parameter], AdamW(), clip_norm=1.0, fullgraph=True)
    for _ in range(2):
        assert step().item() == pytest.approx(other.sum().item())
    assert parameter.tolist() == filled(3).tolist() and step.state == {}
    assert step.grad_norm.item() == 0 and step.grad_norm.dtype == fg.float32


def test_parameters_of_modules_are_updated():
    weight = fg.nn.Parameter(filled(3))
    step = compile_step(lambda x: (weight * x).sum(), [weight], SGD(lr=0.5), fullgraph=True)
    step(fg.ones(3))
    assert weight.tolist() == (filled(3) - 0.5).tolist() and type(weight) is fg.nn.Parameter


def test_fields_grad_are_neither_read_nor_written():
    model = Model()
    model.w1.grad = fg.ones(6, 5)
    step = compile_step(model.loss, model, SGD())
    step(*batch(0))
    assert model.w1.grad.tolist() == fg.ones(6, 5).tolist() and model.b1.grad is None


@pytest.mark.parametrize("form", ["list", "dict", "generator", "named", "object", "groups"])
def test_parameters_may_come_in_many_forms(form):
    model, other = Model(), Model()
    names = ["w1", "b1", "w2"]
    given = {"list": list(model.parameters()), "dict": {n: getattr(model, n) for n in names},
             "generator": model.parameters(), "named": [(n, getattr(model, n)) for n in names],
             "object": model,
             "groups": [{"params": [model.w1, model.b1]}, {"params": model.w2}]}[form]
    step = compile_step(model.loss, given, AdamW(), fullgraph=True)
    plain = compile_step(other.loss, other, AdamW(), disable=True)
    for i in range(3):
        step(*batch(i)), plain(*batch(i))
    assert bits(model.parameters()) == bits(other.parameters())
    names_given = step.param_groups[0].get("param_names")
    assert names_given == (names if form in ("dict", "named") else None)


def test_groups_have_settings_of_their_own():
    model, other = Model(), Model()

    def groups(m):
        return [{"params": [m.w1, m.w2], "weight_decay": 0.5}, {"params": [m.b1], "lr": 0.2}]

    step = compile_step(model.loss, groups(model), AdamW(lr=0.1), fullgraph=True)
    plain = compile_step(other.loss, groups(other), AdamW(lr=0.1), disable=True)
    for i in range(5):
        step.param_groups[1]["lr"] = plain.param_groups[1]["lr"] = 0.2 / (i + 1)
        step(*batch(i)), plain(*batch(i))
        assert bits(model.parameters()) == bits(other.parameters())
    assert versions_of(step) == 1
    assert [g["lr"] for g in step.param_groups] == [0.1, 0.2 / 5]
    assert [g["weight_decay"] for g in step.param_groups] == [0.5, 0.01]


@pytest.mark.parametrize("optimizer", [AdamW(lr=0.1, amsgrad=True), SGD(lr=0.1, momentum=0.9),
                                       SGD(lr=0.1)], ids=str)
def test_a_state_dict_goes_on_where_it_was(optimizer):
    model, other = Model(), Model()
    first = compile_step(model.loss, model, optimizer, fullgraph=True)
    for i in range(3):
        first(*batch(i))
    saved = pickle.loads(pickle.dumps(first.state_dict()))
    second = compile_step(other.loss, other, type(optimizer)(lr=1.0), fullgraph=True)
    second.load_state_dict(saved)
    with fg.no_grad():
        for mine, theirs in zip(other.parameters(), model.parameters()):
            mine.copy_(theirs)
    for i in range(3, 6):
        assert first(*batch(i)).item() == second(*batch(i)).item()
    assert bits(model.parameters()) == bits(other.parameters())
    assert second.lr == 0.1


def test_names_are_those_of_pytorch():
    model = Model()
    step = compile_step(model.loss, model, AdamW(amsgrad=True))
    assert step.state == {} and step.state_dict()["state"] == {}
    step(*batch(0))
    saved = step.state_dict()
    assert set(saved["state"][0]) == {"step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"}
    assert saved["param_groups"] == [{"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8,
                                      "weight_decay": 1e-2, "amsgrad": True, "maximize": False,
                                      "params": [0, 1, 2]}]
    momentum = compile_step(model.loss, model, SGD(momentum=0.9))
    momentum(*batch(0))
    assert set(momentum.state[model.w1]) == {"momentum_buffer"}


def test_what_the_loss_function_reads_is_read_again():
    model, scale = Model(), 1.0
    step = compile_step(lambda x, y: model.loss(x, y) * scale, model, SGD(lr=0.0), fullgraph=True)
    first = step(*batch(1)).item()
    scale = 2.0
    assert step(*batch(1)).item() == 2 * first
    model.b1 = filled(5, start=3.0).requires_grad_()  # no parameter of the step any more
    assert step(*batch(1)).item() == 2 * model.loss(*batch(1)).item()


def test_what_cannot_be_captured_runs_eagerly_with_a_warning():
    model, other = Model(), Model()

    def loss_that_decides(x, y):
        return model.loss(x, y) if x.sum().item() > 0 else model.loss(x, y) * 1

    step = compile_step(loss_that_decides, model, AdamW())
    plain = compile_step(other.loss, other, AdamW(), disable=True)
    eager = counters.eager
    with pytest.warns(UserWarning, match=r"compile_step\(.*loss_that_decides\) runs eagerly"):
        step(*batch(0))
    step(*batch(1))
    plain(*batch(0)), plain(*batch(1))
    assert counters.eager - eager == 2
    assert bits(model.parameters()) == bits(other.parameters())
    strict = compile_step(loss_that_decides, model, AdamW(), fullgraph=True)
    with pytest.raises(RuntimeError, match="value of a tensor is asked for"):
        strict(*batch(0))


def test_a_norm_that_is_not_finite_is_refused_before_anything_is_written():
    w = filled(3).requires_grad_()
    step = compile_step(lambda x: (w * x).sum(), [w], AdamW(), clip_norm=1.0,
                        error_if_nonfinite=True, fullgraph=True)
    step(fg.ones(3))
    before = w.tolist(), copy.deepcopy(step.state_dict()["state"][0]["exp_avg"]).tolist()
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        step(fg.ones(3) * fg.nan)
    assert (w.tolist(), step.state[w]["exp_avg"].tolist()) == before
    assert step.state[w]["step"].item() == 1
    step(fg.ones(3))
    assert step.state[w]["step"].item() == 2


def test_nothing_stays_when_a_step_goes():
    model = Model()
    step = compile_step(lambda x, y: model.loss(x, y), model, AdamW())
    step(*batch(0))
    watched = weakref.ref(model)
    del step, model
    gc.collect()
    assert watched() is None


W = filled(3).requires_grad_()


@pytest.mark.parametrize("make, error, text", [
    (lambda: AdamW(lr=-0.5), ValueError, "AdamW: Invalid learning rate: -0.5; expected"),
    (lambda: AdamW(betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1"),
    (lambda: AdamW(betas=(0.9, -1)), ValueError, "Invalid beta parameter at index 1: -1"),
    (lambda: AdamW(eps=-1), ValueError, "Invalid epsilon value: -1"),
    (lambda: AdamW(weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
    (lambda: AdamW(lr="fast"), TypeError, "AdamW: expected numbers, two betas and bools, got"),
    (lambda: SGD(momentum=-1), ValueError, "SGD: Invalid momentum value: -1"),
    (lambda: SGD(nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero"),
    (lambda: compile_step(W.sum, [], SGD()), ValueError, "optimizer got an empty parameter list"),
    (lambda: compile_step(W.sum, W, SGD()), TypeError, "should be an iterable of Tensors or dicts"),
    (lambda: compile_step(W.sum, 3, SGD()), TypeError, "or an object with parameters(), got int"),
    (lambda: compile_step(W.sum, [W, 3], SGD()), TypeError, "can only optimize Tensors, but one"),
    (lambda: compile_step(W.sum, [W * 2], SGD()), ValueError, "can't optimize a non-leaf Tensor"),
    (lambda: compile_step(W.sum, [W, W], SGD()), ValueError, "appear in more than one parameter g"),
    (lambda: compile_step(W.sum, [{"lr": 1}], SGD()), TypeError, "a dictionary with 'params'"),
    (lambda: compile_step(W.sum, [{"params": [W], "rate": 1}], SGD()), ValueError, "['rate']"),
    (lambda: compile_step(W.sum, [{"params": [W], "lr": -1}], SGD()), ValueError, "rate: -1"),
    (lambda: compile_step(W.sum, [W], 1e-3), TypeError,
     "RAdam(...), RMSprop(...), Rprop(...) or SGD(...) of foregrad.compiler, got float"),
    (lambda: compile_step(3, [W], SGD()), TypeError, "expected a loss function, got int"),
    (lambda: compile_step(W.sum, [W], SGD(), clip_norm=1, clip_value=1)(), ValueError,
     "got both clip_norm and clip_value"),
    (lambda: compile_step(W.sum, [filled(3)], SGD())(), ValueError, "none of the parameters req"),
    (lambda: compile_step(lambda: W * 2, [W], SGD(), fullgraph=True)(), RuntimeError,
     "only for scalar outputs"),
    (lambda: compile_step(lambda: 3, [W], SGD(), fullgraph=True)(), TypeError,
     "the loss function returned a int"),
    (lambda: compile_step(lambda: (), [W], SGD(), fullgraph=True)(), TypeError, "a tuple"),
])
def test_what_is_refused(make, error, text):
    with pytest.raises(error) as found:
        make()
    assert text in str(found.value)


def test_a_rate_that_is_refused_changes_nothing():
    step = compile_step(lambda: (W * 2).sum(), [W], AdamW())
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        step.lr = -1
    assert step.lr == 1e-3
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        step.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})
    with pytest.raises(ValueError, match="'exp_avg_sq' is missing in the state of parameter 0"):
        step.load_state_dict({"state": {0: {"exp_avg": fg.zeros(3)}},
                              "param_groups": [{"params": [0]}]})


def test_a_step_inside_of_a_compiled_function_is_refused():
    step = compile_step(lambda: (W * 2).sum(), [W], AdamW())
    with pytest.raises(RuntimeError, match="call it outside of compiled functions"):
        fg.compile(lambda x: step() * x, fullgraph=True)(fg.ones(1))


def test_a_loss_that_fails_is_told_as_it_is():
    def loss(x):
        return (W * x).sum()

    step = compile_step(loss, [W], AdamW())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="broadcast|size"):
            step(fg.ones(4))
