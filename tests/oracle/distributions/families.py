"""Every distribution in three configurations: its parameters, and values of its support."""

REAL = [[-2.3], [-0.4], [0.0], [1.7]]
ABOVE = [[0.02], [0.6], [1.3], [4.0]]
UNIT = [[0.03], [0.4], [0.5], [0.97]]
COUNTS = [[0.0], [1.0], [3.0]]
MATRIX = [[2.0, 0.3, -0.2], [0.3, 1.5, 0.4], [-0.2, 0.4, 1.0]]
TRIL = [[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.5, 0.2, 1.5]]
VECTORS = [[0.1, -0.3, 2.0], [1.5, 0.0, -1.0]]
SIMPLEX = [[0.2, 0.3, 0.5], [0.05, 0.9, 0.05]]
LOC_SCALE = [dict(loc=0.0, scale=1.0), dict(loc=[0.5, -1.0], scale=[0.3, 2.5]),
             dict(loc=[[1.0], [2.0]], scale=[0.7, 4.0])]
POSITIVES = (0.6, [0.4, 3.5], [[1.2], [8.0]])


def positive(*names):
    return [{name: POSITIVES[(i + k) % 3] if i else 0.5 + 0.6 * k
             for k, name in enumerate(names)} for i in range(3)]


PROBS = [dict(probs=0.3), dict(probs=[0.2, 0.85]), dict(logits=[[0.4], [-2.5]])]
VECTOR_PROBS = [dict(probs=[0.2, 0.3, 0.5]), dict(probs=[[1.0, 2.0, 3.0], [5.0, 1.0, 1.0]]),
                dict(logits=[[0.5, -1.0, 2.0]])]
ONE_HOT = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

# name -> (configurations, values); a value that is not a list is a number given as such.
FAMILIES = {
    "Bernoulli": (PROBS, [[0.0], [1.0]]),
    "Beta": (positive("concentration1", "concentration0"), UNIT),
    "Binomial": ([dict(total_count="5", probs=0.3), dict(total_count="4", probs=[0.2, 0.9]),
                  dict(total_count="7", logits=[[0.4], [-2.0]])], COUNTS),
    "Categorical": (VECTOR_PROBS, [[0], [2], [1]]),
    "Cauchy": (LOC_SCALE, REAL),
    "Chi2": (positive("df"), ABOVE),
    "ContinuousBernoulli": ([dict(probs=0.3), dict(probs=[0.5, 0.9]),
                             dict(logits=[[1.4], [-0.001]])], UNIT),
    "Dirichlet": ([dict(concentration=[0.5, 1.0, 2.5]), dict(concentration=[[3.0, 4.0, 5.0]]),
                   dict(concentration=[[0.3, 0.2, 0.9], [8.0, 1.0, 2.0]])], SIMPLEX),
    "Exponential": (positive("rate"), ABOVE),
    "FisherSnedecor": ([dict(df1=3.0, df2=5.0), dict(df1=[1.0, 6.0], df2=[3.0, 9.0]),
                        dict(df1=[[2.5], [4.0]], df2=[1.5, 12.0])], ABOVE),
    "Gamma": (positive("concentration", "rate"), ABOVE),
    "GeneralizedPareto": ([dict(loc=-3.0, scale=1.5, concentration=0.3),
                           dict(loc=[-3.0, -4.0], scale=[2.0, 1.0], concentration=[0.0, 0.7]),
                           dict(loc=-2.5, scale=[[2.0], [3.0]], concentration=-0.2)], REAL),
    "Geometric": (PROBS, COUNTS),
    "Gumbel": (LOC_SCALE, REAL),
    "HalfCauchy": (positive("scale"), ABOVE),
    "HalfNormal": (positive("scale"), ABOVE),
    "InverseGamma": ([dict(concentration=2.5, rate=1.2), dict(concentration=[0.7, 4.0], rate=1.0),
                      dict(concentration=[[3.0], [1.5]], rate=[0.5, 2.0])], ABOVE),
    "Kumaraswamy": ([dict(concentration1=1.5, concentration0=2.0),
                     dict(concentration1=[0.7, 3.0], concentration0=[0.5, 4.0]),
                     dict(concentration1=[[2.0], [5.0]], concentration0=1.0)], UNIT),
    "LKJCholesky": ([dict(dim="3", concentration=1.0), dict(dim="3", concentration=[0.5, 2.0]),
                     dict(dim="3", concentration=[[4.0], [1.5]])],
                    [[[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.28, 0.96]]]),
    "Laplace": (LOC_SCALE, REAL),
    "LogNormal": (LOC_SCALE, ABOVE),
    "LogisticNormal": ([dict(loc=[0.0, 0.5], scale=[1.0, 2.0]),
                        dict(loc=[[0.3, -0.5]], scale=[0.5, 0.7]),
                        dict(loc=[[0.3, -0.5], [1.0, 2.0]], scale=1.5)], SIMPLEX),
    "LowRankMultivariateNormal": (
        [dict(loc=[0.0, 1.0, -1.0], cov_factor=[[1.0], [0.5], [-0.3]], cov_diag=[0.5, 1.0, 2.0]),
         dict(loc=[[0.0, 1.0, -1.0]], cov_factor=[[1.0, 0.2], [0.5, -1.0], [-0.3, 0.4]],
              cov_diag=[0.5, 1.0, 2.0]),
         dict(loc=[0.2, 0.1, 0.0], cov_factor=[[[1.0], [0.5], [2.0]], [[0.1], [0.0], [3.0]]],
              cov_diag=[[0.3, 0.2, 0.1]])], VECTORS),
    "Multinomial": ([dict(total_count="4", **one) for one in VECTOR_PROBS],
                    [[1.0, 2.0, 1.0], [0.0, 0.0, 4.0]]),
    "MultivariateNormal": ([dict(loc=[0.0, 1.0, -1.0], covariance_matrix=MATRIX),
                            dict(loc=[[0.0, 1.0, -1.0], [2.0, 0.0, 0.5]], precision_matrix=MATRIX),
                            dict(loc=[0.5, 0.5, 0.5], scale_tril=[TRIL, MATRIX and [
                                [0.5, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, -1.0, 0.7]]])], VECTORS),
    "NegativeBinomial": ([dict(total_count=5.0, probs=0.3),
                          dict(total_count=[2.5, 4.0], probs=[0.2, 0.9]),
                          dict(total_count=[[1.0], [3.0]], logits=[0.4, -2.0])], COUNTS),
    "Normal": (LOC_SCALE, REAL),
    "OneHotCategorical": (VECTOR_PROBS, ONE_HOT),
    "OneHotCategoricalStraightThrough": (VECTOR_PROBS, ONE_HOT),
    "Pareto": ([dict(scale=0.01, alpha=1.5), dict(scale=[0.02, 0.01], alpha=[0.7, 3.0]),
                dict(scale=[[0.005], [0.02]], alpha=[2.5, 6.0])], ABOVE),
    "Poisson": ([dict(rate=0.7), dict(rate=[2.0, 9.5]), dict(rate=[[1.0], [30.0]])], COUNTS),
    "RelaxedBernoulli": ([dict(temperature=0.7, probs=0.3), dict(temperature=0.3, probs=[0.2, 0.9]),
                          dict(temperature=2.0, logits=[[0.4], [-1.0]])], UNIT),
    "RelaxedOneHotCategorical": ([dict(temperature=0.7, **one) for one in VECTOR_PROBS], SIMPLEX),
    "StudentT": ([dict(df=3.0), dict(df=[1.0, 2.0], loc=[0.5, -1.0], scale=[0.3, 2.0]),
                  dict(df=[[4.5], [30.0]], loc=1.0, scale=[1.0, 2.0])], REAL),
    "Uniform": ([dict(low=-3.0, high=2.5), dict(low=[-3.0, -4.0], high=[2.0, 9.0]),
                 dict(low=[[-3.0], [-2.5]], high=[2.0, 5.0])], REAL),
    "VonMises": ([dict(loc=0.3, concentration=1.5),
                  dict(loc=[0.0, -2.0], concentration=[0.1, 20.0]),
                  dict(loc=[[1.0], [3.0]], concentration=[4.0, 300.0])], REAL),
    "Weibull": ([dict(scale=1.0, concentration=1.5),
                 dict(scale=[0.5, 2.0], concentration=[0.7, 3.0]),
                 dict(scale=[[1.0], [4.0]], concentration=2.0)], ABOVE),
    "Wishart": ([dict(df=4.5, covariance_matrix=MATRIX), dict(df=[6.0, 9.0], scale_tril=TRIL),
                 dict(df=[5.0], precision_matrix=[MATRIX, MATRIX])], [MATRIX]),
}

# PyTorch computes these in float32 only.
SINGLE = ("GeneralizedPareto",)

# Pairs whose divergence has a formula beyond those of one family, and their parameters.
WAYS = {
    "Bernoulli": ["probs=t(0.3)", "probs=t([0.2, 0.85])", "logits=t([[0.4], [-2.5]])"],
    "Beta": ["t(0.7), t(2.0)", "t([1.5, 3.0]), t(0.6)", "t([[2.0], [5.0]]), t([1.0, 0.4])"],
    "Binomial": ["5, probs=t(0.3)", "5, probs=t([0.2, 0.9])", "5, logits=t([[0.4], [-2.0]])"],
    "ContinuousBernoulli": ["probs=t(0.3)", "probs=t([0.5, 0.9])", "logits=t([[1.4], [-0.4]])"],
    "Exponential": ["t(0.7)", "t([1.5, 3.0])", "t([[2.0], [0.2]])"],
    "Gamma": ["t(0.7), t(2.0)", "t([1.5, 3.0]), t(0.6)", "t([[2.0], [5.0]]), t([1.0, 0.4])"],
    "Gumbel": ["t(0.7), t(2.0)", "t([-1.5, 3.0]), t(0.6)", "t([[2.0], [-1.0]]), t([1.0, 1.4])"],
    "Laplace": ["t(0.7), t(2.0)", "t([-1.5, 3.0]), t(0.6)", "t([[2.0], [-1.0]]), t([1.0, 1.4])"],
    "Normal": ["t(0.7), t(2.0)", "t([-1.5, 3.0]), t(0.6)", "t([[2.0], [-1.0]]), t([1.0, 1.4])"],
    "Pareto": ["t(0.7), t(2.5)", "t([1.5, 3.0]), t(3.6)", "t([[0.2], [1.0]]), t([4.0, 2.4])"],
    "Poisson": ["t(0.7)", "t([1.5, 3.0])", "t([[2.0], [9.2]])"],
    "Uniform": ["t(0.1), t(0.9)", "t([-1.5, 3.0]), t(4.6)", "t([[0.2], [1.0]]), t([4.0, 2.4])"],
}
ALONE = {
    "Categorical": ["probs=t([0.2, 0.3, 0.5])", "probs=t([[1., 2., 3.], [5., 1., 1.]])",
                    "logits=t([0.5, -1.0, 2.0])"],
    "Cauchy": WAYS["Normal"], "Dirichlet": ["t([0.5, 1.0, 2.5])", "t([[3., 4., 5.]])",
                                            "t([[0.3, 0.2, 0.9], [8., 1., 2.]])"],
    "Geometric": WAYS["Bernoulli"], "HalfNormal": WAYS["Exponential"], "LogNormal": WAYS["Normal"],
    "OneHotCategorical": ["probs=t([0.2, 0.3, 0.5])", "probs=t([[1., 2., 3.], [5., 1., 1.]])",
                          "logits=t([0.5, -1.0, 2.0])"],
}
NORMALS = {
    "MultivariateNormal": [f"t([0., 1., -1.]), t({MATRIX})",
                           f"t([[0.5, 1., 2.]]), scale_tril=t({TRIL})",
                           f"t([[0., 1., 0.], [1., 1., 1.]]), precision_matrix=t([{MATRIX}])"],
    "LowRankMultivariateNormal": [
        "t([0., 1., -1.]), t([[1.0], [0.5], [-0.3]]), t([0.5, 1.0, 2.0])",
        "t([[0., 1., 2.]]), t([[1.0, 0.2], [0.5, -1.0], [-0.3, 0.4]]), t([0.5, 1.0, 2.0])",
        "t([0.2, 0.1, 0.]), t([[[1.0], [0.5], [2.0]], [[0.1], [0.0], [3.0]]]), t([0.3, 0.2, 0.1])"],
}
