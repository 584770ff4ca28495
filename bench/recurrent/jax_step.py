"""The same steps in JAX: one jitted function with donated parameters. [--losses]"""
import functools

import clock
import jax
import jax.numpy as jnp
from jax import lax
from models import BATCH, CASES, HEADS, HIDDEN, LAYERS, RATE, WIDTH, start


def lstm(p, x):
    gates = x @ p["weight_ih_l0"].T + (p["bias_ih_l0"] + p["bias_hh_l0"])

    def cell(state, row):
        h, c = state
        i, f, g, o = jnp.split(row + h @ p["weight_hh_l0"].T, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((BATCH, HIDDEN))
    return lax.scan(cell, (zeros, zeros), gates)[1]


def gru(p, x):
    gates = x @ p["weight_ih_l0"].T + p["bias_ih_l0"]

    def cell(h, row):
        r, z, n = jnp.split(row, 3, 1)
        hr, hz, hn = jnp.split(h @ p["weight_hh_l0"].T + p["bias_hh_l0"], 3, 1)
        z = jax.nn.sigmoid(z + hz)
        n = jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn)
        h = (1 - z) * n + z * h
        return h, h

    return lax.scan(cell, jnp.zeros((BATCH, HIDDEN)), gates)[1]


def transformer(p, x):
    def linear(x, name):
        return x @ p[name + "weight"].T + p[name + "bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scale = lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
        return centred * scale * p[name + "weight"] + p[name + "bias"]

    for i in range(LAYERS):
        at = f"layers.{i}."
        heads = (*x.shape[:2], HEADS, WIDTH // HEADS)
        q, k, v = (part.reshape(heads).swapaxes(1, 2)
                   for part in jnp.split(linear(x, at + "self_attn.in_proj_"), 3, 2))
        weights = jax.nn.softmax(q @ k.swapaxes(2, 3) / heads[-1] ** 0.5)
        mixed = (weights @ v).swapaxes(1, 2).reshape(x.shape)
        x = norm(x + linear(mixed, at + "self_attn.out_proj."), at + "norm1.")
        inner = linear(jax.nn.relu(linear(x, at + "linear1.")), at + "linear2.")
        x = norm(x + inner, at + "norm2.")
    return x


MODELS = {"lstm": lstm, "gru": gru, "transformer": transformer}


def make_step(case):
    parameters, x, target = start(case)
    # Copies: jax refuses to donate memory of numpy.
    p = {name: jnp.array(values, copy=True) for name, values in parameters.items()}
    x, target = jnp.array(x), jnp.array(target)

    def loss_of(p, x, target):
        return ((MODELS[case](p, x) - target) ** 2).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def run(p, x, target):
        loss, grads = jax.value_and_grad(loss_of)(p, x, target)
        return loss, {name: values - RATE * grads[name] for name, values in p.items()}

    def step():
        nonlocal p
        loss, p = run(p, x, target)
        jax.block_until_ready(p)
        return loss.item()

    return step


if __name__ == "__main__":
    for name in CASES:
        clock.report(make_step(name), [f"{name} eager", f"{name} compiled"])
