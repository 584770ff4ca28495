"""Hooks of modules: their order and options, copies and pickles with them, those of all modules."""

import copy
import gc
import pickle
import weakref

import foregrad as fg
import pytest
from foregrad.nn.modules import module as everywhere

nn = fg.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        nn.init.constant_(self.linear.weight, 0.5)
        nn.init.constant_(self.linear.bias, 0.5)

    def forward(self, x, factor=1):
        if factor == 0:
            raise ValueError("factor is zero")
        return self.linear(x) * factor


def doubled(module, args):
    return (args[0] * 2,)


def with_factor(module, args, kwargs):
    return args, {"factor": 3}


def raised(module, args, output):
    return output + 100


def noted(module, *args):
    module.noted = len(args)


def input_of():
    return fg.ones(1, 2, requires_grad=True)


def test_hooks_run_in_order_with_that_which_they_ask_for():
    net, log = Net(), []

    def note(name):
        return lambda *args: log.append((name, len(args)))

    net.register_forward_pre_hook(note("second"))
    net.register_forward_pre_hook(note("first"), prepend=True)
    net.register_forward_pre_hook(note("with keywords"), with_kwargs=True)
    net.register_forward_hook(note("after"))
    net.register_forward_hook(note("after with keywords"), with_kwargs=True, prepend=True)
    net.register_forward_hook(note("always"), always_call=True)
    net(input_of(), factor=2)
    assert log == [("first", 2), ("second", 2), ("with keywords", 3), ("after with keywords", 4),
                   ("after", 3), ("always", 3)]
    log.clear()
    with pytest.raises(ValueError, match="factor is zero"):
        net(input_of(), factor=0)
    assert [name for name, _ in log] == ["first", "second", "with keywords", "always"]


def test_dictionaries_of_hooks_hold_the_functions_themselves():
    net = Net()
    handle = net.register_forward_pre_hook(doubled)
    net.register_forward_hook(raised)
    assert list(net._forward_pre_hooks.values()) == [doubled]
    assert list(net._forward_hooks.values()) == [raised]
    handle.remove()
    handle.remove()
    assert not net._forward_pre_hooks


def test_copies_and_pickles_keep_hooks_and_run_them_on_themselves():
    net = Net()
    net.register_forward_pre_hook(doubled)
    net.register_forward_pre_hook(with_factor, with_kwargs=True)
    net.register_forward_hook(raised)
    net.register_load_state_dict_pre_hook(noted)
    net.register_state_dict_pre_hook(noted)
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert made(fg.ones(1, 2)).equal(net(fg.ones(1, 2)))
        made.load_state_dict(Net().state_dict())
        assert made.noted == 7 and not hasattr(net, "noted")
        made.state_dict()
        assert made.noted == 2


def test_hooks_of_all_modules_run_around_each_and_can_be_removed():
    log = []
    handles = [
        everywhere.register_module_forward_pre_hook(lambda m, a: log.append("before")),
        everywhere.register_module_forward_hook(lambda m, a, o: log.append("after")),
        everywhere.register_module_forward_hook(
            lambda m, a, k, o: log.append(sorted(k)), with_kwargs=True),
        everywhere.register_module_full_backward_pre_hook(lambda m, g: log.append("gradient")),
        everywhere.register_module_full_backward_hook(lambda m, i, o: log.append("gradients"))]
    nn.ReLU()(input_of()).sum().backward()
    assert log == ["before", "after", [], "gradient", "gradients"]
    for handle in handles:
        handle.remove()
    nn.ReLU()(input_of()).sum().backward()
    assert len(log) == 5


def test_registrations_are_seen_and_may_be_replaced():
    seen = []
    handles = [
        everywhere.register_module_parameter_registration_hook(
            lambda m, name, p: seen.append(name)),
        everywhere.register_module_buffer_registration_hook(lambda m, name, b: seen.append(name)),
        everywhere.register_module_module_registration_hook(
            lambda m, name, child: nn.Tanh() if isinstance(child, nn.ReLU) else None)]
    try:
        model = nn.Sequential(nn.BatchNorm1d(1), nn.ReLU())
    finally:
        for handle in handles:
            handle.remove()
    assert seen == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    assert type(model[1]) is nn.Tanh


def test_hooks_of_states_see_and_change_them():
    net, log = Net(), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append((prefix, keep)))
    net.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(more=prefix))
    assert list(nn.Sequential(net).state_dict()) == ["0.linear.weight", "0.linear.bias", "more"]
    assert log == [("0.", False)]
    other = Net()
    other.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    assert repr(other.load_state_dict({})) == "<All keys matched successfully>"
    net.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        net.state_dict()


def test_backward_hooks_of_two_kinds_do_not_mix_and_old_ones_warn():
    net = Net()
    net.register_backward_hook(lambda m, i, o: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        net.register_full_backward_hook(lambda m, i, o: None)
    with pytest.warns(FutureWarning, match="register_full_backward_hook"):
        net(input_of()).sum().backward()


def test_a_module_with_a_backward_hook_is_freed_after_a_second_backward():
    def trained():
        net = Net()
        net.register_full_backward_hook(lambda m, i, o: None)
        gradient, = fg.autograd.grad(net(input_of()).sum(), [net.linear.weight], create_graph=True)
        (gradient * gradient).sum().backward()
        return weakref.ref(net)

    reference = trained()
    gc.collect()
    assert reference() is None


def test_conversions_of_devices_and_memory():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    weight = net[0].weight
    assert net.to_empty(device="cpu") is net and net[0].weight is weight
    assert net.to("cpu", fg.float64, non_blocking=True)[0].bias.dtype is fg.float64
    assert net[1].num_batches_tracked.dtype is fg.int64
    assert net.type(fg.float32)[1].num_batches_tracked.dtype is fg.float32
    for name in ("xpu", "ipu", "mtia"):
        with pytest.raises(RuntimeError, match=f"{name}: .*only .cpu. exists"):
            getattr(net, name)()


def test_assigned_states_are_the_tensors_of_the_module():
    module, state = nn.Linear(2, 2), {"weight": fg.zeros(2, 2, dtype=fg.float64),
                                      "bias": nn.Parameter(fg.ones(2), requires_grad=False)}
    module.load_state_dict(state, assign=True)
    assert module.weight.data_ptr() == state["weight"].data_ptr()
    assert type(module.weight) is nn.Parameter and module.weight.dtype is fg.float64
    assert module.weight.requires_grad and module.bias.requires_grad
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        module.load_state_dict({"weight": fg.zeros(3, 2), "bias": fg.ones(2)}, assign=True)


def test_modules_are_put_at_paths():
    model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    model.set_submodule("1.0", nn.Tanh())
    assert type(model[1][0]) is nn.Tanh
    model.set_submodule("1.more", nn.GELU())
    assert type(model[1].more) is nn.GELU
    for path, module, kind, words in (
            ("1.none", nn.ReLU(), AttributeError, "has no attribute `none`"),
            ("", nn.ReLU(), ValueError, "without a target name"),
            ("0", 3, ValueError, "is not an nn.Module"),
            ("0.weight", nn.ReLU(), AttributeError, "`weight` is not an nn.Module")):
        with pytest.raises(kind, match=words):
            model.set_submodule(path, module, strict=True)
