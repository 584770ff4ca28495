"""Schedules of the learning rate and averages of weights: values, states, warnings, refusals."""

import copy
import math
import pickle
import warnings

import foregrad as fg
import pytest

nn, optim = fg.nn, fg.optim
schedules, swa = optim.lr_scheduler, optim.swa_utils


def made(lr=1.0, kind="SGD", **settings):
    settings = {"momentum": 0.9, **settings} if kind == "SGD" else settings
    return getattr(optim, kind)([nn.Parameter(fg.ones(1))], lr=lr, **settings)


def rates(make, steps=4, optimizer=None):
    optimizer = optimizer or made()
    schedule = make(optimizer)
    found = [float(optimizer.param_groups[0]["lr"])]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        found.append(float(optimizer.param_groups[0]["lr"]))
    assert schedule.get_last_lr() == [optimizer.param_groups[0]["lr"]]
    return found


def test_values_of_schedules():
    assert rates(lambda o: schedules.PolynomialLR(o, 4, 2.0)) == pytest.approx(
        [(1 - i / 4) ** 2 for i in range(5)])
    assert rates(lambda o: schedules.CyclicLR(o, 0.0, 1.0, 2, 3), 6) == pytest.approx(
        [0, 1 / 2, 1, 2 / 3, 1 / 3, 0, 1 / 2])
    assert rates(lambda o: schedules.CyclicLR(o, 0.0, 1.0, 1, mode="triangular2"), 5) == (
        pytest.approx([0, 1, 0, 1 / 2, 0, 1 / 4]))
    chained = rates(lambda o: schedules.ChainedScheduler(
        [schedules.ConstantLR(o, 0.5, 2), schedules.ExponentialLR(o, 0.9)]))
    assert chained == pytest.approx([0.5, 0.45, 0.81, 0.729, 0.6561])
    assert rates(lambda o: swa.SWALR(o, 0.0, 4, "linear"), 5) == pytest.approx(
        [1, 3 / 4, 1 / 2, 1 / 4, 0, 0])
    assert rates(lambda o: swa.SWALR(o, 0.0, 4)) == pytest.approx(
        [(1 + math.cos(math.pi * i / 4)) / 2 for i in range(5)])


def test_a_cycle_moves_the_momentum_against_the_rate():
    for kind, momentum in [("SGD", lambda g: g["momentum"]), ("Adam", lambda g: g["betas"][0])]:
        optimizer = made(kind=kind)
        schedule = schedules.CyclicLR(optimizer, 0.1, 1.0, 2)
        seen = []
        for _ in range(4):
            optimizer.step()
            schedule.step()
            seen.append(momentum(optimizer.param_groups[0]))
        assert seen == pytest.approx([0.85, 0.8, 0.85, 0.9])


def test_rates_that_are_tensors_stay_the_same_tensor():
    rate = fg.tensor(1.0, dtype=fg.float64)
    optimizer = made(rate)
    assert rates(lambda o: schedules.ExponentialLR(o, 0.5), 3, optimizer) == [1.0, 0.5, 0.25, 0.125]
    assert optimizer.param_groups[0]["lr"] is rate
    assert optimizer.param_groups[0]["initial_lr"].item() == 1.0


MAKERS = [lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, 2),
          lambda o: schedules.OneCycleLR(o, 2.0, total_steps=20),
          lambda o: schedules.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9),
          lambda o: schedules.PolynomialLR(o, 9), lambda o: swa.SWALR(o, 0.25, 7),
          lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 2, 0.5)]),
          lambda o: schedules.SequentialLR(o, [schedules.ConstantLR(o, 0.5, 3),
                                               schedules.ExponentialLR(o, 0.9)], [4])]


@pytest.mark.parametrize("make", MAKERS)
def test_states_and_copies_go_on_alike(make):
    optimizer = made()
    schedule = make(optimizer)
    for _ in range(5):
        optimizer.step()
        schedule.step()
    again, copied = pickle.loads(pickle.dumps((optimizer, schedule))), copy.deepcopy(
        (optimizer, schedule))
    other = made()
    loaded = make(other)
    loaded.load_state_dict(copy.deepcopy(schedule.state_dict()))
    other.load_state_dict(optimizer.state_dict())
    seen = []
    for optimizer, schedule in [(optimizer, schedule), again, copied, (other, loaded)]:
        found = []
        for _ in range(6):
            optimizer.step()
            schedule.step()
            found.append(optimizer.param_groups[0]["lr"])
        seen.append(found)
    assert all(found == seen[0] for found in seen)


def test_states_keep_attributes_of_objects_but_no_functions():
    class Decay:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, epoch):
            return self.rate ** epoch

    first = schedules.LambdaLR(made(), [Decay(0.5)])
    state = first.state_dict()
    assert state["lr_lambdas"] == [{"rate": 0.5}] and "optimizer" not in state
    second = schedules.LambdaLR(made(), [Decay(0.9)])
    second.load_state_dict(state)
    assert second.lr_lambdas[0].rate == 0.5
    assert schedules.LambdaLR(made(), lambda e: 1.0).state_dict()["lr_lambdas"] == [None]


def test_what_is_warned_of():
    optimizer = made()
    schedule = schedules.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="use `get_last_lr"):
        schedule.get_lr()
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()
    with pytest.warns(UserWarning, match="epoch parameter in `scheduler.step"):
        schedule.step(5)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.01)  # the closed form
    plateau = schedules.ReduceLROnPlateau(made())
    with pytest.warns(UserWarning, match="epoch parameter"):
        plateau.step(1.0, 3)
    optimizer = made()
    schedule, inner = schedules.StepLR(optimizer, 2), optimizer.step
    optimizer.step = lambda: inner()
    optimizer.step()
    with pytest.warns(UserWarning, match="has been overridden after"):
        schedule.step()


def test_the_usual_loop_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in MAKERS:
            rates(make)


def test_what_schedules_refuse():
    optimizer, other = made(), made()
    plateau = schedules.ReduceLROnPlateau(optimizer)
    one = schedules.ConstantLR(optimizer)
    for make, error, text in [
            (lambda: schedules.StepLR(3, 1), TypeError, "int is not an Optimizer"),
            (lambda: schedules.StepLR(made(), 1, last_epoch=3), KeyError, "'initial_lr' is not"),
            (lambda: schedules.LambdaLR(optimizer, [abs, abs]), ValueError, "Expected 1 lr_lambd"),
            (lambda: schedules.MultiplicativeLR(optimizer, 3), TypeError, "should be a function"),
            (lambda: schedules.CyclicLR(optimizer, 0.1, 1.0, mode="up"), ValueError,
             "mode is invalid and scale_fn is None"),
            (lambda: schedules.CyclicLR(made(kind="Rprop"), 0.1, 1.0), ValueError,
             "must support momentum or beta1"),
            (lambda: schedules.CyclicLR(optimizer, [0.1, 0.2], 1.0), ValueError,
             "base_lr must have the same length as optimizer.param_groups"),
            (lambda: schedules.ChainedScheduler([]), ValueError, "at least one scheduler"),
            (lambda: schedules.ChainedScheduler([one, plateau]), ValueError,
             "does not support `ReduceLROnPlateau`"),
            (lambda: schedules.SequentialLR(other, [one], []), ValueError, "the same optimizer"),
            (lambda: schedules.SequentialLR(optimizer, [one], [3]), ValueError, "one more than"),
            (lambda: schedules.SequentialLR(optimizer, [3], []), TypeError, "`optimizer` as its"),
            (lambda: schedules.ReduceLROnPlateau(optimizer, min_lr=[1, 2]), ValueError,
             "expected 1 min_lrs, got 2"),
            (lambda: schedules.ReduceLROnPlateau(optimizer, "mean"), ValueError, "is unknown"),
            (lambda: swa.SWALR(optimizer, 0.1, anneal_strategy="exp"), ValueError, "'cos' or"),
            (lambda: swa.SWALR(optimizer, 0.1, -1), ValueError, "equal or greater than 0"),
            (lambda: swa.get_ema_avg_fn(1.5), ValueError, "Invalid decay value 1.5"),
            (lambda: swa.AveragedModel(nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max),
             AssertionError, "Only one of avg_fn and multi_avg_fn")]:
        with pytest.raises(error) as found:
            make()
        assert text in str(found.value)


def test_old_names_are_there():
    assert issubclass(schedules._LRScheduler, schedules.LRScheduler)


def test_averages_of_models():
    net = nn.Linear(1, 1, bias=False)
    mean, ema = swa.AveragedModel(net), swa.AveragedModel(
        net, multi_avg_fn=swa.get_ema_multi_avg_fn(0.5))
    one = swa.AveragedModel(net, avg_fn=swa.get_ema_avg_fn(0.5))
    for value in (1.0, 3.0, 8.0):
        net.weight.data.fill_(value)
        for each in (mean, ema, one):
            each.update_parameters(net)
    assert mean.module.weight.item() == pytest.approx(4)
    assert ema.module.weight.item() == one.module.weight.item() == 5.0
    assert mean.n_averaged == 3 and list(mean.state_dict()) == ["n_averaged", "module.weight"]
    assert mean(fg.ones(1, 1)).item() == pytest.approx(4)
    assert net.weight.item() == 8


def test_buffers_are_copied_or_averaged_and_statistics_are_computed_anew():
    net = nn.Sequential(nn.BatchNorm1d(2))
    copied, averaged = swa.AveragedModel(net), swa.AveragedModel(net, use_buffers=True)
    for value in (0.0, 4.0):
        net[0].running_mean.fill_(value)
        copied.update_parameters(net)
        averaged.update_parameters(net)
    assert copied.module[0].running_mean.tolist() == [4, 4]
    assert averaged.module[0].running_mean.tolist() == [2, 2]
    copied.eval()
    swa.update_bn([fg.tensor([[1.0, 3.0], [3.0, 5.0]]), (fg.tensor([[4.0, 6.0], [4.0, 6.0]]), 0)],
                  copied)
    assert copied.module[0].running_mean.tolist() == [3, 5]
    assert copied.module[0].momentum == 0.1 and not copied.training
    swa.update_bn([], nn.Linear(1, 1))  # nothing to do
