"""foregrad.optim: PyTorch's groups, states and schedules; formulas are those of compile_step."""

import copy
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
@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_a_state_that_is_loaded_goes_on_with_the_same_bits(kind, again):
    settings = {"momentum": 0.9} if kind == "SGD" else {"amsgrad": True}
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
            (lambda: optim.SGD([p, p]), ValueError, "appears twice in one parameter group"),
            (lambda: optim.SGD([{"params": [p]}, {"params": [p]}]), ValueError, "more than one"),
            (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
            (lambda: optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
            (lambda: optim.SGD(p), TypeError, "should be an iterable of Tensors or dicts"),
            (lambda: optim.Adam([p], differentiable=True), NotImplementedError, "differentiable"),
            (lambda: optim.AdamW([p], capturable=True), NotImplementedError, "capturable"),
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
