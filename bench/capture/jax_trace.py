"""The gradient of the same model through jax.make_jaxpr."""
import json
import time

import gpt
import jax
import jax.numpy as jnp


def norm(h, w, b):
    mean = h.mean(-1, keepdims=True)
    variance = ((h - mean) ** 2).mean(-1, keepdims=True)
    return (h - mean) / jnp.sqrt(variance + 1e-5) * w + b


def attention(h, hidden, p):
    mixed = h @ p["qkv.w"].T + p["qkv.b"]
    shape = (gpt.BATCH, gpt.CONTEXT, gpt.HEADS, gpt.WIDTH // gpt.HEADS)
    q, k, v = (t.reshape(shape).transpose(0, 2, 1, 3) for t in jnp.split(mixed, 3, 2))
    scores = (q @ k.transpose(0, 1, 3, 2)) * (gpt.WIDTH // gpt.HEADS) ** -0.5
    weights = jax.nn.softmax(jnp.where(hidden, -jnp.inf, scores), -1)
    out = (weights @ v).transpose(0, 2, 1, 3).reshape(gpt.BATCH, gpt.CONTEXT, gpt.WIDTH)
    return out @ p["out.w"].T + p["out.b"]


def loss(p, words, targets, hidden):
    h = p["token"][words] + p["place"]
    for i in range(gpt.LAYERS):
        layer = {n.split(".", 1)[1]: t for n, t in p.items() if n.startswith(f"{i}.")}
        h = h + attention(norm(h, layer["norm1.w"], layer["norm1.b"]), hidden, layer)
        up = norm(h, layer["norm2.w"], layer["norm2.b"]) @ layer["up.w"].T + layer["up.b"]
        h = h + jax.nn.gelu(up, approximate=False) @ layer["down.w"].T + layer["down.b"]
    scores = norm(h, p["norm.w"], p["norm.b"]) @ p["head"].T
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores, -1), targets[..., None], -1)
    return -chosen.mean()


def main():
    p = {name: jnp.zeros(sizes) for name, sizes in gpt.shapes().items()}
    words = jnp.zeros((gpt.BATCH, gpt.CONTEXT), int)
    hidden = jnp.tril(jnp.ones((gpt.CONTEXT, gpt.CONTEXT))) == 0
    begin = time.perf_counter()
    jax.make_jaxpr(jax.grad(loss))(p, words, words, hidden)
    value = 1e3 * (time.perf_counter() - begin)
    print(json.dumps({"case": "capture vs jax", "unit": "ms", "value": value}))


main()
