"""Small things that PyTorch's programs rely on: names, representations, kinds of errors."""

import warnings

import foregrad as fg
import numpy
import pytest
from foregrad.nn import functional as F


def test_only_some_in_place_forms_are_functions():
    for name in ("abs_", "clamp_", "clip_", "relu_", "exp_", "zero_", "fill_", "index_put_"):
        assert hasattr(fg, name) and hasattr(fg.Tensor, name), name
    for name in ("add_", "mul_", "eq_", "sign_", "absolute_", "logical_not_", "pow_"):
        assert not hasattr(fg, name) and hasattr(fg.Tensor, name), name


def test_results_with_names_print_one_per_line():
    result = fg.ones(2, 2).max(0)
    assert repr(result) == ("foregrad.return_types.max(\nvalues=tensor([1., 1.]),\n"
                            "indices=tensor([0, 0]))")


def test_pooling_with_indices_gives_a_plain_tuple():
    for result in (F.max_pool1d(fg.ones(1, 1, 2), 2, return_indices=True),
                   F.max_pool2d(fg.ones(1, 1, 2, 2), 2, return_indices=True),
                   F.adaptive_max_pool2d(fg.ones(1, 1, 2, 2), 1, return_indices=True)):
        assert type(result) is tuple and len(result) == 2


@pytest.mark.parametrize("pool", [F.adaptive_avg_pool2d, F.adaptive_max_pool2d])
def test_adaptive_pooling_keeps_sizes_that_are_none(pool):
    x = fg.ones(1, 2, 6, 5)
    assert pool(x, (3, None)).shape == (1, 2, 3, 5)
    assert pool(x, (None, None)).shape == (1, 2, 6, 5)
    assert pool(x, 2).shape == (1, 2, 2, 2)


@pytest.mark.parametrize("call", [
    lambda: fg.full(2, 3), lambda: fg.ones(size=2), lambda: fg.ones(2).new_full(2, 3),
    lambda: fg.reshape(fg.ones(2), 2), lambda: fg.flip(fg.ones(2), 0),
    lambda: fg.ones(2).as_strided(2, 1), lambda: fg.randint(5, 2), lambda: F.layer_norm(
        fg.ones(2), 2),
])
def test_sizes_are_tuples(call):
    with pytest.raises(TypeError, match="must be a tuple of ints, not int|invalid combination"):
        call()


def test_sizes_may_be_spread_and_dimensions_may_be_one():
    x = fg.ones(2)
    assert fg.ones(3).shape == x.new_zeros(3).shape == fg.ones(3).reshape(3).shape == (3,)
    assert x.expand(2).shape == x.view(2).shape == x.flip(0).shape == (2,)
    assert fg.sum(x, 0).item() == 2 and fg.roll(x, 1).shape == (2,)
    assert fg.ones(fg.tensor(2), 3).shape == (2, 3)


def test_bools_to_the_power_of_a_bool():
    b = fg.tensor([True, False])
    assert (b ** True).tolist() == [True, False] and (b ** True).dtype == fg.bool
    assert (b ** False).tolist() == [True, True]
    b **= False
    assert b.tolist() == [True, True]
    with pytest.raises(NotImplementedError, match="bool"):
        b ** b


def test_memory_can_be_viewed_as_another_dtype():
    x = fg.tensor([1.0, -2.0])
    bits = x.view(fg.int32)
    assert bits.tolist() == [0x3F800000, -0x40000000]
    bits[1] = 0x40000000
    assert x.tolist() == [1, 2] and x._version == 1
    assert not bits._is_view() and x.view(fg.uint8).shape == (8,)
    assert fg.ones(2, 4).view(dtype=fg.float64).shape == (2, 2)
    assert fg.ones(2, 4, dtype=fg.float64).t().view(fg.int64).stride() == (1, 4)


@pytest.mark.parametrize("x, message", [
    (fg.ones(3), "the last size is 3, expected a multiple of 2"),
    (fg.ones(()), "a zero-dim tensor of float32 cannot become float64"),
    (fg.ones(2, 4).t(), "the last dimension must have stride 1"),
    (fg.ones(5)[1:], "the offset is 1"), (fg.ones(3, 3)[:, :2], "a stride is 3"),
])
def test_a_view_of_another_dtype_must_fit(x, message):
    with pytest.raises(RuntimeError, match=message):
        x.view(fg.float64)


def test_bits_have_no_gradient():
    x = fg.ones(2, requires_grad=True)
    assert not (x * 1).view(fg.int32).requires_grad
    assert not (x * 1).view(fg.float32).requires_grad


@pytest.mark.parametrize("make", [fg.rand_like, fg.randn_like, lambda t: fg.randint_like(t, 5)])
def test_random_numbers_keep_the_order_of_dimensions(make):
    fg.manual_seed(0)
    x = make(fg.ones(2, 3).t())
    fg.manual_seed(0)
    assert x.stride() == (1, 3) and x.equal(make(fg.ones(3, 2))) and x._version == 0


def test_flipped_tensors_keep_the_order_of_dimensions():
    x = fg.arange(6.0).view(2, 3).t()
    assert x.flip(0).stride() == (1, 3) and x.flip(0).tolist() == x.tolist()[::-1]


def test_an_index_false_writes_nothing():
    x = fg.ones(2, 3)
    x[False] = fg.ones(7, 7)
    x[False] += 1
    assert x.equal(fg.ones(2, 3)) and x._version == 0


def test_one_value_for_one_mask_is_converted():
    x = fg.ones(2, 3, dtype=fg.float64)
    x[fg.tensor([True, False])] = fg.tensor(3.0)
    assert x.tolist() == [[3, 3, 3], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="values are float32, but self is float64"):
        x[fg.tensor([True, False]), fg.tensor([True, True, False])] = fg.tensor(3.0)
    with pytest.raises(IndexError, match="mask"):
        x[fg.tensor([True, False, True])] = fg.ones(7, 7)


def test_whole_dimensions_take_no_view():
    x = fg.ones(2, 3, requires_grad=True) * 1
    x[:, [0, 2]] = 5
    assert type(x.grad_fn).__name__ == "IndexPutBackward0"
    assert x[:]._is_view() and x[:, :]._is_view()


def test_reshaped_strides_are_an_alias():
    x = fg.ones(4, 4, requires_grad=True)
    column = (x * 1)[:, 0]
    assert type(column.reshape(2, 2).grad_fn).__name__ == "ReshapeAliasBackward0"
    assert type((x * 1).reshape(16).grad_fn).__name__ == "ViewBackward0"
    column.reshape(2, 2).sum().backward()
    assert x.grad.sum().item() == 4


def test_a_count_has_no_gradient():
    x = fg.tensor([1.0, 0.0], requires_grad=True)
    assert fg.autograd.grad(x.norm(0), x, allow_unused=True) == (None,)


def test_products_are_no_views():
    v, m = fg.ones(2, requires_grad=True), fg.ones(2, 3, requires_grad=True)
    for product in (v @ m, m.t() @ v, v @ v, m.t() @ m, v @ fg.ones(4, 2, 3)):
        assert not product._is_view()
    row = v @ m
    with fg.no_grad():
        row.mul_(2)
    assert type(row.grad_fn).__name__ == "SqueezeBackward1"


def test_nothing_has_no_largest_element():
    for name in ("max", "min", "amax", "amin"):
        with pytest.raises(RuntimeError, match="is empty; pass a dim that has elements"):
            getattr(fg.ones(2, 0), name)()
        with pytest.raises(IndexError, match="dimension 1 of .* is empty"):
            getattr(fg.ones(2, 0), name)(1)


def test_names_of_norms():
    with pytest.raises(RuntimeError, match="expected a number, 'fro' or 'nuc'"):
        fg.ones(2).norm("a")
    with pytest.raises(NotImplementedError, match="nuc"):
        fg.ones(2, 2).norm("nuc")


def test_parameters_are_made_of_tensors():
    with pytest.raises(TypeError, match="Parameter: the data must be a Tensor, not float"):
        fg.nn.Parameter(1.0)


def test_names_of_nodes_that_are_no_functions_gradient():
    x = fg.ones(2, requires_grad=True)
    y = x * 1
    y[0].mul_(2)
    accumulator = (x * 1).grad_fn.next_functions[0][0]
    assert accumulator.name() == "torch::autograd::AccumulateGrad"
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert type(accumulator).__name__ == "AccumulateGrad"
    assert (x * 1).grad_fn.name() == "MulBackward0"


@pytest.mark.parametrize("change, shape", [
    (lambda y: y.t_(), (3, 2)), (lambda y: y.unsqueeze_(0), (1, 2, 3)),
    (lambda y: y.transpose_(0, 1), (3, 2)),
])
def test_a_retained_gradient_stays_with_the_sizes_it_was_asked_for(change, shape):
    y = fg.ones(2, 3, requires_grad=True) * 3
    y.retain_grad()
    change(y)
    (y * fg.arange(6.0).view(shape)).sum().backward()
    assert y.shape == shape and y.retains_grad and y.grad.shape == (2, 3)


def test_results_of_contiguous_tensors_have_the_usual_strides():
    """A dimension of one element may have any stride, but not in a result."""
    x = fg.rand(2, 3)[None, 0]
    assert x.stride() == (6, 1)
    for result in (x.abs(), x * x, x ** 2, x ** 3.0, -x, x * 1.5):
        assert result.stride() == (3, 1)


def test_a_device_is_a_context_and_may_be_the_default():
    with fg.device("cpu") as here:
        assert here == fg.device("cpu") and fg.ones(1).device == here
    fg.set_default_device("cpu")
    fg.set_default_device(None)
    assert fg.get_default_device() == fg.device("cpu")
    for wrong in (lambda: fg.set_default_device("cuda"), lambda: fg.device("cpu:x"),
                  lambda: fg.device("cpu:0", 1)):
        with pytest.raises(RuntimeError, match="device"):
            wrong()


def test_an_error_leaves_the_context_of_a_device():
    with pytest.raises(KeyError), fg.device("cpu"):
        raise KeyError("mine")


def _views_without_history():
    x = fg.ones(4, requires_grad=True)
    base = x * 1
    first, second = base.split(2)
    with fg.no_grad():
        first.mul_(2)
        made_without = base[:2]
    yield first
    yield second
    base.add_(1)
    yield made_without


def test_tensors_whose_history_cannot_be_computed_print_their_values():
    for view, values in zip(_views_without_history(), ("[2., 2.]", "[1., 1.]", "[3., 3.]")):
        assert repr(view) == str(view) == f"tensor({values}, grad_fn=<Invalid>)"
        with pytest.raises(RuntimeError, match="modified in place"):
            view.grad_fn


def test_numpy_reads_tensors_that_require_grad_where_nothing_is_recorded():
    np = pytest.importorskip("numpy")
    x = fg.ones(2, requires_grad=True)
    for mode in (fg.no_grad, fg.inference_mode):
        with mode():
            assert x.numpy().tolist() == np.asarray(x).tolist() == [1, 1]
            assert memoryview(x).tolist() == [1, 1]
    with fg.no_grad():
        x.numpy()[0] = 5
    assert x.tolist() == [5, 1]
    for read in (x.numpy, lambda: np.asarray(x), lambda: (x * 2).numpy()):
        with pytest.raises(RuntimeError, match="requires grad"):
            read()


@pytest.mark.parametrize("name, kind", [
    ("data", RuntimeError), ("requires_grad", RuntimeError), ("_backward_hooks", RuntimeError),
    ("shape", AttributeError), ("dtype", AttributeError), ("grad_fn", AttributeError),
    ("is_leaf", AttributeError), ("_version", AttributeError), ("device", AttributeError),
    ("T", AttributeError), ("nothing", AttributeError),
])
def test_deleting_attributes_of_tensors(name, kind):
    x = fg.ones(2, 2, requires_grad=True)
    (x * 2).sum().backward()
    with pytest.raises(kind):
        delattr(x, name)
    assert x.tolist() == [[1, 1], [1, 1]] and x.requires_grad and x.grad is not None
    del x.grad
    assert x.grad is None
    del x.grad


def test_variables_are_leaves_over_the_data_of_tensors():
    Variable = fg.autograd.Variable
    x = fg.ones(2, requires_grad=True)
    assert isinstance(x, Variable) and not isinstance(1, Variable)
    assert not Variable(x).requires_grad and Variable(x, requires_grad=True).is_leaf
    assert Variable(x).data_ptr() == x.data_ptr()
    with pytest.raises(TypeError, match="must be a Tensor, not int"):
        Variable(1)
    with pytest.warns(UserWarning, match="volatile"):
        Variable(x, volatile=True)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_gradients_of_amax_and_amin_at_nan_ties_and_infinities(name):
    def gradient(rows, *args, **kwargs):
        x = fg.tensor(rows, requires_grad=True)
        getattr(x, name)(*args, **kwargs).sum().backward()
        return x.grad

    assert gradient([[NAN, 1.0], [1.0, 1.0]], 1).isnan().tolist() == [[True, True], [False, False]]
    assert gradient([[NAN, 1.0], [1.0, 1.0]], 1)[1].tolist() == [0.5, 0.5]
    assert gradient([[NAN, 1.0], [1.0, 2.0]]).isnan().all()
    assert gradient([[INF, INF], [-INF, -INF]], 1, keepdim=True).tolist() == [[0.5, 0.5]] * 2
    compiled = fg.compile(lambda x: getattr(x, name)(1), fullgraph=True)
    x = fg.tensor([[NAN, 1.0]], requires_grad=True)
    compiled(x).sum().backward()
    assert x.grad.isnan().all()


@pytest.mark.parametrize("name", ["max", "min"])
def test_gradients_of_max_and_min_go_to_the_nans(name):
    x = fg.tensor([NAN, 1.0, NAN], requires_grad=True)
    getattr(x, name)().backward()
    assert x.grad.tolist() == [0.5, 0, 0.5]
    x = fg.tensor([[NAN, 1.0, NAN]], requires_grad=True)
    getattr(x, name)(1)[0].sum().backward()
    assert x.grad.tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("call", [
    lambda x: x.index_fill(2, fg.tensor([0, 1]), 0.0),
    lambda x: x.index_fill(0, fg.tensor([1]), fg.tensor(2.0)),
    lambda x: x.sort(1)[0], lambda x: x.sort(2, descending=True)[1], lambda x: x.argsort(0),
    lambda x: x.clone(), lambda x: x + 1, lambda x: fg.zeros_like(x), lambda x: x.flip(1),
], ids=["fill", "fill tensor", "sort", "sort indices", "argsort", "clone", "add", "like", "flip"])
def test_results_keep_the_layout_of_permuted_inputs(order, call):
    base = fg.arange(24, dtype=fg.float32).reshape(2, 3, 4).sin()
    back = [order.index(i) for i in range(3)]
    x = base.permute(order).contiguous().permute(back)
    result = call(x)
    assert result.stride() == x.stride() and result.equal(call(base))
    expanded = base[:, :1].expand(2, 3, 4)
    assert call(expanded).equal(call(expanded.contiguous()))


def test_variance_and_mean_take_the_old_flag():
    x = fg.tensor([[1.0, 3.0], [5.0, 7.0]])
    assert [t.item() for t in fg.var_mean(x, False)] == [5, 4]
    assert [t.item() for t in fg.var_mean(x, unbiased=False)] == [5, 4]
    assert [t.tolist() for t in fg.var_mean(x, 1, True, True)] == [[[2], [2]], [[2], [6]]]
    assert [t.tolist() for t in fg.std_mean(x, dim=0, unbiased=False)] == [[2, 2], [3, 5]]


def test_numbers_of_numpy_keep_their_dtype():
    for name in ("int8", "uint8", "int32", "float16", "float32", "float64"):
        number = getattr(numpy, name)(1)
        assert fg.tensor([number]).dtype is getattr(fg, name)
        assert fg.tensor(number).dtype is getattr(fg, name)


def test_sorted_results_may_be_written():
    x, values, places = fg.tensor([2.0, 3.0, 1.0]), fg.empty(0), fg.empty(0, dtype=fg.int64)
    fg.sort(x, out=(values, places))
    assert values.tolist() == [1, 2, 3] and places.tolist() == [2, 0, 1]
    fg.topk(x, 1, out=(values, places))
    assert values.tolist() == [3] and places.tolist() == [1]


def test_kl_div_warns_of_its_mean():
    logs, target = fg.zeros(2, 3), fg.full((2, 3), 0.5)
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        fg.nn.functional.kl_div(logs, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fg.nn.functional.kl_div(logs, target, reduction="batchmean")


@pytest.mark.parametrize("scores, target, error", [
    ((4, 3), (4, 1), RuntimeError), ((4, 3), (4, 3), RuntimeError), ((4, 3, 2), (4,), RuntimeError),
    ((4,), (4, 1), RuntimeError), ((4, 3), (3,), ValueError), ((4,), (3,), ValueError)])
def test_sizes_of_targets_that_do_not_fit_scores(scores, target, error):
    for loss in (fg.nn.functional.nll_loss, fg.nn.functional.cross_entropy):
        with pytest.raises(error, match="nll_loss"):
            loss(fg.zeros(scores), fg.zeros(target, dtype=fg.int64))
