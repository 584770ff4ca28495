"""A GPT of 12 layers, width 384, 6 heads, context 128, batch 8, for torch and foregrad alike."""
LAYERS, WIDTH, HEADS, CONTEXT, BATCH, WORDS = 12, 384, 6, 128, 8, 96


def shapes():
    """Sizes of all parameters by name."""
    every = {"token": (WORDS, WIDTH), "place": (CONTEXT, WIDTH), "norm.w": (WIDTH,),
             "norm.b": (WIDTH,), "head": (WORDS, WIDTH)}
    layer = {"norm1.w": (WIDTH,), "norm1.b": (WIDTH,), "qkv.w": (3 * WIDTH, WIDTH),
             "qkv.b": (3 * WIDTH,), "out.w": (WIDTH, WIDTH), "out.b": (WIDTH,),
             "norm2.w": (WIDTH,), "norm2.b": (WIDTH,), "up.w": (4 * WIDTH, WIDTH),
             "up.b": (4 * WIDTH,), "down.w": (WIDTH, 4 * WIDTH), "down.b": (WIDTH,)}
    for i in range(LAYERS):
        every.update({f"{i}.{name}": sizes for name, sizes in layer.items()})
    return every


def parameters(torch):
    return {name: (torch.randn(*sizes) * 0.02).requires_grad_()
            for name, sizes in shapes().items()}


def data(torch):
    return (torch.randint(0, WORDS, (BATCH, CONTEXT)), torch.randint(0, WORDS, (BATCH, CONTEXT)),
            torch.ones(CONTEXT, CONTEXT).tril() == 0)


def attention(functional, h, hidden, p):
    q, k, v = functional.linear(h, p["qkv.w"], p["qkv.b"]).split(WIDTH, 2)
    q, k, v = (t.view(BATCH, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
    scores = (q @ k.transpose(-2, -1)) * (WIDTH // HEADS) ** -0.5
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    mixed = (weights @ v).transpose(1, 2).reshape(BATCH, CONTEXT, WIDTH)
    return functional.linear(mixed, p["out.w"], p["out.b"])


def loss(functional, p, words, targets, hidden):
    def norm(h, w, b):
        return functional.layer_norm(h, (WIDTH,), w, b)

    h = functional.embedding(words, p["token"]) + p["place"]
    for i in range(LAYERS):
        layer = {n.split(".", 1)[1]: t for n, t in p.items() if n.startswith(f"{i}.")}
        h = h + attention(functional, norm(h, layer["norm1.w"], layer["norm1.b"]), hidden, layer)
        up = functional.linear(norm(h, layer["norm2.w"], layer["norm2.b"]), layer["up.w"],
                               layer["up.b"])
        h = h + functional.linear(functional.gelu(up), layer["down.w"], layer["down.b"])
    scores = functional.linear(norm(h, p["norm.w"], p["norm.b"]), p["head"])
    return functional.cross_entropy(scores.view(-1, WORDS), targets.view(-1))
