"""Products and convolutions: shapes, options, gradients of first and second order, errors."""
from observe import Raised, outcome, raises, register, see

# Name -> (shapes of the arguments a, b, c; texts).
CALLS = {
    "matmul_2d": ([(2, 3), (3, 4)], ("a @ b", "torch.matmul(a, b)", "a.mm(b)", "b.t() @ a.t()")),
    "matmul_vector": ([(3,), (3, 4)], ("a @ b", "b.t() @ a", "a @ a", "b.t().mv(a)", "a.dot(a)",
                                       "torch.outer(a, a)", "a.inner(a)", "torch.vdot(a, a)")),
    "matmul_batch": ([(2, 3, 4), (2, 4, 2)], ("a @ b", "a.bmm(b)", "a @ b[0]", "a[0] @ b",
                                              "a @ b[0, :, 0]", "a[0, 0] @ b")),
    "matmul_broadcast": ([(2, 1, 3, 4), (5, 4, 2)], ("a @ b", "a[0] @ b", "a @ b[0]")),
    "matmul_empty": ([(2, 0), (0, 3)], ("a @ b", "b @ a", "a.mm(b)", "a.t() @ a")),
    "matmul_errors": ([(2, 3), (2, 3)], ("a @ b", "a.mm(b[0])", "a.bmm(b)", "a @ 2", "a.dot(b)",
                                         "a @ a.sum()", "a.mv(b)", "a[0].dot(b[0, :2])")),
    "matmul_dtypes": ([(2, 2), (2, 2)], ("a.float() @ b", "a.float() @ b.float()",
                                         "a.long() @ b.long()", "a.half() @ b.half()",
                                         "a.bool() @ b.bool()", "a.bfloat16() @ b.bfloat16()")),
    "matmul_layouts": ([(3, 2), (4, 3)], ("a.t() @ b.t()", "b @ a", "b[::2] @ a[:, 1:]",
                                          "(b @ a).t()", "b.expand(2, 4, 3) @ a")),
    "addmm": ([(4,), (2, 3), (3, 4)], ("torch.addmm(a, b, c)", "torch.addmm(a, b, c, beta=2)",
                                       "a.expand(2, 4).addmm(b, c, alpha=0.5)",
                                       "torch.addmm(a, b, c, beta=0)", "torch.addmm(b, b, c)",
                                       "torch.addmv(a, c.t(), b[0])", "torch.addr(a, a, a)")),
    "baddbmm": ([(2, 2, 2), (2, 2, 3), (2, 3, 2)], ("torch.baddbmm(a, b, c)",
                                                    "torch.baddbmm(a, b, c, beta=0.5, alpha=2)",
                                                    "torch.addbmm(a[0], b, c)", "b.baddbmm(a, c)")),
    "linear": ([(2, 3), (4, 3), (4,)], ("F.linear(a, b)", "F.linear(a, b, c)",
               "F.linear(a[0], b, c)",
                                        "F.linear(a[None], b, c)", "F.linear(a, c)",
                                        "F.linear(a, b.t())", "F.linear(b, a)")),
    "einsum": ([(2, 3), (3, 4)], ("torch.einsum('ij,jk->ik', a, b)", "torch.einsum('ij->ji', a)")),
    "conv1d": ([(2, 3, 7), (4, 3, 3), (4,)], (
        "F.conv1d(a, b)", "F.conv1d(a, b, c)", "F.conv1d(a, b, stride=2, padding=1)",
        "F.conv1d(a, b, dilation=2)", "F.conv1d(a[0], b, c)", "F.conv1d(a, b, padding='same')",
        "F.conv1d(a, b, padding='valid')", "F.conv1d(a, b[:, :1])",
        "F.conv1d(a, b[:3, :1], groups=3)",
        "F.conv1d(a, b, stride=0)", "F.conv1d(a, b, padding=-1)", "F.conv1d(a[:, :, :2], b)",
        "F.conv1d(a, b, c[:2])", "F.conv1d(a, b.float())", "F.conv1d(a, b, padding=(1,))")),
    "conv2d": ([(1, 2, 5, 4), (4, 2, 2, 3), (4,)], (
        "F.conv2d(a, b)", "F.conv2d(a, b, c, stride=(2, 1), padding=(1, 0))",
        "F.conv2d(a, b, padding='same')", "F.conv2d(a[0], b)", "F.conv2d(a, b[:, :1], groups=2)",
        "F.conv2d(a, b, dilation=(2, 1))", "F.conv2d(a.transpose(2, 3), b)",
        "F.conv2d(a, b, groups=3)",
        "F.conv2d(a, b, stride=2, padding='same')", "F.conv2d(a[0, 0], b)",
        "torch.conv2d(a, b, c, 1, 1)")),
    "conv3d": ([(1, 2, 3, 3, 3), (2, 2, 2, 2, 2), (2,)], (
        "F.conv3d(a, b)", "F.conv3d(a, b, c, padding=1, stride=2)", "F.conv3d(a[0], b)")),
    "conv_transpose1d": ([(2, 3, 4), (3, 2, 3), (2,)], (
        "F.conv_transpose1d(a, b)", "F.conv_transpose1d(a, b, c, stride=2)",
        "F.conv_transpose1d(a, b, stride=2, padding=1, output_padding=1)",
        "F.conv_transpose1d(a, b, output_padding=1)", "F.conv_transpose1d(a, b, dilation=2)",
        "F.conv_transpose1d(a, b, groups=3)", "F.conv_transpose1d(a[0], b)")),
    "conv_transpose2d": ([(1, 2, 3, 3), (2, 2, 2, 2), (4,)], (
        "F.conv_transpose2d(a, b)", "F.conv_transpose2d(a, b, c, groups=2)",
        "F.conv_transpose2d(a, b, stride=(2, 1), output_padding=(1, 0))",
        "F.conv_transpose2d(a, b, c)")),
    "pools": ([(1, 2, 6, 5)], (
        "F.max_pool2d(a, 2)", "F.max_pool2d(a, (2, 3), stride=1)", "F.max_pool2d(a, 2, padding=1)",
        "F.max_pool2d(a, 2, ceil_mode=True)", "F.max_pool2d(a, 2, dilation=2)",
        "F.max_pool2d(a, 2, return_indices=True)", "F.avg_pool2d(a, 2)",
        "F.max_pool2d(a, 2, padding=2)",
        "F.avg_pool2d(a, 3, stride=1, padding=1, count_include_pad=False)",
        "F.avg_pool2d(a, 2, ceil_mode=True)", "F.avg_pool2d(a, 2, divisor_override=3)",
        "F.max_pool2d(a, 7)", "F.max_pool1d(a[0], 2)", "F.avg_pool1d(a[0], 2)",
        "F.max_pool2d(a[0], 2)")),
    "adaptive_pools": ([(1, 2, 6, 5)], (
        "F.adaptive_avg_pool2d(a, 2)", "F.adaptive_avg_pool2d(a, (3, None))",
        "F.adaptive_max_pool2d(a, 2)", "F.adaptive_max_pool2d(a, 2, return_indices=True)",
        "F.adaptive_avg_pool1d(a[0], 4)", "F.adaptive_max_pool1d(a[0], 1)",
        "F.adaptive_avg_pool2d(a, 0)", "F.adaptive_avg_pool2d(a, 9)")),
    "attention": ([(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)], (
        "F.scaled_dot_product_attention(a, b, c)",
        "F.scaled_dot_product_attention(a, b, c, is_causal=True)",
        "F.scaled_dot_product_attention(a, b, c, scale=0.3)",
        "F.scaled_dot_product_attention(a, b, c, attn_mask=torch.ones(3, 5).tril().bool())",
        "F.scaled_dot_product_attention(a, b, c, attn_mask=torch.zeros(3, 5, dtype=torch.float64))",
        "F.scaled_dot_product_attention(a, b[..., :2], c)")),
    "norms_of_matrices": ([(3, 3)], (
        "a.norm()", "a.norm(1)", "a.norm(2, dim=1)", "a.norm(float('inf'))", "torch.linalg.norm(a)",
        "torch.linalg.inv(a)", "torch.det(a)", "torch.cdist(a, a)",
        "torch.linalg.vector_norm(a, 3)")),
    "products_of_vectors": ([(3,), (3,)], (
        "torch.cross(a, b, dim=0)", "torch.kron(a, b)", "torch.dot(a, b)", "a * b",
        "torch.outer(a, b)",
        "torch.tensordot(a, b, dims=1)", "F.cosine_similarity(a, b, dim=0)", "torch.ger(a, b)",
        "torch.inner(a, b)", "torch.chain_matmul(a[None], b[:, None])")),
}


def second_order(torch, draw, label, result, leaves):
    """Gradients of the squares of all outputs, and of those gradients."""
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    squares = [t * t for t in outputs if getattr(t, "requires_grad", False)]
    if not squares:
        return
    first = outcome(lambda: torch.autograd.grad(
        squares, leaves, [draw.weights_like(t) for t in squares], create_graph=True,
        allow_unused=True))
    see("d " + label, first)
    if isinstance(first, Raised):
        return
    total = sum(g.sum() for g in first if g is not None)
    raises("dd " + label, lambda: torch.autograd.grad(total, leaves, allow_unused=True))


def calls(shapes, texts, **names):
    def run(torch, draw):
        leaves = [draw.tensor(*shape, grad=True) for shape in shapes]
        scope = {"torch": torch, "F": torch.nn.functional, **dict(zip("abc", leaves))}
        for text in texts:
            result = outcome(lambda: eval(text, scope))
            see(text, result)
            if not isinstance(result, Raised):
                second_order(torch, draw, text, result, leaves)

    return run


for call_name, (call_shapes, call_texts) in CALLS.items():
    register(__name__, call_name, calls(call_shapes, call_texts))
