"""einsum: values by numpy's, gradients by differences, and what is refused."""

import numpy
import pytest

import foregrad as fg

EQUATIONS = [("ij,jk", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("ii", (3, 3)),
             ("ii->i", (3, 3)), ("iij->j", (2, 2, 3)), ("ij->ji", (2, 3)), ("i,j", (2,), (3,)),
             ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("Ba,aB->", (2, 3), (3, 2)),
             ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("i...->...", (2, 3)),
             ("ij...,j...->...i", (2, 3, 4), (3, 4)), ("a,b,c->cab", (2,), (3,), (4,)),
             ("abc,cd,de->abe", (2, 3, 4), (4, 2), (2, 3)), ("ij , jk -> ik", (2, 3), (3, 2)),
             ("i,->i", (3,), ()), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
             ("ij,j->ij", (2, 0), (0,)), ("ij,jk->ik", (2, 0), (0, 3))]


def tensors(shapes):
    generator = numpy.random.default_rng(3)
    return [fg.tensor(generator.standard_normal(shape)).requires_grad_() for shape in shapes]


@pytest.mark.parametrize(("equation", "shapes"), [(e, s) for e, *s in EQUATIONS])
def test_values_and_gradients(equation, shapes):
    given = tensors(shapes)
    found = fg.einsum(equation, *given)
    expected = numpy.einsum(equation, *(t.detach().numpy() for t in given))
    assert tuple(found.shape) == expected.shape
    numpy.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-12)
    if found.numel():
        assert fg.autograd.gradcheck(lambda *t: fg.einsum(equation, *t), given)


def test_sizes_of_one_broadcast():
    a, b = tensors([(2, 3), (1,)])
    assert fg.equal(fg.einsum("ij,j->ij", a, b), a * b)
    assert fg.allclose(fg.einsum("ij,j->i", a, b), (a * b).sum(1))


def test_lists_of_subscripts_and_of_tensors():
    a, b = tensors([(2, 3), (3, 4)])
    assert fg.equal(fg.einsum(a, [0, 1], b, [1, 2], [0, 2]), fg.einsum("ij,jk->ik", a, b))
    assert fg.equal(fg.einsum(a, [30, 1], b, [1, 2]), fg.einsum("ej,jC", a, b))
    assert fg.equal(fg.einsum(a, [..., 1], b, [1, 2], [..., 2]), fg.einsum("ij,jk->ik", a, b))
    assert fg.equal(fg.einsum("ij,jk->ik", [a, b]), a @ b)


def test_one_operand_is_a_view():
    a, = tensors([(2, 3)])
    a = a.detach()
    fg.einsum("ij->ji", a)[0, 1] = 7
    assert a[1, 0] == 7


@pytest.mark.parametrize(("equation", "shapes", "said"), [
    ("ij", [(2,)], "operand 0 has 1 dimensions and 2 subscripts; expected as many"),
    ("i", [(2, 3)], "operand 0 has 2 dimensions and 1 subscripts; expected as many"),
    ("ij...", [(2,)], "operand 0 has 1 dimensions and 2 subscripts beside the ellipsis"),
    ("ij,jk", [(2, 3)], "'ij,jk' is for 2 operands, got 1"),
    ("i->ii", [(2,)], "the output has the subscript i twice"),
    ("i->j", [(2,)], "the output has the subscript j, which no operand has"),
    ("i.j", [(2, 3)], "has '.' in 'i.j'; expected letters, and '...' at most once"),
    ("i...j...", [(2, 3)], "'...' at most once per operand"),
    ("i1", [(2, 3)], "has '1' in 'i1'; expected letters"),
    ("ij,jk", [(2, 3), (4, 2)], "subscript j has size 4 in operand 1 and 3 before"),
    ("ii", [(2, 3)], "operand 0 has the subscript i twice, of sizes 2 and 3; expected equal"),
    ("...,...", [(2,), (3,)], "the ellipsis has size 3 in operand 1 and 2 before"),
])
def test_errors(equation, shapes, said):
    with pytest.raises(RuntimeError) as caught:
        fg.einsum(equation, *tensors(shapes))
    assert said in str(caught.value)


def test_errors_of_arguments():
    with pytest.raises(ValueError, match="expected an equation"):
        fg.einsum("ij")
    with pytest.raises(ValueError, match="got the subscript 52; expected 0 to 51"):
        fg.einsum(fg.ones(2), [52])


def test_compiled():
    a, b = tensors([(4, 2, 3), (4, 3, 5)])
    f = fg.compile(lambda a, b: fg.einsum("bij,bjk->ik", a, b).exp().sum(), fullgraph=True)
    grads = fg.autograd.grad(f(a, b), (a, b))
    eager = fg.autograd.grad(fg.einsum("bij,bjk->ik", a, b).exp().sum(), (a, b))
    assert all(fg.equal(x, y) for x, y in zip(grads, eager))
