"""Functions that move elements: calls with gradients of first and second order, and wrong calls."""
from observe import Raised, outcome, raises, register, see

CALLS = {
    "reshape": ("x.reshape(6, 4)", "x.reshape(-1)", "x.reshape((2, -1))", "x.reshape(5)",
                "x.reshape(-1, -1)", "torch.reshape(x, (4, 6))", "x.reshape()"),
    "view": ("x.view(6, 4)", "x.view(-1)", "x.transpose(0, 1).view(6, 4)", "x.view(2, 12)",
             "x.view(5)", "x.view(torch.Size([24]))", "x.view('a')"),
    "transpose": ("x.transpose(0, 1)", "x.transpose(-1, 0)", "x.transpose(0, 3)", "x.mT",
                  "torch.transpose(x, dim0=0, dim1=1)", "x.swapaxes(0, 2)", "x[0].T", "x[0].t()"),
    "permute": ("x.permute(2, 0, 1)", "x.permute((1, 0, 2))", "x.permute(0, 1)",
                "x.permute(0, 0, 1)", "torch.permute(x, (2, 1, 0))", "x.permute(-1, 0, 1)"),
    "squeeze": ("x[:, :1].squeeze(1)", "x.squeeze()", "x.squeeze(0)", "x.squeeze(5)",
                "x[:1, :1].squeeze((0, 1))", "x[:1].squeeze(-3)", "x.sum().squeeze(0)"),
    "unsqueeze": ("x.unsqueeze(0)", "x.unsqueeze(-1)", "x.unsqueeze(4)", "x.unsqueeze(3)"),
    "expand": ("x[:1].expand(5, 3, 4)", "x[:1].expand(-1, 3, 4)", "x.expand(2, 2, 3, 4)",
               "x.expand(3, 3, 4)", "x[0, 0].expand_as(x)", "x.expand(-1, -1, -1, -1)",
               "torch.broadcast_to(x[:1], (2, 3, 4))", "x.expand(0, 3, 4)"),
    "repeat": ("x.repeat(2, 1, 1)", "x.repeat(2, 1, 1, 2)", "x.repeat(2)", "x.repeat((1, 0, 1))",
               "x.tile(2)", "x.tile((2, 1, 1, 1))", "x.repeat_interleave(2)",
               "x.repeat_interleave(2, 1)", "x.repeat_interleave(torch.tensor([1, 2, 0]), 1)"),
    "flatten": ("x.flatten()", "x.flatten(1)", "x.flatten(0, 1)", "x.flatten(1, 0)",
                "x.sum().flatten()", "x.ravel()", "x.transpose(0, 1).flatten(1)"),
    "unflatten": ("x.unflatten(2, (2, 2))", "x.unflatten(1, (-1, 3))", "x.unflatten(1, (2, 2))"),
    "cat": ("torch.cat([x, x])", "torch.cat([x, x.float()], 1)", "torch.cat((x, x), -1)",
            "torch.cat([x, x[0]])", "torch.cat([])", "torch.cat([x, torch.empty(0)])",
            "torch.cat([x, x[:, :1]], dim=1)", "torch.cat([x, 1])", "torch.concat([x], 0)",
            "torch.cat(x)", "torch.cat([x, torch.tensor([[[1]]]).expand(1, 3, 4)])"),
    "stack": ("torch.stack([x, x])", "torch.stack([x, x], -1)", "torch.stack([x, x[0]])",
              "torch.stack([])", "torch.stack([x, x.float()], 1)", "torch.stack((x,), 4)"),
    "join_rest": ("torch.hstack([x, x])", "torch.vstack([x, x])", "torch.dstack([x, x])",
                  "torch.column_stack([x[0, 0], x[0, 1]])", "torch.hstack([x[0, 0], x[0, 1]])"),
    "split": ("x.split(2, 2)", "x.split([1, 3], 2)", "x.split([1, 1], 2)", "x.split(0)",
              "torch.split(x, 3, dim=1)", "x.split(5)", "x.tensor_split(3, 2)", "x.split(-1)"),
    "chunk": ("x.chunk(2, 2)", "x.chunk(3, 2)", "x.chunk(9)", "x.chunk(0)", "x.unsafe_chunk(2)"),
    "unbind": ("x.unbind()", "x.unbind(2)", "torch.unbind(x, -1)", "x.sum().unbind()",
               "x.unbind(3)"),
    "flip": ("x.flip(0)", "x.flip(0, 2)", "x.flip((1,))", "x.flip(3)", "x.flip(0, 0)", "x.flip()",
             "torch.fliplr(x)", "torch.flipud(x)", "x.rot90()"),
    "roll": ("x.roll(1)", "x.roll(1, 0)", "x.roll((1, 2), (0, 1))", "x.roll((1, 2))",
             "x.roll(-1, 2)", "x.roll(5, 1)"),
    "diagonal": ("x.diagonal()", "x.diagonal(1, 1, 2)", "x.diagonal(-1, 0, 2)",
                 "x.diagonal(0, 0, 0)",
                 "x[0].diag()", "x[0, 0].diag()", "x[0, 0].diag(1)", "x.diag()",
                 "torch.diag_embed(x)", "torch.diagflat(x[0, 0], -1)", "x[0].trace()"),
    "triangles": ("x.tril()", "x.triu(1)", "x.tril(-1)", "x[0, 0].tril()"),
    "narrow": ("x.narrow(0, 0, 1)", "x.narrow(2, -2, 2)", "x.narrow(1, 2, 2)", "x.narrow(1, 0, 0)",
               "x.select(1, -1)", "x.select(1, 3)", "torch.select(x, 0, 0)", "x.unfold(2, 2, 1)",
               "x.unfold(1, 4, 1)", "x.unfold(0, 1, 2)"),
    "gather": ("x.gather(0, torch.zeros(1, 3, 4, dtype=torch.int64))",
               "x.gather(2, torch.tensor([[[3, 0]]]))", "x.gather(0, torch.tensor([[[5]]]))",
               "x.gather(0, torch.tensor([0]))", "x.gather(0, torch.tensor([[[0.0]]]))",
               "x.index_select(1, torch.tensor([2, 0]))", "x.index_select(1, torch.tensor(1))",
               "x.index_select(1, torch.tensor([3]))", "x.take(torch.tensor([0, 23, -1]))",
               "x.take(torch.tensor([24]))", "x.take_along_dim(torch.tensor([[[1]]]), 0)",
               "x.masked_select(x > 0)"),
    "scatter": ("x.scatter(0, torch.tensor([[[1]]]), 9.0)",
                "x.scatter(2, torch.tensor([[[0, 1]]]), x * 2)",
                "x.scatter_add(0, torch.tensor([[[1, 0]]]), x)",
                "x.scatter(0, torch.tensor([1]), 1.0)",
                "x.scatter(0, torch.tensor([[[4]]]), 1.0)",
                "x.index_add(1, torch.tensor([0, 0]), x[:, :2])",
                "x.index_add(1, torch.tensor([0]), x[:, :1], alpha=3)",
                "x.index_copy(1, torch.tensor([2]), x[:, :1])",
                "x.index_fill(2, torch.tensor([0, 3]), 5.0)",
                "x.masked_scatter(x > 0, x * 3)", "x.masked_fill(x > 0, 1.5)",
                "x.masked_fill(x > 0, torch.tensor(2.0))", "x.masked_fill(x, 1.0)",
                "x.index_put((torch.tensor([0, 1]),), torch.ones(3, 4, dtype=torch.float64))",
                "x.scatter_reduce(0, torch.tensor([[[1]]]), x, 'sum')"),
    "where": ("torch.where(x > 0, x, -x)", "torch.where(x > 0, x, 0)", "torch.where(x > 0, 1, 0)",
              "torch.where(x > 0, 1.5, x)", "torch.where(x > 0)", "torch.where(x, x, x)",
              "x.where(x > 0, x * 2)", "torch.where(x > 0, x.float(), x)", "torch.nonzero(x > 0)",
              "(x > 0).nonzero(as_tuple=True)", "torch.argwhere(x > 0)"),
    "movedim": ("x.movedim(0, 2)", "x.movedim((0, 1), (1, 0))", "x.moveaxis(0, -1)",
                "x.movedim(0, 3)", "x.movedim((0, 0), (1, 2))"),
    "clone_like": ("x.contiguous()", "x.transpose(0, 1).contiguous()", "x.numel()",
                   "x.transpose(0, 2).is_contiguous()", "x.size(-1)", "x.size(3)", "x.stride(0)",
                   "x.stride()", "x.dim()", "x.ndim", "len(x)", "x.shape[1:]", "x.nelement()",
                   "x.element_size()", "x.nbytes", "x.size()", "x.shape + (1,)",
                   "x.shape.numel()", "x.storage_offset()"),
    "pad": ("torch.nn.functional.pad(x, (1, 2))",
            "torch.nn.functional.pad(x, (1, 0, 2, 0), value=3.0)",
            "torch.nn.functional.pad(x, (-1, 0))", "torch.nn.functional.pad(x, (1,))",
            "torch.nn.functional.pad(x, (1, 1), mode='reflect')",
            "torch.nn.functional.pad(x, (1, 1), mode='replicate')",
            "torch.nn.functional.pad(x, (1, 1), mode='circular')",
            "torch.nn.functional.pad(x, (4, 4), mode='reflect')",
            "torch.nn.functional.pad(x, (1, 1), mode='other')"),
}


def calls(texts):
    def run(torch, draw):
        x = draw.tensor(2, 3, 4, grad=True)
        for text in texts:
            result = outcome(lambda: eval(text, {"torch": torch, "x": x}))
            see(text, result)
            outputs = result if isinstance(result, (tuple, list)) else (result,)
            outputs = [t for t in outputs if getattr(t, "requires_grad", False)]
            if isinstance(result, Raised) or not outputs:
                continue
            # A square makes the second gradient depend on the input.
            squares = [t * t for t in outputs]
            first = outcome(lambda: torch.autograd.grad(
                squares, x, [draw.weights_like(t) for t in squares], create_graph=True))
            see("d " + text, first)
            if not isinstance(first, Raised):
                raises("dd " + text, lambda: torch.autograd.grad(first[0].sum(), x))

    return run


for call_name, call_texts in CALLS.items():
    register(__name__, call_name, calls(call_texts))
