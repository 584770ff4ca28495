"""Modules under fg.compile and compile_step: eager and compiled have the same bits."""

import copy
import math

import foregrad as fg
import pytest
from foregrad.compiler import compile_step

nn, F = fg.nn, fg.nn.functional


class Block(nn.Module):
    def __init__(self, size, heads, drop):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size),
                                 nn.Dropout(drop))
        self.heads = heads

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (part.view(n, t, self.heads, c // self.heads).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(c, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, words=11, length=8, size=16, depth=2, drop=0.0):
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, size), nn.Embedding(length, size)
        self.blocks = nn.ModuleList(Block(size, 2, drop) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, words, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("range", fg.arange(length), persistent=False)

    def forward(self, x):
        x = self.tokens(x) + self.places(self.range[:x.shape[1]])
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def cnn():
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Dropout(0.2), nn.Flatten(), nn.Linear(64, 5))


def mlp():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 5))


def images(i):
    return fg.sin(fg.arange(2 * 3 * 8 * 8).reshape(2, 3, 8, 8) * (0.1 + 0.01 * i))


def words(i):
    return (fg.arange(16).reshape(2, 8) * (i + 3)) % 11


MODELS = {
    "mlp": (mlp, lambda i: fg.cos(fg.arange(24).reshape(4, 6) * (1.0 + i)),
            lambda i: fg.tensor([0, 1, 4, i % 5])),
    "cnn": (cnn, images, lambda i: fg.tensor([1, i % 5])),
    "gpt": (Gpt, words, lambda i: (words(i) + 1) % 11),
    "gpt with dropout": (lambda: Gpt(drop=0.3), words, lambda i: (words(i) + 1) % 11),
}


def loss_of(model, x, y):
    out = model(x)
    return F.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1))


def same_state(a, b):
    return all(x.equal(y) for x, y in zip(a.state_dict().values(), b.state_dict().values()))


@pytest.mark.parametrize("name", MODELS)
def test_a_compiled_module_has_the_bits_of_the_eager_one(name):
    make, data, target = MODELS[name]
    fg.manual_seed(3)
    eager = make()
    other = copy.deepcopy(eager)
    compiled = fg.compile(other, fullgraph=True)
    for i in range(4):
        if i == 2:
            eager.eval(), other.eval()
        losses = []
        for model in (eager, compiled):
            fg.manual_seed(10 + i)
            loss = loss_of(model, data(i), target(i))
            loss.backward()
            losses.append(loss.item())
        assert losses[0] == losses[1]
        assert all(a.grad.equal(b.grad) for a, b in zip(eager.parameters(), other.parameters()))
        assert same_state(eager, other), "running statistics"
    assert len(compiled._compiled.compiled.versions) == 2, "one version for each mode"


SETTINGS = [("AdamW", {"weight_decay": 0.1}), ("Adam", {"amsgrad": True}),
            ("SGD", {"momentum": 0.9, "nesterov": True})]


@pytest.mark.parametrize("kind, settings", SETTINGS, ids=[kind for kind, _ in SETTINGS])
@pytest.mark.parametrize("name", MODELS)
def test_eager_steps_have_the_bits_of_compiled_steps(name, kind, settings):
    make, data, target = MODELS[name]
    fg.manual_seed(3)
    eager = make()
    other = copy.deepcopy(eager)
    optimizer = getattr(fg.optim, kind)(eager.parameters(), lr=0.01, **settings)
    step = compile_step(lambda x, y: loss_of(other, x, y), other.parameters(),
                        getattr(fg.compiler, kind)(lr=0.01, **settings), clip_norm=0.5,
                        fullgraph=True)
    schedules = [fg.optim.lr_scheduler.CosineAnnealingLR(one, 8) for one in (optimizer, step)]
    for i in range(8):
        fg.manual_seed(20 + i)
        optimizer.zero_grad()
        loss = loss_of(eager, data(i), target(i))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(eager.parameters(), 0.5)
        optimizer.step()
        fg.manual_seed(20 + i)
        assert step(data(i), target(i)).item() == loss.item()
        assert step.grad_norm.item() == norm.item()
        for schedule in schedules:
            schedule.step()
        assert step.lr == optimizer.param_groups[0]["lr"]
    assert same_state(eager, other)
    for mine, its in zip(optimizer.state_dict()["state"].values(),
                         step.state_dict()["state"].values()):
        assert {k: v.tolist() for k, v in mine.items()} == {k: v.tolist() for k, v in its.items()}
    assert len(step._run.compiled.versions) == 1


def test_hooks_and_other_modules_are_seen_by_compiled_code():
    model = mlp()
    compiled, x = fg.compile(model, fullgraph=True), fg.ones(1, 6)
    first = compiled(x)
    handle = model[0].register_forward_hook(lambda m, args, out: out * 2)
    assert compiled(x).equal(model(x)) and not compiled(x).equal(first)
    handle.remove()
    assert compiled(x).equal(first)
    everywhere = nn.modules.module.register_module_forward_pre_hook(
        lambda m, args: (args[0] * 3,) if m is model else None)
    assert compiled(x).equal(model(x)) and not compiled(x).equal(first)
    everywhere.remove()
    model[1] = nn.ReLU()
    assert compiled(x).equal(model(x))
    model.double()
    assert compiled(x.double()).equal(model(x.double()))
    model.load_state_dict({k: v * 0 for k, v in model.state_dict().items()})
    assert compiled(x.double()).abs().sum() == 0


def test_inputs_of_the_graph_have_the_names_of_parameters():
    model = Gpt(depth=1)
    compiled = fg.compile(model, fullgraph=True)
    compiled(words(0))
    version, = compiled._compiled.compiled.versions
    code = version.graph(False).code
    for name in ("self.head.weight", "self.blocks.0.norm1.bias", "self.blocks.0.mlp.2.weight",
                 "self.range"):
        assert f'"{name}"' in code


def test_a_step_in_an_eval_mode_and_back():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    step = compile_step(lambda x: model(x).pow(2).sum(), model, fg.compiler.SGD(lr=0.0),
                        fullgraph=True)
    x = fg.ones(50, 3)
    in_training = step(x).item()
    model.eval()
    assert step(x).item() == model(x).pow(2).sum().item() != in_training
    assert math.isfinite(in_training)
