"""Every module passes its settings to its function of nn.functional."""

import re

import foregrad as fg
import pytest

nn, F = fg.nn, fg.nn.functional
fg.manual_seed(7)
ROWS, SIGNAL, IMAGE = fg.randn(5, 4), fg.randn(2, 4, 9), fg.randn(2, 4, 9, 8)
VOLUME, SIGNS, CLASSES = fg.randn(2, 2, 5, 4, 6), fg.randn(5, 4).sign(), fg.tensor([0, 3, 1, 2, 2])
BITS, LOGS = (SIGNS + 1) / 2, fg.randn(6, 2, 5).log_softmax(2)

# Modules, and calls that give the same.
SAME = {
    "nn.CELU(0.5)(ROWS)": "F.celu(ROWS, 0.5)", "nn.GLU(1)(IMAGE)": "F.glu(IMAGE, 1)",
    "nn.Hardshrink(0.2)(ROWS)": "F.hardshrink(ROWS, 0.2)",
    "nn.Softshrink(0.2)(ROWS)": "F.softshrink(ROWS, 0.2)",
    "nn.Hardsigmoid()(ROWS)": "F.hardsigmoid(ROWS)", "nn.Hardswish()(ROWS)": "F.hardswish(ROWS)",
    "nn.PReLU(4, 0.1)(IMAGE)": "F.prelu(IMAGE, fg.full((4,), 0.1))",
    "nn.RReLU(0.1, 0.3).eval()(ROWS)": "F.rrelu(ROWS, 0.1, 0.3)",
    "nn.Softsign()(ROWS)": "F.softsign(ROWS)", "nn.Tanhshrink()(ROWS)": "F.tanhshrink(ROWS)",
    "nn.Softmax2d()(IMAGE)": "F.softmax(IMAGE, 1)", "nn.ReLU6()(ROWS)": "F.relu6(ROWS)",
    "nn.AlphaDropout(0.3).eval()(ROWS)": "F.alpha_dropout(ROWS, 0.3)",
    "nn.FeatureAlphaDropout(0.3).eval()(IMAGE)": "F.feature_alpha_dropout(IMAGE, 0.3)",
    "nn.ConstantPad2d((1, 2, 0, 3), 0.5)(IMAGE)": "F.pad(IMAGE, (1, 2, 0, 3), value=0.5)",
    "nn.ZeroPad3d(1)(VOLUME)": "F.pad(VOLUME, (1,) * 6)",
    "nn.MaxPool3d(2, 1, 1)(VOLUME)": "F.max_pool3d(VOLUME, 2, 1, 1)",
    "nn.AvgPool3d(2, 1, 1, True, False)(VOLUME)": "F.avg_pool3d(VOLUME, 2, 1, 1, True, False)",
    "nn.AdaptiveAvgPool3d(2)(VOLUME)": "F.adaptive_avg_pool3d(VOLUME, 2)",
    "nn.AdaptiveMaxPool3d(2)(VOLUME)": "F.adaptive_max_pool3d(VOLUME, 2)",
    "nn.LPPool1d(2, 3, 1)(SIGNAL)": "F.lp_pool1d(SIGNAL, 2.0, 3, 1)",
    "nn.LPPool2d(2, 3)(IMAGE)": "F.lp_pool2d(IMAGE, 2.0, 3)",
    "nn.LPPool3d(2, 3)(VOLUME)": "F.lp_pool3d(VOLUME, 2.0, 3)",
    "nn.Upsample(scale_factor=2)(IMAGE)": "F.interpolate(IMAGE, scale_factor=2.0)",
    "nn.UpsamplingBilinear2d(5)(IMAGE)": "F.interpolate(IMAGE, 5, None, 'bilinear', True)",
    "nn.Unfold(2, 1, 1, 2)(IMAGE)": "F.unfold(IMAGE, 2, 1, 1, 2)",
    "nn.Fold((3, 4), 2)(fg.ones(2, 8, 6))": "F.fold(fg.ones(2, 8, 6), (3, 4), 2)",
    "nn.PixelShuffle(2)(IMAGE)": "F.pixel_shuffle(IMAGE, 2)",
    "nn.PixelUnshuffle(2)(IMAGE[:, :, 1:])": "F.pixel_unshuffle(IMAGE[:, :, 1:], 2)",
    "nn.ChannelShuffle(2)(IMAGE)": "F.channel_shuffle(IMAGE, 2)",
    "nn.LocalResponseNorm(3, 0.1)(IMAGE)": "F.local_response_norm(IMAGE, 3, 0.1)",
    "nn.CosineSimilarity(0)(ROWS, SIGNS)": "F.cosine_similarity(ROWS, SIGNS, 0)",
    "nn.PairwiseDistance(1)(ROWS, SIGNS)": "F.pairwise_distance(ROWS, SIGNS, 1)",
    "nn.CosineEmbeddingLoss(0.5)(ROWS, ROWS + 1, SIGNS[:, 0])":
        "F.cosine_embedding_loss(ROWS, ROWS + 1, SIGNS[:, 0], margin=0.5)",
    "nn.MarginRankingLoss(0.5)(ROWS, ROWS + SIGNS, SIGNS)":
        "F.margin_ranking_loss(ROWS, ROWS + SIGNS, SIGNS, margin=0.5)",
    "nn.HingeEmbeddingLoss(0.5)(ROWS, SIGNS)": "F.hinge_embedding_loss(ROWS, SIGNS, margin=0.5)",
    "nn.SoftMarginLoss()(ROWS, SIGNS)": "F.soft_margin_loss(ROWS, SIGNS)",
    "nn.MultiLabelSoftMarginLoss()(ROWS, BITS)": "F.multilabel_soft_margin_loss(ROWS, BITS)",
    "nn.MultiMarginLoss(2, 0.5)(ROWS, CLASSES)":
        "F.multi_margin_loss(ROWS, CLASSES, p=2, margin=0.5)",
    "nn.TripletMarginLoss(0.5, 1)(ROWS, ROWS + 1, SIGNS)":
        "F.triplet_margin_loss(ROWS, ROWS + 1, SIGNS, margin=0.5, p=1)",
    "nn.PoissonNLLLoss(full=True)(ROWS, BITS)": "F.poisson_nll_loss(ROWS, BITS, full=True)",
    "nn.GaussianNLLLoss()(ROWS, SIGNS, BITS + 1)": "F.gaussian_nll_loss(ROWS, SIGNS, BITS + 1)",
    "nn.CTCLoss(1)(LOGS, fg.tensor([[2, 3], [4, 4]]), fg.tensor([6, 5]), fg.tensor([2, 2]))":
        "F.ctc_loss(LOGS, fg.tensor([[2, 3], [4, 4]]), fg.tensor([6, 5]), fg.tensor([2, 2]), 1)",
}


@pytest.mark.parametrize("module, call", SAME.items(), ids=list(SAME.values()))
def test_a_module_gives_what_its_function_gives(module, call):
    name = re.match(r"F\.(\w+)", call).group(1)
    if not hasattr(F, name):
        pytest.skip(f"nn.functional.{name} is not here yet")
    assert eval(module).equal(eval(call))
