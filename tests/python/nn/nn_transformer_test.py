"""Attention of several heads and transformers: values, masks, captures, refusals."""

import copy
import warnings

import foregrad as fg
import pytest

nn, F = fg.nn, fg.nn.functional
causal = nn.Transformer.generate_square_subsequent_mask


def attended(module, x, mask):
    """The definition, head by head."""
    q, k, v = F.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    size, heads = module.head_dim, []
    for i in range(module.num_heads):
        part = slice(i * size, (i + 1) * size)
        scores = q[..., part] @ k[..., part].transpose(-2, -1) / size ** 0.5
        heads.append((scores + mask).softmax(-1) @ v[..., part])
    return module.out_proj(fg.cat(heads, -1))


def test_attention_is_its_definition():
    fg.manual_seed(0)
    module, x = nn.MultiheadAttention(8, 2, batch_first=True).double(), fg.randn(3, 5, 8).double()
    mask = causal(5, dtype=fg.float64)
    expected = attended(module, x, mask)
    for options in ({}, {"need_weights": False}, {"need_weights": False, "is_causal": True}):
        out, weights = module(x, x, x, attn_mask=mask, **options)
        assert out.allclose(expected) and (weights is None) == bool(options)
    out, weights = module(x, x, x, attn_mask=mask < 0, average_attn_weights=False)
    assert out.allclose(expected) and weights.shape == (3, 2, 5, 5)
    alone, _ = module(x[1], x[1], x[1], attn_mask=mask)
    assert alone.allclose(expected[1])


def test_padding_hides_keys():
    fg.manual_seed(1)
    module, q, k = nn.MultiheadAttention(4, 2), fg.randn(3, 2, 4), fg.randn(5, 2, 4)
    padding = fg.tensor([[False] * 3 + [True] * 2] * 2)
    expected, weights = module(q, k[:3], k[:3])
    out, shares = module(q, k, k, key_padding_mask=padding)
    assert out.allclose(expected, atol=1e-6) and shares[..., :3].allclose(weights, atol=1e-6)
    assert module(q, k, k, key_padding_mask=padding, need_weights=False)[0].allclose(
        expected, atol=1e-6)


def test_more_keys():
    fg.manual_seed(2)
    module = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, kdim=3, vdim=2)
    names = ["q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k", "bias_v",
             "out_proj.weight", "out_proj.bias"]
    assert list(module.state_dict()) == names
    out, weights = module(fg.randn(3, 2, 4), fg.randn(5, 2, 3), fg.randn(5, 2, 2),
                          attn_mask=fg.zeros(3, 5))
    assert out.shape == (3, 2, 4) and weights.shape == (2, 3, 7)


def test_the_function_is_the_module():
    fg.manual_seed(3)
    module, x = nn.MultiheadAttention(4, 2), fg.randn(3, 2, 4)
    out, weights = F.multi_head_attention_forward(
        x, x, x, 4, 2, module.in_proj_weight, module.in_proj_bias, None, None, False, 0.0,
        module.out_proj.weight, module.out_proj.bias)
    expected = module(x, x, x)
    assert out.equal(expected[0]) and weights.equal(expected[1])


def test_a_mask_and_a_causal_one_hide_together():
    fg.manual_seed(4)
    q, mask = fg.randn(1, 2, 4, 3), fg.randn(4, 4)
    out = F.scaled_dot_product_attention(q, q, q, mask, is_causal=True)
    assert out.equal(F.scaled_dot_product_attention(q, q, q, mask + causal(4)))


def test_an_encoder_sees_that_a_mask_is_causal():
    fg.manual_seed(5)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2)
    x = fg.randn(5, 2, 8)
    out = encoder(x, mask=causal(5))
    assert out.equal(encoder(x, mask=causal(5), is_causal=True))
    assert out.equal(encoder(x, mask=causal(5), is_causal=False))
    short = encoder(x[:3], mask=causal(3))
    assert short.allclose(out[:3], atol=1e-6)


def test_norms_before_and_activations_by_name_or_function():
    fg.manual_seed(6)
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", norm_first=True, bias=False)
    assert layer.norm1.bias is None and layer.linear1.bias is None
    x = fg.randn(5, 2, 8)
    y = layer.norm1(x)
    mixed = x + layer.self_attn(y, y, y)[0]
    inner = layer.linear2(F.gelu(layer.linear1(layer.norm2(mixed))))
    assert layer(x).allclose(mixed + inner, atol=1e-6)
    other = nn.TransformerEncoderLayer(8, 2, 16, 0.0, lambda x: F.gelu(x), norm_first=True,
                                       bias=False)
    other.load_state_dict(layer.state_dict())
    assert other(x).equal(layer(x))


def test_a_decoder_looks_at_its_memory():
    fg.manual_seed(7)
    model = nn.Transformer(8, 2, 1, 2, 16, dropout=0.0, batch_first=True)
    source, target = fg.randn(2, 5, 8), fg.randn(2, 3, 8)
    out = model(source, target, tgt_mask=causal(3))
    assert out.shape == (2, 3, 8)
    assert model(source, target[:, :2], tgt_mask=causal(2)).allclose(out[:, :2], atol=1e-5)
    padding = fg.tensor([[False] * 4 + [True]] * 2)
    masks = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    changed = source.clone()
    changed[:, 4] += 1
    assert model(source, target, **masks).equal(model(changed, target, **masks))


CAPTURED = {
    "attention": (lambda: nn.MultiheadAttention(8, 2, dropout=0.2, add_bias_kv=True),
                  lambda m, x: m(x, x, x, attn_mask=causal(6))),
    "an encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2),
                   lambda m, x: [m(x, mask=causal(6))]),
    "norms first": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True,
                                                       activation="gelu"),
                    lambda m, x: [m(x, src_key_padding_mask=fg.tensor([[False] * 3 + [True]] * 6)
                                      )]),
    "a transformer": (lambda: nn.Transformer(8, 2, 1, 1, 16),
                      lambda m, x: [m(x, x, tgt_mask=causal(6), tgt_is_causal=True)]),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_modules_have_the_bits_of_eager_ones(name):
    make, call = CAPTURED[name]
    fg.manual_seed(8)
    eager = make()
    other = copy.deepcopy(eager)
    compiled = fg.compile(lambda x: call(other, x), fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(2):
            seen = []
            for run, model in ((lambda x: call(eager, x), eager), (compiled, other)):
                fg.manual_seed(9 + i)
                x = (fg.arange(192.0).reshape(6, 4, 8) * (0.1 + i)).sin().requires_grad_()
                model.zero_grad()
                outputs = run(x)
                sum((out * out).sum() for out in outputs).backward()
                seen.append([*outputs, x.grad, *(p.grad for p in model.parameters())])
            assert all(a is b is None or a.equal(b) for a, b in zip(*seen))


def attend(*sizes, **options):
    return nn.MultiheadAttention(4, 2)(*(fg.zeros(*size) for size in sizes), **options)


ROWS = [(2, 3, 4)] * 3


@pytest.mark.parametrize("kind, message, call", [
    (AssertionError, "divisible by num_heads", lambda: nn.MultiheadAttention(5, 2)),
    (AssertionError, "was expecting embedding dimension of 4, but got 5",
     lambda: attend(*[(2, 3, 5)] * 3)),
    (AssertionError, "does not match value shape", lambda: attend(*ROWS[:2], (3, 3, 4))),
    (AssertionError, "received 1-D query", lambda: attend((4,), (2, 4), (2, 4))),
    (AssertionError, "to be 3-D but found 2-D and 2-D", lambda: attend(*ROWS[:1], (2, 4), (2, 4))),
    (RuntimeError, r"but should be \(2, 2\)", lambda: attend(*ROWS, attn_mask=fg.zeros(3, 3))),
    (RuntimeError, r"but should be \(6, 2, 2\)", lambda: attend(*ROWS,
                                                               attn_mask=fg.zeros(3, 2, 2))),
    (AssertionError, "only bool and floating types of attn_mask",
     lambda: attend(*ROWS, attn_mask=fg.zeros(2, 2).long())),
    (AssertionError, "key_padding_mask shape", lambda: attend(*ROWS,
                                                              key_padding_mask=fg.zeros(2, 2))),
    (RuntimeError, "Need attn_mask if specifying the is_causal hint",
     lambda: attend(*ROWS, is_causal=True)),
    (RuntimeError, "should be relu/gelu, not x",
     lambda: nn.TransformerEncoderLayer(4, 2, activation="x")),
    (RuntimeError, "the batch number of src and tgt", lambda: nn.Transformer(4, 2, 1, 1, 8)(
        fg.zeros(3, 2, 4), fg.zeros(3, 3, 4))),
    (RuntimeError, "the feature number of src and tgt", lambda: nn.Transformer(4, 2, 1, 1, 8)(
        fg.zeros(3, 2, 5), fg.zeros(3, 2, 5))),
])
def test_wrong_calls_are_refused(kind, message, call):
    with pytest.raises(kind, match=message):
        call()


def test_masks_of_two_kinds_warn():
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        attend(*ROWS, key_padding_mask=fg.zeros(3, 2).bool(), attn_mask=fg.zeros(2, 2))
