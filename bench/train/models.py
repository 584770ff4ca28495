"""The five models, for torch and foregrad alike: parameters, data and the loss of a step.

A model is (shapes of parameters, data by numpy's generator, loss(torch, functional, p, data)).
"""
import math


def uniform(generator, shape):
    """As nn.Linear starts: by the number of inputs."""
    bound = 1 / math.sqrt(shape[-1] if len(shape) < 4 else math.prod(shape[1:]))
    return generator.uniform(-bound, bound, shape).astype("float32")


def numbers(generator, *shape):
    return generator.standard_normal(shape).astype("float32")


class Mlp:
    shapes = {"1.w": (512, 784), "1.b": (512,), "2.w": (512, 512), "2.b": (512,),
              "3.w": (10, 512), "3.b": (10,)}

    def data(g):
        return numbers(g, 64, 784), g.integers(0, 10, 64)

    def loss(torch, f, p, x, target):
        h = f.relu(f.linear(x, p["1.w"], p["1.b"]))
        h = f.relu(f.linear(h, p["2.w"], p["2.b"]))
        return f.cross_entropy(f.linear(h, p["3.w"], p["3.b"]), target)


class Gpt:
    LAYERS, WIDTH, HEADS, CONTEXT, BATCH, WORDS = 6, 384, 6, 128, 8, 96

    def shapes_of(layers, width, context, words):
        shapes = {"token": (words, width), "place": (context, width), "norm.w": (width,),
                  "norm.b": (width,), "head": (words, width)}
        for i in range(layers):
            shapes |= {f"{i}.norm1.w": (width,), f"{i}.norm1.b": (width,),
                       f"{i}.qkv.w": (3 * width, width), f"{i}.qkv.b": (3 * width,),
                       f"{i}.out.w": (width, width), f"{i}.out.b": (width,),
                       f"{i}.norm2.w": (width,), f"{i}.norm2.b": (width,),
                       f"{i}.up.w": (4 * width, width), f"{i}.up.b": (4 * width,),
                       f"{i}.down.w": (width, 4 * width), f"{i}.down.b": (width,)}
        return shapes

    shapes = shapes_of(LAYERS, WIDTH, CONTEXT, WORDS)

    def data(g):
        words = g.integers(0, Gpt.WORDS, (Gpt.BATCH, Gpt.CONTEXT + 1))
        return words[:, :-1].copy(), words[:, 1:].copy()

    def loss(torch, f, p, words, targets):
        def norm(h, name):
            return f.layer_norm(h, (Gpt.WIDTH,), p[name + ".w"], p[name + ".b"])

        def linear(h, name):
            return f.linear(h, p[name + ".w"], p[name + ".b"])

        size = (Gpt.BATCH, Gpt.CONTEXT, Gpt.HEADS, Gpt.WIDTH // Gpt.HEADS)
        h = f.embedding(words, p["token"]) + p["place"]
        for i in range(Gpt.LAYERS):
            parts = linear(norm(h, f"{i}.norm1"), f"{i}.qkv").split(Gpt.WIDTH, 2)
            q, k, v = (t.view(*size).transpose(1, 2) for t in parts)
            mixed = f.scaled_dot_product_attention(q, k, v, is_causal=True)
            mixed = mixed.transpose(1, 2).reshape(Gpt.BATCH, Gpt.CONTEXT, Gpt.WIDTH)
            h = h + linear(mixed, f"{i}.out")
            h = h + linear(f.gelu(linear(norm(h, f"{i}.norm2"), f"{i}.up")), f"{i}.down")
        scores = f.linear(norm(h, "norm"), p["head"])
        return f.cross_entropy(scores.view(-1, Gpt.WORDS), targets.view(-1))


class Cnn:
    shapes = {"first.w": (16, 3, 3, 3), "first.n.w": (16,), "first.n.b": (16,),
              "head.w": (10, 64), "head.b": (10,)}
    STAGES = [(16, 16, 1), (16, 32, 2), (32, 64, 2)]
    for _s, (_in, _out, _stride) in enumerate(STAGES):
        for _b in range(2):
            _from = _in if _b == 0 else _out
            shapes |= {f"{_s}.{_b}.1.w": (_out, _from, 3, 3), f"{_s}.{_b}.1.n.w": (_out,),
                       f"{_s}.{_b}.1.n.b": (_out,), f"{_s}.{_b}.2.w": (_out, _out, 3, 3),
                       f"{_s}.{_b}.2.n.w": (_out,), f"{_s}.{_b}.2.n.b": (_out,)}
            if _from != _out:
                shapes |= {f"{_s}.{_b}.skip.w": (_out, _from, 1, 1)}

    def data(g):
        return numbers(g, 32, 3, 32, 32), g.integers(0, 10, 32)

    def loss(torch, f, p, x, target):
        def conv(h, name, stride=1):
            h = f.conv2d(h, p[name + ".w"], None, stride, 1)
            return f.batch_norm(h, None, None, p[name + ".n.w"], p[name + ".n.b"], True)

        h = f.relu(conv(x, "first"))
        for s, (inputs, outputs, stride) in enumerate(Cnn.STAGES):
            for b in range(2):
                step, name = (stride if b == 0 else 1), f"{s}.{b}"
                skip = h
                if name + ".skip.w" in p:
                    skip = f.conv2d(h, p[name + ".skip.w"], None, step)
                h = f.relu(conv(h, name + ".1", step))
                h = f.relu(conv(h, name + ".2") + skip)
        return f.cross_entropy(f.linear(h.mean((2, 3)), p["head.w"], p["head.b"]), target)


class Pinn:
    shapes = {"1.w": (64, 2), "1.b": (64,), "2.w": (64, 64), "2.b": (64,), "3.w": (64, 64),
              "3.b": (64,), "4.w": (1, 64), "4.b": (1,)}
    second = True  # derivatives inside the loss

    def data(g):
        return numbers(g, 1024, 1), numbers(g, 1024, 1)

    def field(torch, f, p, x, t):
        h = torch.cat([x, t], 1)
        for i in "123":
            h = torch.tanh(f.linear(h, p[i + ".w"], p[i + ".b"]))
        return f.linear(h, p["4.w"], p["4.b"])

    def loss(torch, f, p, x, t):
        x, t = x.detach().requires_grad_(), t.detach().requires_grad_()
        u = Pinn.field(torch, f, p, x, t)
        u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        u_xx, = torch.autograd.grad(u_x.sum(), (x,), create_graph=True)
        residual = u_t + u * u_x - 0.01 / math.pi * u_xx
        return (residual * residual).mean()


class Rnn:
    STEPS, WIDTH, BATCH = 256, 64, 16
    shapes = {"in.w": (WIDTH, WIDTH), "state.w": (WIDTH, WIDTH), "b": (WIDTH,),
              "head.w": (1, WIDTH), "head.b": (1,)}

    def data(g):
        return numbers(g, Rnn.STEPS, Rnn.BATCH, Rnn.WIDTH), numbers(g, Rnn.BATCH, 1)

    def loss(torch, f, p, x, target):
        h = torch.zeros(Rnn.BATCH, Rnn.WIDTH)
        for i in range(Rnn.STEPS):
            h = torch.tanh(x[i] @ p["in.w"] + h @ p["state.w"] + p["b"])
        error = f.linear(h, p["head.w"], p["head.b"]) - target
        return (error * error).mean()


MODELS = {"mlp": Mlp, "gpt": Gpt, "cnn": Cnn, "pinn": Pinn, "rnn": Rnn}


def start(name):
    """Parameters and data as numpy arrays, the same for everybody."""
    import numpy  # here: bench/warm starts without it
    model, generator = MODELS[name], numpy.random.default_rng(7)
    parameters = {n: uniform(generator, s) if len(s) > 1 else
                  (numpy.ones(s, "float32") if n.endswith("n.w") or "norm" in n and "w" in n[-1]
                   else numpy.zeros(s, "float32")) for n, s in model.shapes.items()}
    return model, parameters, model.data(generator)
