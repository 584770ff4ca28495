"""The losses of models.py by the same formulas in jax.numpy."""
import jax
import jax.numpy as jnp
from jax import lax
from models import Cnn, Gpt, Pinn, Rnn


def linear(x, w, b=0):
    return x @ w.T + b


def cross_entropy(scores, targets):
    logs = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(logs, targets[:, None], 1).mean()


def normalised(x, axes):
    """With the biased variance, as layer_norm and batch_norm do."""
    centred = x - x.mean(axes, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(axes, keepdims=True) + 1e-5)


def mlp(p, x, target):
    h = jax.nn.relu(linear(x, p["1.w"], p["1.b"]))
    h = jax.nn.relu(linear(h, p["2.w"], p["2.b"]))
    return cross_entropy(linear(h, p["3.w"], p["3.b"]), target)


def causal_attention(q, k, v):
    scores = q @ k.swapaxes(2, 3) / jnp.sqrt(q.shape[-1])
    allowed = jnp.tril(jnp.ones(scores.shape[2:], bool))
    return jax.nn.softmax(jnp.where(allowed, scores, -jnp.inf)) @ v


def gpt(p, words, targets):
    def norm(h, name):
        return normalised(h, -1) * p[name + ".w"] + p[name + ".b"]

    def layer(h, name):
        return linear(h, p[name + ".w"], p[name + ".b"])

    size = (Gpt.BATCH, Gpt.CONTEXT, Gpt.HEADS, Gpt.WIDTH // Gpt.HEADS)
    h = p["token"][words] + p["place"]
    for i in range(Gpt.LAYERS):
        parts = jnp.split(layer(norm(h, f"{i}.norm1"), f"{i}.qkv"), 3, 2)
        mixed = causal_attention(*(t.reshape(size).swapaxes(1, 2) for t in parts))
        mixed = mixed.swapaxes(1, 2).reshape(Gpt.BATCH, Gpt.CONTEXT, Gpt.WIDTH)
        h = h + layer(mixed, f"{i}.out")
        up = jax.nn.gelu(layer(norm(h, f"{i}.norm2"), f"{i}.up"), approximate=False)
        h = h + layer(up, f"{i}.down")
    scores = linear(norm(h, "norm"), p["head"])
    return cross_entropy(scores.reshape(-1, Gpt.WORDS), targets.reshape(-1))


def cnn(p, x, target):
    def plain(h, w, stride, padding):
        return lax.conv_general_dilated(h, w, (stride, stride), [(padding, padding)] * 2,
                                        dimension_numbers=("NCHW", "OIHW", "NCHW"))

    def conv(h, name, stride=1):
        h = normalised(plain(h, p[name + ".w"], stride, 1), (0, 2, 3))
        return h * p[name + ".n.w"][:, None, None] + p[name + ".n.b"][:, None, None]

    h = jax.nn.relu(conv(x, "first"))
    for s, (_, _, stride) in enumerate(Cnn.STAGES):
        for b in range(2):
            step, name = (stride if b == 0 else 1), f"{s}.{b}"
            skip = h
            if name + ".skip.w" in p:
                skip = plain(h, p[name + ".skip.w"], step, 0)
            h = jax.nn.relu(conv(h, name + ".1", step))
            h = jax.nn.relu(conv(h, name + ".2") + skip)
    return cross_entropy(linear(h.mean((2, 3)), p["head.w"], p["head.b"]), target)


class Functions:
    """The functions of torch and of its functional module that Pinn.field calls."""
    cat, tanh, linear = staticmethod(jnp.concatenate), staticmethod(jnp.tanh), staticmethod(linear)


def pinn(p, x, t):
    def u_sum(x, t):
        u = Pinn.field(Functions, Functions, p, x, t)
        return u.sum(), u

    def u_x_sum(x, t):
        (u_x, u_t), u = jax.grad(u_sum, (0, 1), has_aux=True)(x, t)
        return u_x.sum(), (u, u_x, u_t)

    u_xx, (u, u_x, u_t) = jax.grad(u_x_sum, has_aux=True)(x, t)
    residual = u_t + u * u_x - 0.01 / jnp.pi * u_xx
    return (residual * residual).mean()


def rnn(p, x, target):
    def cell(h, row):
        return jnp.tanh(row @ p["in.w"] + h @ p["state.w"] + p["b"]), None

    h, _ = lax.scan(cell, jnp.zeros((Rnn.BATCH, Rnn.WIDTH)), x)
    error = linear(h, p["head.w"], p["head.b"]) - target
    return (error * error).mean()


LOSSES = {"mlp": mlp, "gpt": gpt, "cnn": cnn, "pinn": pinn, "rnn": rnn}
