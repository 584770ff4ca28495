"""Every optimiser of foregrad.optim: modes, hooks, states, tensors as rates, gradients of steps."""

import copy
import pickle
import warnings

import foregrad as fg
import pytest

nn, optim = fg.nn, fg.optim
SETTINGS = {"Adadelta": {}, "Adafactor": {}, "Adagrad": {}, "Adam": {"amsgrad": True},
            "AdamW": {}, "Adamax": {}, "ASGD": {"t0": 1}, "Muon": {}, "NAdam": {}, "RAdam": {},
            "RMSprop": {"momentum": 0.9, "centered": True}, "Rprop": {},
            "SGD": {"momentum": 0.9}}
# Optimisers that differentiate through a step.
RECORDED = sorted(SETTINGS.keys() - {"Muon", "Adafactor"})


def matrix():
    return nn.Parameter(fg.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=fg.float64))


def train(p, optimizer, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p * p).sum().backward()
        optimizer.step()


def test_the_list_of_optimisers_is_that_of_pytorch():
    assert sorted(optim.__all__) == sorted([
        *SETTINGS, "LBFGS", "Optimizer", "SparseAdam", "lr_scheduler",
        "swap_in_optimizer_params_and_state", "swa_utils"])


@pytest.mark.parametrize("kind", SETTINGS)
def test_copies_pickles_and_loaded_states_go_on_alike(kind):
    p = matrix()
    first = getattr(optim, kind)([p], **SETTINGS[kind])
    train(p, first)
    for again in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):
        q, second = again((p, first))
        assert repr(second) == repr(first)
        assert second.param_groups[0]["params"][0] is q
        train(q, second)
        r = nn.Parameter(p.detach().clone())
        third = getattr(optim, kind)([r], lr=99)
        third.load_state_dict(copy.deepcopy(first.state_dict()))
        train(r, third)
        assert q.equal(r)
    train(p, first)
    assert p.equal(q)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_compiled_step_and_an_eager_one_exchange_their_states(kind):
    p, q = matrix(), matrix()
    eager = getattr(optim, kind)([p], **SETTINGS[kind])
    settings = getattr(fg.compiler, kind)(**SETTINGS[kind])
    step = fg.compiler.compile_step(lambda: (q * q * q).sum(), [q], settings, fullgraph=True)
    for _ in range(3):
        step()
    train(p, eager)
    assert p.equal(q)
    state = step.state_dict()["state"][0]
    assert state.keys() == eager.state_dict()["state"][0].keys()
    for name, value in eager.state[p].items():
        assert value.equal(state[name]), name
    eager.load_state_dict({**eager.state_dict(), "state": step.state_dict()["state"]})
    step.load_state_dict(copy.deepcopy(eager.state_dict()))
    train(p, eager)
    for _ in range(3):
        step()
    assert p.equal(q)


@pytest.mark.parametrize("kind", SETTINGS)
def test_many_parameters_step_as_each_alone(kind):
    fg.manual_seed(0)
    shapes = [(3, 4), (40, 30), (5, 1), (200, 150)] + [(), (7,)] * (kind != "Muon")
    together = [nn.Parameter(fg.randn(shape)) for shape in shapes]
    alone = [nn.Parameter(p.detach().clone()) for p in together]
    one = getattr(optim, kind)(together, **SETTINGS[kind])
    each = [getattr(optim, kind)([p], **SETTINGS[kind]) for p in alone]
    for _ in range(3):
        for p, q in zip(together, alone):
            p.grad = fg.randn(p.shape)
            q.grad = p.grad
        one.step()
        for optimizer in each:
            optimizer.step()
    for p, q in zip(together, alone):
        assert p.equal(q)


@pytest.mark.parametrize("kind", SETTINGS)
def test_maximize_steps_against_the_gradient_turned_around(kind):
    if kind == "Muon":
        pytest.skip("PyTorch's Muon has no maximize")
    p, q = matrix(), matrix()
    up = getattr(optim, kind)([p], maximize=True, **SETTINGS[kind])
    down = getattr(optim, kind)([q], **SETTINGS[kind])
    for i in range(4):
        p.grad = fg.full((2, 2), 0.5 - i, dtype=fg.float64)
        q.grad = -p.grad
        up.step()
        down.step()
    assert p.equal(q)


def test_modes_that_cannot_be_are_refused():
    p = matrix()
    p.grad = fg.ones_like(p)
    for make, error, text in [
            (lambda: optim.Adam([p], fused=True, foreach=True), RuntimeError,
             "`fused` and `foreach` cannot be `True` together"),
            (lambda: optim.SGD([p], fused=True, differentiable=True), RuntimeError,
             "`fused` does not support `differentiable`"),
            (lambda: optim.Adam([p], capturable=True).step(), AssertionError,
             "If capturable=True, params and state_steps must be on supported devices"),
            (lambda: optim.Adam([p], foreach=True, differentiable=True).step(), AssertionError,
             "_foreach ops don't support autograd"),
            (lambda: optim.Adam([p], lr=fg.tensor(0.1), foreach=True), ValueError,
             "lr as a Tensor is not supported for capturable=False and foreach=True"),
            (lambda: optim.SGD([p], lr=fg.ones(2)), ValueError, "Tensor lr must be 1-element"),
            (lambda: optim.SGD([p], lr=fg.tensor(-1.0)), ValueError, "Invalid learning rate: -1"),
            (lambda: optim.Adadelta([p], rho=1.5), ValueError, "Invalid rho value: 1.5"),
            (lambda: optim.Adafactor([p], d=0.5), ValueError, "Invalid d value: 0.5"),
            (lambda: optim.Adafactor([p], beta2_decay=0.5), ValueError, "beta2_decay value: 0.5"),
            (lambda: optim.Adafactor([p], eps=(-1.0, 1.0)), ValueError, "epsilon at index 0: -1"),
            (lambda: optim.Rprop([p], etas=(1.5, 2.0)), ValueError, "Invalid eta values: 1.5, 2"),
            (lambda: optim.Muon([nn.Parameter(fg.ones(3))]), ValueError, "only supports 2D"),
            (lambda: optim.Muon([p], adjust_lr_fn="mine"), ValueError, "mine is not supported"),
            (lambda: optim.Muon([p], ns_coefficients=(1, 2)), TypeError, "three ns_coefficients"),
            (lambda: optim.SparseAdam([p], lr=0), ValueError, "Invalid learning rate: 0"),
            (lambda: optim.SparseAdam([p], betas=(0.9, 1)), ValueError, "parameter at index 1: 1"),
            (lambda: optim.SparseAdam([p]).step(), RuntimeError, "does not support dense grad")]:
        with pytest.raises(error) as found:
            make()
        assert text in str(found.value)


def test_a_group_that_is_refused_is_not_added():
    optimizer = optim.Muon([matrix()])
    with pytest.raises(ValueError, match="only supports 2D"):
        optimizer.add_param_group({"params": [nn.Parameter(fg.ones(3))]})
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize("kind", RECORDED)
def test_gradients_flow_through_steps(kind):
    settings = {"SGD": {"momentum": 0.5}, "RMSprop": {"centered": True}}.get(kind, {})

    def after_steps(start, scale):
        p = start.clone()
        optimizer = getattr(optim, kind)([p], lr=0.1, differentiable=True, **settings)
        for _ in range(3):
            q = p.clone()  # steps write into p
            p.grad = (scale * q).cos() + q * scale
            optimizer.step()
        return p

    start = fg.tensor([0.5, -1.25, 2.0], dtype=fg.float64, requires_grad=True)
    scale = fg.tensor([1.5, 0.25, -0.75], dtype=fg.float64, requires_grad=True)
    assert fg.autograd.gradcheck(after_steps, (start, scale), atol=1e-4)
    with fg.no_grad():
        plain = nn.Parameter(start.detach().clone())
        optimizer = getattr(optim, kind)([plain], lr=0.1, **settings)
        for _ in range(3):
            plain.grad = (scale * plain).cos() + plain * scale
            optimizer.step()
    assert fg.allclose(plain, after_steps(start, scale), rtol=1e-12)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "NAdam", "Adagrad"])
def test_gradients_reach_a_rate(kind):
    def after_steps(rate):
        p = fg.tensor([0.5, -1.0], dtype=fg.float64)
        optimizer = getattr(optim, kind)([p], lr=rate, differentiable=True, weight_decay=0.1)
        for _ in range(3):
            p.grad = p.clone().sin()
            optimizer.step()
        return p

    rate = fg.tensor(0.1, dtype=fg.float64, requires_grad=True)
    assert fg.autograd.gradcheck(after_steps, (rate,))


def test_gradients_of_other_settings_are_refused():
    p = fg.tensor([0.5]).requires_grad_().clone()
    for settings, text in [({"weight_decay": fg.tensor(0.1, requires_grad=True)}, "weight_decay"),
                           ({"betas": (fg.tensor(0.9, requires_grad=True), fg.tensor(0.9))},
                            "betas")]:
        optimizer = optim.Adam([p], differentiable=True, **settings)
        p.grad = fg.ones(1)
        with pytest.raises(NotImplementedError, match=f"lr alone of the settings, but {text}"):
            optimizer.step()
    optimizer = optim.ASGD([p], lr=fg.tensor(0.1, requires_grad=True), differentiable=True)
    p.grad = fg.ones(1)
    with pytest.raises(NotImplementedError, match="no linear functions of lr"):
        optimizer.step()


def test_a_rate_may_be_a_tensor_that_changes():
    p, q = matrix(), matrix()
    rate = fg.tensor(0.1, dtype=fg.float64)
    by_tensor, by_number = optim.Adam([p], lr=rate), optim.Adam([q], lr=0.1)
    train(p, by_tensor)
    train(q, by_number)
    rate.fill_(0.5)
    by_number.param_groups[0]["lr"] = 0.5
    train(p, by_tensor)
    train(q, by_number)
    assert p.equal(q) and by_tensor.param_groups[0]["lr"] is rate


def test_hooks_run_in_order_and_change_arguments():
    seen, p = [], matrix()
    optimizer = optim.SGD([p])
    p.grad = fg.ones_like(p)
    handles = [
        optim.optimizer.register_optimizer_step_pre_hook(lambda *a: seen.append("all before")),
        optim.optimizer.register_optimizer_step_post_hook(lambda *a: seen.append("all after")),
        optimizer.register_step_pre_hook(lambda o, a, k: seen.append(type(o).__name__)),
        optimizer.register_step_post_hook(lambda o, a, k: seen.append(len(a)))]
    optimizer.step()
    assert seen == ["all before", "SGD", 1, "all after"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4
    optimizer.register_step_pre_hook(lambda o, a, k: ((o, lambda: 7), k))
    assert optimizer.step() == 7
    optimizer.register_step_pre_hook(lambda o, a, k: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_hooks_of_state_dicts_change_them():
    p, q = matrix(), matrix()
    optimizer, other = optim.SGD([p], momentum=0.9), optim.SGD([q], momentum=0.9)
    train(p, optimizer)
    order = []
    optimizer.register_state_dict_pre_hook(lambda o: order.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: order.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1})
    state = optimizer.state_dict()
    assert order == ["first", "second"] and state["more"] == 1

    def checked(o, given):
        order.append(given is not state)
        return {key: value for key, value in given.items() if key != "more"}

    other.register_load_state_dict_pre_hook(checked)
    other.register_load_state_dict_post_hook(lambda o: order.append(o is other))
    other.load_state_dict(state)
    assert order[2:] == [True, True]
    assert other.state[q]["momentum_buffer"].equal(optimizer.state[p]["momentum_buffer"])


def test_named_parameters_keep_their_names():
    net = nn.Linear(2, 2)
    optimizer = optim.AdamW(net.named_parameters())
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    state = optimizer.state_dict()
    assert state["param_groups"][0]["param_names"] == ["weight", "bias"]
    state["param_groups"][0]["param_names"] = ["a", "b"]
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["param_names"] == ["a", "b"]
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": [matrix()]})
    with pytest.raises(ValueError, match="Some param names are missing"):
        optim.SGD([("a", matrix()), matrix()])


def test_groups_are_the_dictionaries_that_were_given():
    group = {"params": [matrix()], "lr": 0.5}
    optimizer = optim.SGD([group])
    assert optimizer.param_groups[0] is group and group["momentum"] == 0
    with pytest.raises(TypeError, match="sets will change between runs"):
        optim.SGD([{"params": {matrix()}}])


def test_a_parameter_that_is_given_twice_is_said_and_updated_twice():
    p = nn.Parameter(fg.ones(2))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = optim.SGD([p, p], lr=0.25)
    p.grad = fg.ones(2)
    optimizer.step()
    assert p.tolist() == [0.5, 0.5]


def test_optimisers_of_users_have_hooks_and_required_settings():
    class Plain(optim.Optimizer):
        def __init__(self, params, lr=optim.optimizer.required):
            super().__init__(params, {"lr": lr})

        @fg.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])

    p = nn.Parameter(fg.ones(2))
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Plain([p])
    optimizer = Plain([p], lr=0.5)
    seen = []
    optimizer.register_step_post_hook(lambda *a: seen.append(1))
    p.grad = fg.ones(2)
    optimizer.step()
    assert p.tolist() == [0.5, 0.5] and seen == [1]
    with pytest.raises(NotImplementedError):
        optim.Optimizer([p], {}).step()


def test_zero_grad_forgets_or_fills():
    p = matrix()
    optimizer = optim.SGD([p])
    p.grad = kept = fg.ones_like(p)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept and kept.sum().item() == 0
    optimizer.zero_grad()
    assert p.grad is None


def test_old_states_have_numbers_and_lack_settings():
    p = matrix()
    optimizer = optim.NAdam([p])
    train(p, optimizer, 1)
    state = optimizer.state_dict()
    for name in ("step", "mu_product"):
        state["state"][0][name] = float(state["state"][0][name])
    for name in ("maximize", "foreach", "differentiable", "decoupled_weight_decay"):
        del state["param_groups"][0][name]
    other = optim.NAdam([p])
    other.load_state_dict(state)
    assert other.state[p]["step"].dtype is fg.float32 and other.state[p]["mu_product"] < 1
    assert other.param_groups[0]["maximize"] is False
    other.step()


def test_parameters_and_states_are_swapped_in_for_a_while():
    p, q = matrix(), nn.Parameter(fg.zeros(2, 2, dtype=fg.float64))
    optimizer = optim.Adam([p])
    train(p, optimizer)
    state, before = copy.deepcopy(optimizer.state_dict()), p.detach().clone()
    q.grad = fg.ones_like(q)
    with optim.swap_in_optimizer_params_and_state(optimizer, {"w": q}, state):
        optimizer.step()
    assert p.equal(before) and q.detach().abs().sum() > 0
    assert optimizer.state[p]["step"] == 3 and state["state"][0]["step"] == 4
    assert optimizer.param_groups[0]["params"][0] is p
    with pytest.raises(RuntimeError, match="initialized optimizer state"):
        with optim.swap_in_optimizer_params_and_state(optim.Adam([p]), {"w": q}, state):
            pass


def test_counts_have_the_default_dtype_of_wide_floats():
    fg.set_default_dtype(fg.float64)
    try:
        p = matrix()
        optimizer = optim.NAdam([p])
        train(p, optimizer, 1)
        assert optimizer.state[p]["step"].dtype is fg.float64
        assert optimizer.state[p]["mu_product"].dtype is fg.float64
    finally:
        fg.set_default_dtype(fg.float32)


def test_nothing_is_warned_of_in_the_usual_loop():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = matrix()
        optimizer = optim.AdamW([p])
        schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
        for _ in range(3):
            train(p, optimizer, 1)
            schedule.step()
