"""Attention by name of library: `cases.py torch` or `cases.py foregrad`, one JSON line per case."""
import importlib
import json
import sys
import time

torch = importlib.import_module(sys.argv[1])
attention = importlib.import_module(sys.argv[1] + ".nn.functional").scaled_dot_product_attention
WIDTH, THREADS = 64, 2
SIZES = ((8, 6, 128), (2, 6, 1024))  # batch, heads, length: a small GPT, and a long one


def fastest(call, seconds=0.4):
    """The least of many runs, in ms: what others do on the machine only adds."""
    call()
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def measure(batch, heads, length, causal):
    size = (batch, length, heads, WIDTH)
    parts = torch.randn(batch, length, 3 * heads * WIDTH).split(heads * WIDTH, 2)
    q, k, v = (part.view(*size).transpose(1, 2).requires_grad_() for part in parts)
    grad = torch.randn(*size).transpose(1, 2)

    def forward():
        with torch.no_grad():
            attention(q, k, v, is_causal=causal)

    def both():
        torch.autograd.grad(attention(q, k, v, is_causal=causal), (q, k, v), grad)

    name = f"{batch}x{heads}x{length}x{WIDTH}{' causal' if causal else ''}"
    for what, call in (("forward", forward), ("forward+backward", both)):
        print(json.dumps({"case": f"{name} {what}", "unit": "ms", "value": fastest(call)}))


torch.set_num_threads(THREADS)
for sizes in SIZES:
    for is_causal in (True, False):
        measure(*sizes, is_causal)
