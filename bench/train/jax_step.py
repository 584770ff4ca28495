"""JAX: the same step as one jitted function with donated buffers. Argument: model."""
import functools
import sys

import child
import jax
import jax.numpy as jnp
from jax_models import LOSSES
from models import start

LR, BETA1, BETA2, EPS, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.01


def adamw(p, m, v, g, scale1, scale2):
    m = m + (1 - BETA1) * (g - m)
    v = BETA2 * v + (1 - BETA2) * g * g
    return (1 - LR * DECAY) * p - LR * scale1 * m / (jnp.sqrt(v * scale2) + EPS), m, v


def make_step(name):
    _, parameters, data = start(name)
    # Copies: jax refuses to donate memory of numpy.
    p = {n: jnp.array(a, copy=True) for n, a in parameters.items()}
    m, v = ({n: jnp.zeros_like(a) for n, a in p.items()} for _ in "mv")
    data = [jnp.array(d) for d in data]

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def run(p, m, v, scale1, scale2, *data):
        loss, grads = jax.value_and_grad(LOSSES[name])(p, *data)
        new = {n: adamw(p[n], m[n], v[n], grads[n], scale1, scale2) for n in p}
        return loss, *({n: parts[i] for n, parts in new.items()} for i in range(3))

    count = 0

    def step():
        nonlocal count, p, m, v
        count += 1
        loss, p, m, v = run(p, m, v, 1 / (1 - BETA1 ** count), 1 / (1 - BETA2 ** count), *data)
        jax.block_until_ready((p, m, v))
        return loss.item()

    return step


if __name__ == "__main__":
    child.serve(make_step, sys.argv[1])
