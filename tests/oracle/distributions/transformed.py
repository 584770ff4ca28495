"""Transforms there and back with the change of volume; registries; composed distributions."""


def both(make, x):
    """A transform at x: result, inverse, log |det|, shapes, texts, signs."""
    made = f"(lambda f, x: {{}})({make}, {x})"
    return {key: made.format(text) for key, text in {
        "result": "f(x)", "back": "f.inv(f(x))", "volume": "f.log_abs_det_jacobian(x, f(x))",
        "inverse volume": "f.inv.log_abs_det_jacobian(f(x), x)", "text": "repr(f)",
        "inverse text": "repr(f.inv)", "domain": "repr(f.domain)", "codomain": "repr(f.codomain)",
        "shape": "list(f.forward_shape(x.shape))", "sign": "f.sign", "events": "f.event_dim",
        "inverse shape": "list(f.inverse_shape(f(x).shape))", "bijective": "f.bijective",
        "cached": "(lambda g: (lambda y: g.inv(y) is x)(g(x)))(f.with_cache())",
        "equal": "[f == f, f == D.ExpTransform(), f.inv.inv == f, f.with_cache() == f]"}.items()}


VECTOR = "t([[0.3, -0.2, 1.5], [2.0, 0.1, -3.0]])"
POSITIVE = "t([[0.3, 0.2, 1.5], [2.0, 0.1, 3.0]])"
SQUARE = "t([[[0.3, 0.0, 0.0], [0.5, -1.0, 0.0], [0.1, 2.0, 0.2]]])"
CASES = {
    "exp": both("D.ExpTransform()", VECTOR),
    "power": both("D.PowerTransform(t(2.5))", POSITIVE),
    "power of several": both("D.PowerTransform(t([2.0, -1.0, 0.5]))", POSITIVE),
    "sigmoid": both("D.SigmoidTransform()", VECTOR),
    "softplus": both("D.SoftplusTransform()", VECTOR),
    "tanh": both("D.TanhTransform()", VECTOR),
    "abs": both("D.AbsTransform()", VECTOR),
    "affine": both("D.AffineTransform(1.5, -2.0)", VECTOR),
    "affine events": both("D.AffineTransform(t([1.0, 2.0, 3.0]), t([0.5, -2.0, 4.0]), 1)", VECTOR),
    "affine wider": both("D.AffineTransform(t([[1.0], [2.0]]), 3.0, 2)", VECTOR),
    "softmax": both("D.SoftmaxTransform()", VECTOR),
    "stick": both("D.StickBreakingTransform()", VECTOR),
    "cholesky": both("D.LowerCholeskyTransform()", SQUARE),
    "definite": both("D.PositiveDefiniteTransform()", SQUARE),
    "correlation": both("D.CorrCholeskyTransform()", VECTOR),
    "correlation of 2": both("D.CorrCholeskyTransform()", "t([[0.3], [-2.0]])"),
    "reshape": both("D.ReshapeTransform((3,), (3, 1))", VECTOR),
    "cumulative": both("D.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0)))", VECTOR),
    "independent": both("D.IndependentTransform(D.ExpTransform(), 1)", VECTOR),
    "composed": both("D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.SigmoidTransform()])",
                     VECTOR),
    "composed events": both("D.ComposeTransform([D.AffineTransform(0.5, 2.0), "
                            "D.StickBreakingTransform()])", VECTOR),
    "identity": both("D.identity_transform", VECTOR),
    "cat": both("D.CatTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], -1, [1, 2])",
                VECTOR),
    "stack": both("D.StackTransform([D.ExpTransform(), D.TanhTransform()], 0)", VECTOR),
    "inverse": both("D.ExpTransform().inv", POSITIVE),
    "inverse of composed": both("D.ComposeTransform([D.ExpTransform(), D.PowerTransform(t(2.0))])"
                                ".inv", POSITIVE),
}
for _name, _text, _x in (
        ("real", "C.real", VECTOR), ("positive", "C.positive", VECTOR),
        ("nonnegative", "C.nonnegative", VECTOR), ("above", "C.greater_than(t(2.0))", VECTOR),
        ("from", "C.greater_than_eq(-1.0)", VECTOR), ("below", "C.less_than(3.0)", VECTOR),
        ("unit", "C.unit_interval", VECTOR), ("interval", "C.interval(-1.0, 4.0)", VECTOR),
        ("half open", "C.half_open_interval(-1.0, 4.0)", VECTOR),
        ("simplex", "C.simplex", VECTOR), ("vector", "C.real_vector", VECTOR),
        ("independent", "C.independent(C.positive, 1)", VECTOR),
        ("cholesky", "C.lower_cholesky", SQUARE), ("definite", "C.positive_definite", SQUARE),
        ("semidefinite", "C.positive_semidefinite", SQUARE),
        ("correlation", "C.corr_cholesky", VECTOR),
        ("cat", "C.cat([C.positive, C.unit_interval], -1, [2, 1])", VECTOR),
        ("stack", "C.stack([C.positive, C.unit_interval], 0)", VECTOR),
        ("dependent", "C.dependent", VECTOR), ("integers", "C.nonnegative_integer", VECTOR)):
    for _registry in ("biject_to", "transform_to"):
        CASES[f"{_registry} {_name}"] = {
            "text": f"repr(D.{_registry}({_text}))", "result": f"D.{_registry}({_text})({_x})",
            "inside": f"{_text}.check(D.{_registry}({_text})({_x}))"}

_DISTRIBUTION = "(lambda d: {})(%s)"
for _name, _text, _value in (
        ("transformed", "D.TransformedDistribution(D.Normal(t([0.0, 1.0]), t(2.0)), "
                        "[D.ExpTransform(), D.AffineTransform(1.0, 2.0)])", "t([1.5, 7.0])"),
        ("falling", "D.TransformedDistribution(D.Normal(t([0.0, 1.0]), t(2.0)), "
                    "[D.AffineTransform(1.0, -2.0), D.SigmoidTransform()])", "t([0.5, 0.2])"),
        ("to simplex", "D.TransformedDistribution(D.Normal(t([0.0, 1.0]), t(2.0)), "
                       "D.StickBreakingTransform())", "t([0.5, 0.2, 0.3])"),
        ("wider", "D.TransformedDistribution(D.Normal(t(0.0), t(2.0)), "
                  "D.AffineTransform(t([1.0, 3.0]), t([0.5, 2.0])))", "t([0.5, 0.2])"),
        ("independent", "D.Independent(D.Normal(t([[0.0, 1.0]]), t([[2.0], [1.0]])), 1)",
         "t([0.5, 0.2])"),
        ("independent all", "D.Independent(D.Gamma(t([[0.5, 1.0]]), t([[2.0], [1.0]])), 2)",
         "t([[0.5, 0.2], [0.1, 3.0]])"),
        ("mixture", "D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), "
                    "D.Normal(t([0.0, 3.0]), t([1.0, 0.5])))", "t([0.5, 2.2])"),
        ("mixtures", "D.MixtureSameFamily(D.Categorical(t([[0.3, 0.7], [0.5, 0.5]])), "
                     "D.Normal(t([0.0, 3.0]), t([[1.0, 0.5], [2.0, 2.0]])))", "t([0.5, 2.2])"),
        ("mixture of vectors", "D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), D.Independent("
                               "D.Normal(t([[0.0, 3.0], [1.0, 2.0]]), t(1.0)), 1))",
         "t([[0.5, 2.2]])")):
    _make = _DISTRIBUTION % _text
    CASES[_name] = {key: _make.format(one) for key, one in {
        "log_prob": f"d.log_prob({_value})", "cdf": f"d.cdf({_value})", "mean": "d.mean",
        "icdf": "d.icdf(t([0.2, 0.7]))", "variance": "d.variance", "mode": "d.mode",
        "entropy": "d.entropy()", "support": "repr(d.support)", "text": "repr(d)",
        "shapes": "[list(d.batch_shape), list(d.event_shape)]", "rsample": "d.has_rsample",
        "sample": "list(d.sample((5,)).shape)",
        "expanded": f"d.expand((2,) + tuple(d.batch_shape)).log_prob({_value})"}.items()}
for _text in ("C.boolean", "C.one_hot", "C.nonnegative_integer", "C.positive_integer",
              "C.integer_interval(0, 2)", "C.real", "C.real_vector", "C.positive",
              "C.nonnegative", "C.greater_than(0.5)", "C.less_than(1)", "C.multinomial(2)",
              "C.interval(0, 1)", "C.half_open_interval(0, 1)", "C.simplex", "C.square",
              "C.symmetric", "C.lower_triangular", "C.lower_cholesky", "C.corr_cholesky",
              "C.positive_semidefinite", "C.positive_definite",
              "C.independent(C.positive, 1)", "C.cat([C.positive, C.real], 0, [1, 1])",
              "C.stack([C.positive, C.unit_interval], -1)"):
    for _i, _x in enumerate(("t([[1.0, 0.0], [0.0, 1.0]])", "t([[0.5, 0.5], [-1.0, 2.0]])",
                             "t([[2.0, -3.0], [-3.0, 1.0]])", "t([[1.0, 0.0], [0.6, 0.8]])")):
        CASES[f"{_text} {_i}"] = {"check": f"{_text}.check({_x})", "text": f"repr({_text})",
                                  "facts": f"[{_text}.is_discrete, {_text}.event_dim]"}
