"""foregrad.optim: PyTorch's groups, states and schedules; formulas are those of compile_step."""

import copy
import importlib
import inspect
import io
import math
import pickle

import foregrad as fg
import pytest

nn, optim = fg.nn, fg.optim
schedules = optim.lr_scheduler


def parameter(*values):
    return nn.Parameter(fg.tensor(values, dtype=fg.float64))


def train(p, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()


def test_sgd_follows_its_formula():
    p = parameter(1.0, -2.0)
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9, weight_decay=0.5)
    values, buffer = [1.0, -2.0], [0.0, 0.0]
    for step in range(5):
        train(p, optimizer, 1)
        for i, value in enumerate(list(values)):
            gradient = 2 * value + 0.5 * value
            buffer[i] = gradient if step == 0 else 0.9 * buffer[i] + gradient
            values[i] -= 0.1 * buffer[i]
        assert p.tolist() == pytest.approx(values, rel=1e-12)


def test_states_have_pytorchs_form():
    p = parameter(1.0)
    plain, moving, adam = optim.SGD([p]), optim.SGD([p], momentum=0.9), optim.AdamW([p])
    for optimizer in (plain, moving, adam):
        train(p, optimizer, 2)
    assert plain.state_dict()["state"] == {}
    assert list(moving.state_dict()["state"][0]) == ["momentum_buffer"]
    state = adam.state_dict()
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]
    assert state["state"][0]["step"].item() == 2
    assert state["state"][0]["step"].dtype is fg.float32
    assert state["param_groups"] == [{
        "lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2, "amsgrad": False,
        "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
        "fused": None, "decoupled_weight_decay": True, "params": [0]}]


def through_a_file(state):
    file = io.BytesIO()
    fg.save(state, file)
    file.seek(0)
    return fg.load(file)


@pytest.mark.parametrize("again", [copy.deepcopy, through_a_file,
                                   lambda s: pickle.loads(pickle.dumps(s))],
                         ids=["copy", "file", "pickle"])
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_a_state_that_is_loaded_goes_on_with_the_same_bits(kind, again):
    settings = {"SGD": {"momentum": 0.9}, "RMSprop": {"momentum": 0.9, "centered": True},
                "Adagrad": {"lr_decay": 0.1}}.get(kind, {"amsgrad": True})
    p = parameter(1.0, 2.0)
    first = getattr(optim, kind)([p], lr=0.1, **settings)
    train(p, first, 3)
    q = nn.Parameter(p.detach().clone())
    second = getattr(optim, kind)([q], lr=99.0)
    second.load_state_dict(again(first.state_dict()))
    train(p, first, 3)
    train(q, second, 3)
    assert p.equal(q)
    assert second.state_dict()["param_groups"] == first.state_dict()["param_groups"]


def test_the_state_of_a_compiled_step_and_of_an_optimiser_are_interchangeable():
    p = parameter(1.0, 2.0)
    step = fg.compiler.compile_step(lambda: (p * p).sum(), [p], fg.compiler.AdamW(lr=0.1))
    for _ in range(3):
        step()
    q = nn.Parameter(p.detach().clone())
    optimizer = optim.AdamW([q], lr=0.1)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": step.state_dict()["state"]})
    for _ in range(3):
        step()
    train(q, optimizer, 3)
    assert p.equal(q)
    step.load_state_dict(optimizer.state_dict())
    assert [s["step"].item() for s in step.state.values()] == [6]


def test_old_states_count_steps_with_numbers():
    p = parameter(1.0)
    optimizer = optim.Adam([p])
    train(p, optimizer, 1)
    optimizer.state[p]["step"] = 1
    train(p, optimizer, 1)
    assert optimizer.state[p]["step"].item() == 2


def test_what_is_refused():
    p = parameter(1.0)
    for make, error, text in [
            (lambda: optim.SGD([p], lr=-1), ValueError, "SGD: Invalid learning rate: -1"),
            (lambda: optim.Adam([p], betas=(0.9, 1.0)), ValueError, "Invalid beta parameter at"),
            (lambda: optim.SGD([{"params": [p], "lr": -2}]), ValueError, "rate: -2"),
            (lambda: optim.SGD([{"params": [p]}, {"params": [p]}]), ValueError, "more than one"),
            (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
            (lambda: optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
            (lambda: optim.SGD(p), TypeError, "should be an iterable of Tensors or dicts"),
            (lambda: optim.AdamW([p], lr="fast"), TypeError, "AdamW: expected numbers, two betas"),
            (lambda: optim.SGD([p], momentum="x"), TypeError, "got {'lr': 0.001, 'momentum': 'x'")]:
        with pytest.raises(error) as found:
            make()
        assert text in str(found.value)


def test_schedules_and_their_values():
    def rates(make, steps=4):
        optimizer = optim.SGD([parameter(1.0)], lr=1.0)
        schedule = make(optimizer)
        found = [optimizer.param_groups[0]["lr"]]
        for _ in range(steps):
            optimizer.step()
            schedule.step()
            found.append(optimizer.param_groups[0]["lr"])
        return found

    assert rates(lambda o: schedules.StepLR(o, 2, 0.5)) == [1, 1, 0.5, 0.5, 0.25]
    assert rates(lambda o: schedules.LambdaLR(o, lambda e: 1 / (1 + e))) == [1, 1/2, 1/3, 1/4, 1/5]
    assert rates(lambda o: schedules.CosineAnnealingLR(o, 4)) == pytest.approx(
        [(1 + math.cos(math.pi * i / 4)) / 2 for i in range(5)])
    assert rates(lambda o: schedules.LinearLR(o, 0.5, 1.0, 2)) == [0.5, 0.75, 1, 1, 1]
    warm = rates(lambda o: schedules.SequentialLR(
        o, [schedules.LinearLR(o, 0.25, 1.0, 3), schedules.ConstantLR(o, 1.0)], [3]), 5)
    assert warm == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])


def test_a_schedule_before_the_first_step_is_said():
    schedule = schedules.StepLR(optim.SGD([parameter(1.0)]), 1)
    with pytest.warns(UserWarning, match="before `optimizer.step\\(\\)`"):
        schedule.step()


def test_a_plateau_lowers_the_rate():
    optimizer = optim.SGD([parameter(1.0)], lr=1.0)
    schedule = schedules.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for loss in (3.0, 2.0, fg.tensor(2.0), 2.0, 2.0):
        schedule.step(loss)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_optimisers_leave_nothing_behind(stays_level):
    def use():
        p = parameter(1.0)
        train(p, optim.AdamW([p]), 2)

    stays_level(use)


def slow_rmsprop(p, settings):
    """PyTorch's RMSprop of one number, written out; gradient in, parameter out."""
    alpha, momentum = settings.get("alpha", 0.99), settings.get("momentum", 0)
    square = mean = buffer = 0.0
    while True:
        gradient = (yield p) + settings.get("weight_decay", 0) * p
        square = alpha * square + (1 - alpha) * gradient * gradient
        mean = alpha * mean + (1 - alpha) * gradient
        spread = square - mean * mean if settings.get("centered") else square
        buffer = momentum * buffer + gradient / (math.sqrt(spread) + settings.get("eps", 1e-8))
        p -= settings.get("lr", 0.01) * buffer


def slow_adagrad(p, settings):
    """PyTorch's Adagrad of one number, written out."""
    total, step = settings.get("initial_accumulator_value", 0.0), 0
    while True:
        gradient = (yield p) + settings.get("weight_decay", 0) * p
        total += gradient * gradient
        rate = settings.get("lr", 0.01) / (1 + step * settings.get("lr_decay", 0))
        p -= rate * gradient / (math.sqrt(total) + settings.get("eps", 1e-10))
        step += 1


@pytest.mark.parametrize("kind, slow, settings", [
    ("RMSprop", slow_rmsprop, {}), ("RMSprop", slow_rmsprop, {"momentum": 0.9, "centered": True}),
    ("RMSprop", slow_rmsprop, {"lr": 0.1, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.2}),
    ("Adagrad", slow_adagrad, {}), ("Adagrad", slow_adagrad, {"lr_decay": 0.5, "lr": 0.1}),
    ("Adagrad", slow_adagrad, {"initial_accumulator_value": 0.3, "weight_decay": 0.1, "eps": 0.01}),
], ids=str)
def test_formulas_are_those_of_pytorch(kind, slow, settings):
    p = parameter(1.0, -2.0)
    optimizer = getattr(optim, kind)([p], **settings)
    slow_ones = [slow(1.0, settings), slow(-2.0, settings)]
    values = [next(one) for one in slow_ones]
    for _ in range(8):
        train(p, optimizer, 1)
        values = [one.send(2 * value) for one, value in zip(slow_ones, values)]
        assert p.tolist() == pytest.approx(values, rel=1e-12)


def test_constructors_are_those_of_pytorch():
    shown = {kind: str(inspect.signature(getattr(optim, kind))) for kind in ("RMSprop", "Adagrad")}
    assert shown == {
        "RMSprop": "(params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, "
                   "centered=False, capturable=False, foreach=None, maximize=False, "
                   "differentiable=False)",
        "Adagrad": "(params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, "
                   "eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None)"}
    with pytest.raises(TypeError, match=r"SGD.__init__\(\) got an unexpected keyword .*'alpha'"):
        optim.SGD([parameter(1.0)], alpha=1)


def test_every_optimiser_of_the_table_is_a_class_with_documentation():
    rows = fg._C.optimizers()
    assert {row["name"] for row in rows} == set(optim.__all__) - {
        "LBFGS", "Optimizer", "SparseAdam", "lr_scheduler", "swa_utils",
        "swap_in_optimizer_params_and_state"}
    for row in rows:
        kind = getattr(optim, row["name"])
        assert kind.__doc__.startswith(row["documentation"])
        settings = getattr(fg.compiler, row["name"])()
        for name, default, text in row["settings"]:
            assert f"    {name}: {text}\n" in kind.__doc__
            assert getattr(settings, name) == default
            if name in inspect.signature(kind).parameters:
                assert inspect.signature(kind).parameters[name].default == default
        with pytest.raises(ValueError, match=f"{row['name']}: Invalid learning rate: -1"):
            kind([parameter(1.0)], lr=-1)


def test_adagrad_has_its_state_before_the_first_step():
    p = parameter(1.0, 2.0)
    state = optim.Adagrad([p], initial_accumulator_value=0.5).state_dict()["state"]
    assert list(state[0]) == ["step", "sum"]
    assert state[0]["step"].item() == 0 and state[0]["sum"].tolist() == [0.5, 0.5]
    settings = fg.compiler.Adagrad(initial_accumulator_value=0.5)
    step = fg.compiler.compile_step(lambda: (p * p).sum(), [p], settings)
    compiled = step.state_dict()["state"]
    assert compiled[0]["step"].item() == 0 and compiled[0]["sum"].tolist() == [0.5, 0.5]
    step()
    assert compiled[0]["sum"].tolist() == [0.5, 0.5]  # that of before
    assert step.state[p]["sum"].tolist() == [4.5, 16.5] and step.state[p]["step"].item() == 1


def test_rmsprop_keeps_what_its_settings_ask_for():
    p = parameter(1.0)
    optimizer = optim.RMSprop([p], momentum=0.9, centered=True)
    train(p, optimizer, 1)
    assert list(optimizer.state[p]) == ["step", "square_avg", "momentum_buffer", "grad_avg"]


def test_a_wrong_setting_is_told_with_what_was_expected():
    with pytest.raises(TypeError, match="RMSprop: expected numbers and bools, got {'lr': 'fast'"):
        optim.RMSprop([parameter(1.0)], lr="fast")
    with pytest.raises(ValueError, match="RMSprop: Invalid alpha value: -1"):
        optim.RMSprop([parameter(1.0)], alpha=-1)


def test_adamw_is_an_adam_that_stays_decoupled():
    p = parameter(1.0)
    adamw, adam = optim.AdamW([p]), optim.Adam([p])
    assert isinstance(adamw, optim.Adam)
    adamw.load_state_dict(adam.state_dict())
    assert adamw.param_groups[0]["decoupled_weight_decay"] is True


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "AdamW", "RMSprop", "SGD"])
def test_each_optimiser_is_found_in_a_module_of_its_name_too(name):
    module = importlib.import_module(f"foregrad.optim.{name.lower()}")
    assert getattr(module, name) is getattr(fg.optim, name)
    assert getattr(fg.optim, name.lower()) is module
