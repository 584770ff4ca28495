"""torch.nn.functional: activations, losses, normalisation, dropout, embedding; and Parameter."""
import copy

from matmul_and_conv import calls
from observe import program, raises, register, see, see_grads

REDUCTIONS = ("", ", reduction='sum'", ", reduction='none'", ", reduction='other'")


def losses(name, more=()):
    """A loss of a and b with every reduction, and in wrong ways."""
    plain = [f"F.{name}(a, b{r})" for r in REDUCTIONS]
    return [*plain, f"F.{name}(a, b[:1])", f"F.{name}(a, b.float())", f"F.{name}(a, 1.0)",
            f"F.{name}(a[:0], b[:0])", f"F.{name}(a, b, size_average=False)", *more]


def activation(name, more=()):
    return [f"F.{name}(a)", f"F.{name}(a.t())", f"F.{name}(a.float())", f"F.{name}(a.half())",
            f"F.{name}(a.long())", f"F.{name}(a[:0])", f"F.{name}(a.clone(), inplace=True)", *more]


TARGET = "torch.tensor([1, 0, 2])"
PROBABILITIES = "b.detach().sigmoid()"
CALLS = {
    "relu": activation("relu"), "relu6": activation("relu6"), "selu": activation("selu"),
    "elu": activation("elu", ("F.elu(a, alpha=0.5)",)), "mish": activation("mish"),
    "silu": activation("silu"), "logsigmoid": activation("logsigmoid"),
    "gelu": activation("gelu", ("F.gelu(a, approximate='tanh')", "F.gelu(a, approximate='x')")),
    "leaky_relu": activation("leaky_relu", ("F.leaky_relu(a, 0.3)", "F.leaky_relu(a, -0.3)")),
    "hardtanh": activation("hardtanh", ("F.hardtanh(a, -0.5, 0.5)", "F.hardtanh(a, 1, -1)")),
    "softplus": activation("softplus", ("F.softplus(a, beta=2)", "F.softplus(a, threshold=0.5)")),
    "threshold": ("F.threshold(a, 0.1, 9.0)", "F.threshold(a, 0.1, 9.0, inplace=False)"),
    "softmax": ("F.softmax(a, 0)", "F.softmax(a, dim=-1)", "F.softmax(a)", "F.softmax(a, 2)",
                "F.softmax(a, 1, dtype=torch.float32)", "F.log_softmax(a, 1)", "F.softmin(a, 0)",
                "F.softmax(a.long(), 0)", "F.softmax(a.long(), 0, dtype=torch.float64)",
                "F.softmax(a.t(), 0)", "a.softmax(-1)", "F.softmax(a.sum(), 0)"),
    "mse_loss": losses("mse_loss", ("F.mse_loss(a, b, weight=torch.ones_like(a))",)),
    "l1_loss": losses("l1_loss"), "smooth_l1_loss": losses("smooth_l1_loss", (
        "F.smooth_l1_loss(a, b, beta=0.3)", "F.smooth_l1_loss(a, b, beta=0.0)",
        "F.smooth_l1_loss(a, b, beta=-1.0)")),
    "huber_loss": losses("huber_loss", ("F.huber_loss(a, b, delta=0.3)",
                                        "F.huber_loss(a, b, delta=-1.0)")),
    "kl_div": losses("kl_div", ("F.kl_div(a, b.exp())", "F.kl_div(a, b, log_target=True)",
                                "F.kl_div(a, b.exp(), reduction='batchmean')")),
    "binary_cross_entropy": [f"F.binary_cross_entropy(a.sigmoid(), {PROBABILITIES}{r})"
                             for r in REDUCTIONS] + [
        f"F.binary_cross_entropy(a, {PROBABILITIES})", "F.binary_cross_entropy(a.sigmoid(), b[:1])",
        f"F.binary_cross_entropy(a.sigmoid(), {PROBABILITIES}, weight=torch.arange(4.0).double())"],
    "bce_with_logits": [f"F.binary_cross_entropy_with_logits(a, {PROBABILITIES}{r})"
                        for r in REDUCTIONS] + [
        f"F.binary_cross_entropy_with_logits(a, {PROBABILITIES}, pos_weight=torch.arange(4.0))",
        "F.binary_cross_entropy_with_logits(a, b.sigmoid())",
        "F.binary_cross_entropy_with_logits(a, b[:1])"],
    "cross_entropy": [f"F.cross_entropy(a, {TARGET}{r})" for r in REDUCTIONS] + [
        f"F.cross_entropy(a, {TARGET}, weight=torch.tensor([1.0, 2.0, 3.0, 4.0]).double())",
        f"F.cross_entropy(a, {TARGET}, ignore_index=0)", "F.cross_entropy(a, b.softmax(1))",
        f"F.cross_entropy(a, {TARGET}, label_smoothing=0.1)", f"F.cross_entropy(a, {TARGET}[:2])",
        f"F.cross_entropy(a, {TARGET}, label_smoothing=2.0)",
        "F.cross_entropy(a, torch.tensor([1, 0, 9]))",
        f"F.cross_entropy(a, {TARGET}.float())", f"F.cross_entropy(a, {TARGET}.int())",
        "F.cross_entropy(a[0], torch.tensor(2))",
        "F.cross_entropy(a[None], torch.zeros(1, 4).long())",
        f"F.cross_entropy(a, {TARGET} * 0 - 100)"],
    "nll_loss": [f"F.nll_loss(a.log_softmax(1), {TARGET}{r})" for r in REDUCTIONS] + [
        f"F.nll_loss(a, {TARGET}, ignore_index=2)", "F.nll_loss(a[0], torch.tensor(1))",
        f"F.nll_loss(a, {TARGET}, weight=torch.ones(3).double())", "F.nll_loss(a, b)",
        "F.nll_loss(a[None], torch.zeros(1, 4).long())", "F.nll_loss(a, torch.tensor([0, 0, -1]))"],
    "other_losses": ["F.cosine_embedding_loss(a, b, torch.ones(3))",
                     "F.poisson_nll_loss(a, b.exp())",
                     "F.gaussian_nll_loss(a, b, b.exp())", "F.soft_margin_loss(a, b.sign())",
                     "F.triplet_margin_loss(a, b, a * 2)", "F.hinge_embedding_loss(a, b.sign())",
                     "F.margin_ranking_loss(a[0], b[0], b[0].sign())"],
    "layer_norm": ["F.layer_norm(a, (4,))", "F.layer_norm(a, (3, 4))", "F.layer_norm(a, [4], c, c)",
                   "F.layer_norm(a, (3,))", "F.layer_norm(a, (4,), eps=0.1)", "F.layer_norm(a, ())",
                   "F.layer_norm(a, (4,), c[:2])", "F.layer_norm(a.float(), (4,))",
                   "F.rms_norm(a, (4,))",
                   "F.rms_norm(a, (4,), c)", "F.rms_norm(a, (4,), eps=0.1)", "F.layer_norm(a, 4)",
                   "F.layer_norm(a.t(), (3,))"],
    "group_norm": ["F.group_norm(a, 2)", "F.group_norm(a, 2, c, c)", "F.group_norm(a, 3)",
                   "F.group_norm(a[..., None], 4)", "F.group_norm(a[..., None, None], 1, c)",
                   "F.instance_norm(a[None])", "F.instance_norm(a[None, :, :1])",
                   "F.instance_norm(a)"],
    "batch_norm": ["F.batch_norm(a, None, None, training=True)",
                   "F.batch_norm(a, torch.zeros(4).double(), torch.ones(4).double())",
                   "F.batch_norm(a, None, None, c, c, training=True)",
                   "F.batch_norm(a, None, None)",
                   "F.batch_norm(a[None], None, None, training=True)",
                   "F.batch_norm(a[:1], None, None, training=True)",
                   "F.batch_norm(a, None, None, c[:2], training=True)",
                   "F.batch_norm(a[..., None], None, None, c, training=True, eps=0.5)"],
    "normalize": ["F.normalize(a)", "F.normalize(a, dim=0)", "F.normalize(a, p=1)",
                  "F.normalize(a * 0)",
                  "F.normalize(a, 3.0, -1)", "F.cosine_similarity(a, b)",
                  "F.pairwise_distance(a, b)"],
    "dropout": ["F.dropout(a, 0.0)", "F.dropout(a, 1.0)", "F.dropout(a, training=False)",
                "F.dropout(a, 2.0)", "F.dropout(a, -0.1)", "F.dropout2d(a[None], 0.0)",
                "F.dropout1d(a, 1.0)", "F.alpha_dropout(a, 0.0)", "F.dropout(a, 'x')"],
    "embedding": [f"F.embedding({TARGET}, a)", f"F.embedding({TARGET}, a, padding_idx=0)",
                  f"F.embedding({TARGET}[None], a)", "F.embedding(torch.tensor([3]), a)",
                  f"F.embedding({TARGET}.float(), a)", f"F.embedding({TARGET}, a, padding_idx=7)",
                  f"F.embedding({TARGET}.int(), a)",
                  f"F.embedding({TARGET}, a, scale_grad_by_freq=True)",
                  f"F.embedding({TARGET}, a, max_norm=1.0)"],
    "one_hot": [f"F.one_hot({TARGET})", f"F.one_hot({TARGET}, 5)", f"F.one_hot({TARGET}, 2)",
                "F.one_hot(torch.tensor([-1]))", "F.one_hot(a)",
                "F.one_hot(torch.tensor([]).long())",
                f"F.one_hot({TARGET}, num_classes=3)", f"F.one_hot({TARGET}.int())"],
    "layout_functions": ["F.unfold(a[None, None], 2)", "F.interpolate(a[None], 2)",
                         "F.pixel_shuffle(a[None, :, None], 1)", "F.glu(a)", "F.prelu(a, c[:1])",
                         "F.hardswish(a)", "F.hardsigmoid(a)", "F.celu(a)", "F.tanhshrink(a)",
                         "F.softsign(a)", "F.softshrink(a)", "F.tanh(a)", "F.sigmoid(a)"],
}

for call_name, call_texts in CALLS.items():
    register(__name__, call_name, calls([(3, 4), (3, 4), (4,)], call_texts))


@program
def parameters(torch, draw):
    data = draw.tensor(3)
    p = torch.nn.Parameter(data)
    see("p", p)
    see("repr", repr(torch.nn.Parameter(torch.tensor([1.0]))))
    see("is tensor", (isinstance(p, torch.Tensor), isinstance(p, torch.nn.Parameter)))
    see("shares", p.data_ptr() == data.data_ptr())
    see("result type", type(p * 2).__name__)
    see("detach type", type(p.detach()).__name__)
    see("data type", type(p.data).__name__)
    (p * p).sum().backward()
    see_grads(p=p)
    see("copy", copy.deepcopy(p))
    see("no grad", torch.nn.Parameter(data, requires_grad=False))
    raises("int", lambda: torch.nn.Parameter(torch.tensor([1])))
    raises("of history", lambda: torch.nn.Parameter(p * 2))
    raises("nothing", lambda: torch.nn.Parameter())
    raises("number", lambda: torch.nn.Parameter(1.0))
    raises("clone", lambda: p.clone())


@program
def running_statistics(torch, draw):
    x, mean, var = draw.tensor(4, 3, grad=True), draw.tensor(3), draw.positive(3)
    y = torch.nn.functional.batch_norm(x, mean, var, training=True, momentum=0.3)
    see("y", y)
    see("mean", mean)
    see("var", var)
    y.square().sum().backward()
    see_grads(x=x)
