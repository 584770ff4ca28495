"""Attention of several heads and transformers: forward, backward, second backward."""
import contextlib
import inspect

import numpy

from recurrent import case, derivatives, described, fill, listed, numbers

E, L, S, N = 4, 3, 5, 2
# Arguments of the module; arguments of the call, in which `m` makes masks.
ATTENTIONS = [
    ("4, 2", ""), ("4, 2, bias=False", "need_weights=False"), ("4, 1, add_bias_kv=True", ""),
    ("4, 2, add_zero_attn=True", ""), ("4, 2, kdim=3, vdim=2", "average_attn_weights=False"),
    ("4, 2, add_bias_kv=True, add_zero_attn=True", "attn_mask=m(L, S), key_padding_mask=p()"),
    ("4, 2, add_bias_kv=True, kdim=3, vdim=6", "attn_mask=m(L, S) > 0, need_weights=False"),
    ("4, 2, batch_first=True", "key_padding_mask=p(), need_weights=False"),
    ("4, 2, batch_first=True", "attn_mask=m(4, L, S), average_attn_weights=False"),
    ("4, 2", "attn_mask=m(4, L, S) > 0.5, key_padding_mask=p(), need_weights=False"),
    ("4, 4", "attn_mask=m(L, S), key_padding_mask=m(N, S)"),
]
SELF = [
    ("4, 2", "attn_mask=causal(), is_causal=True, need_weights=False"),
    ("4, 2", "attn_mask=causal(), is_causal=True"), ("4, 2, add_bias_kv=True", ""),
    ("4, 2, batch_first=True", "attn_mask=causal() < 0, need_weights=False"),
]
ENCODERS = [
    ("4, 2, 6", ""), ("4, 2, 6, activation='gelu', norm_first=True", "src_mask=causal()"),
    ("4, 1, 6, batch_first=True, bias=False", "src_key_padding_mask=p()"),
    ("4, 2, 6, layer_norm_eps=1e-2, activation=lib.tanh", "src_mask=causal(), is_causal=True"),
    ("4, 2, 6, batch_first=True, norm_first=True",
     "src_mask=m(4, S, S) > 1, src_key_padding_mask=p()"),
]
DECODERS = [
    ("4, 2, 6", ""), ("4, 2, 6, activation='gelu', norm_first=True", "tgt_mask=causal(L)"),
    ("4, 2, 6, bias=False, batch_first=True",
     "memory_key_padding_mask=p(), tgt_mask=causal(L), tgt_is_causal=True"),
    ("4, 4, 6", "memory_mask=m(L, S)"),
]
MODELS = [
    ("4, 2, 1, 1, 6", ""), ("4, 2, 2, 1, 6, norm_first=True", "src_mask=causal()"),
    ("4, 2, 1, 2, 6, activation='gelu', batch_first=True",
     "tgt_mask=causal(L), src_key_padding_mask=p(), memory_key_padding_mask=p()"),
    ("4, 2, 1, 1, 6, bias=False", "tgt_mask=causal(L), tgt_is_causal=True, memory_mask=m(L, S)"),
]
# The text of a call of scaled_dot_product_attention.
PRODUCTS = ["q, k, v", "q, k, v, scale=0.3", "q, k, v, m(L, S)", "q, k, v, m(L, S) > 0",
            "q, k, v, m(N, 1, L, S)", "q, k, v, None, 0.0, True",
            "q, k[:, :2], v[:, :2], enable_gqa=True",
            "q, k[:, :1], v[:, :2], enable_gqa=True, is_causal=True, scale=2.0",
            "q[0], k[0], v[0], m(L, S)", "q[0, 0], k[0, 0], v[0, 0], is_causal=True",
            "q, k, v[..., :2], m(S)", "q, k[:1], v[:1]"]
CLASSES = ["MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerEncoderLayer",
           "TransformerDecoder", "TransformerDecoderLayer"]


def scope_of(lib, draw):
    def causal(size=S):
        return lib.nn.Transformer.generate_square_subsequent_mask(size, dtype=lib.float64)

    return {"lib": lib, "nn": lib.nn, "L": L, "S": S, "N": N, "causal": causal,
            "m": lambda *sizes: numbers(lib, sizes, draw),
            "p": lambda: lib.tensor([[False] * 4 + [True], [False, False, True, True, False]])}


def laid_out(lib, module_text, length, width, draw):
    first = "batch_first" in module_text
    return numbers(lib, (N, length, width) if first else (length, N, width), draw,
                   requires_grad=True)


def observed(lib, text, call, inputs, draw, scope):
    module = fill(lib, eval(f"nn.{text}", scope), draw)
    out = module(*inputs, **eval(f"dict({call})", scope))
    leaves = list({id(x): x for x in (*inputs, *module.parameters())}.values())
    return case(f"{text} with {call or 'nothing'}",
                {**described(module), **derivatives(lib, out, leaves, draw)})


def attention_cases(lib):
    draw = numpy.random.default_rng(21)
    scope = scope_of(lib, draw)
    for text, call in ATTENTIONS:
        sizes = {"kdim": E, "vdim": E}
        sizes.update({part.split("=")[0]: int(part.split("=")[1]) for part in text.split(", ")
                      if part.startswith(("kdim", "vdim"))})
        inputs = [laid_out(lib, text, L, E, draw), laid_out(lib, text, S, sizes["kdim"], draw),
                  laid_out(lib, text, S, sizes["vdim"], draw)]
        yield observed(lib, f"MultiheadAttention({text})", call, inputs, draw, scope)
    for text, call in SELF:
        x = laid_out(lib, text, S, E, draw)
        yield observed(lib, f"MultiheadAttention({text})", call, [x, x, x], draw, scope)
    for text in ("4, 2", "4, 2, batch_first=True, add_zero_attn=True"):
        q, k = (numbers(lib, (n, E), draw, requires_grad=True) for n in (L, S))
        for call in ("", "attn_mask=m(L, S) > 0, key_padding_mask=p()[0]", "attn_mask=m(2, L, S)"):
            yield observed(lib, f"MultiheadAttention({text})", call, [q, k, k], draw, scope)


def layer_cases(lib):
    draw = numpy.random.default_rng(22)
    scope = scope_of(lib, draw)
    for text, call in ENCODERS:
        x = laid_out(lib, text, S, E, draw)
        text = f"TransformerEncoderLayer({text}, dropout=0.0)"
        yield observed(lib, text, call, [x], draw, scope)
        call = call.replace("src_mask", "mask")
        if "is_causal" not in call:
            yield observed(lib, f"TransformerEncoder(nn.{text}, 2, nn.LayerNorm(4))", call, [x],
                           draw, scope)
    for text, call in DECODERS:
        x, memory = laid_out(lib, text, L, E, draw), laid_out(lib, text, S, E, draw)
        text = f"TransformerDecoderLayer({text}, dropout=0.0)"
        yield observed(lib, text, call, [x, memory], draw, scope)
        yield observed(lib, f"TransformerDecoder(nn.{text}, 2)", call, [x, memory], draw, scope)
    for text, call in MODELS:
        x, y = laid_out(lib, text, S, E, draw), laid_out(lib, text, L, E, draw)
        yield observed(lib, f"Transformer({text}, dropout=0.0)", call, [x, y], draw, scope)


def product_cases(lib):
    draw = numpy.random.default_rng(23)
    scope = scope_of(lib, draw)
    for text in PRODUCTS:
        leaves = [numbers(lib, (N, 4, n, 3), draw, requires_grad=True) for n in (L, S, S)]
        out = eval(f"lib.nn.functional.scaled_dot_product_attention({text})",
                   {**scope, **dict(zip("qkv", leaves))})
        yield case(f"scaled_dot_product_attention({text})",
                   derivatives(lib, [out], leaves, draw))
    x, statics = numbers(lib, (L, N, E), draw), [numbers(lib, (4, S, 2), draw) for _ in range(2)]
    weights = [numbers(lib, sizes, draw) for sizes in ((12, 4), (12,), (4, 4), (4,))]
    out, shares = lib.nn.functional.multi_head_attention_forward(
        x, x, x, 4, 2, *weights[:2], None, None, False, 0.0, *weights[2:], static_k=statics[0],
        static_v=statics[1])
    yield case("multi_head_attention_forward of static keys",
               {"out": listed(out), "shares": listed(shares)})
    yield case("a causal mask", {"mask": listed(
        lib.nn.Transformer.generate_square_subsequent_mask(3)[1])})


def signature_cases(lib):
    for name in CLASSES:
        for method in ("__init__", "forward"):
            found = inspect.signature(getattr(getattr(lib.nn, name), method)).parameters.values()
            yield case(f"arguments of {name}.{method}", {
                "names": [p.name for p in found],
                "defaults": [getattr(p.default, "__name__", repr(p.default)) for p in found
                             if p.default is not inspect.Parameter.empty]})
    found = inspect.signature(lib.nn.functional.multi_head_attention_forward).parameters
    yield case("arguments of multi_head_attention_forward", {"names": list(found)})


def whole_derivatives(lib):
    """PyTorch's fast kernel has no second gradient."""
    if lib.__name__ != "torch":
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel
    return sdpa_kernel(SDPBackend.MATH)


def cases(lib):
    with whole_derivatives(lib):
        for make in (attention_cases, layer_cases, product_cases, signature_cases):
            yield from make(lib)
