"""nn.functional on images: resampling, grids, columns, blocks, pooling by places."""
import pytest

import foregrad as fg
from derivative_checks import check, numbers
from foregrad.nn import functional as F


@pytest.mark.parametrize("mode, sizes", [("linear", (1, 2, 5)), ("bilinear", (1, 2, 3, 4)),
                                         ("bicubic", (1, 1, 3, 4)), ("trilinear", (1, 1, 2, 3, 2)),
                                         ("area", (1, 2, 3, 4))])
def test_interpolate_has_gradients_and_compiles_to_the_same_bits(mode, sizes):
    check(lambda x: F.interpolate(x, scale_factor=1.7, mode=mode), numbers(*sizes))


def test_interpolate_gives_the_values_of_pytorch():
    x = fg.arange(1.0, 5.0).view(1, 1, 2, 2)
    assert F.interpolate(x, scale_factor=2).tolist() == [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4],
                                                           [3, 3, 4, 4]]]]
    assert F.interpolate(x, 3, mode="bilinear", align_corners=True).tolist() == [
        [[[1, 1.5, 2], [2, 2.5, 3], [3, 3.5, 4]]]]
    assert F.interpolate(x, 1, mode="bilinear", antialias=True).item() == 2.5


def test_scale_factor_decides_places_unless_it_is_recomputed():
    x = fg.arange(10.0).view(1, 1, 10)
    given = F.interpolate(x, scale_factor=0.35, mode="linear")
    assert given.shape == (1, 1, 3)
    again = F.interpolate(x, scale_factor=0.35, mode="linear", recompute_scale_factor=True)
    assert fg.equal(again, F.interpolate(x, 3, mode="linear")) and not fg.equal(given, again)


def test_bytes_are_resampled_and_rounded():
    x = fg.tensor([[[0, 255]]], dtype=fg.uint8)
    assert F.interpolate(x, 4, mode="linear").tolist() == [[[0, 64, 191, 255]]]


@pytest.mark.parametrize("call, error, words", [
    (lambda x: F.interpolate(x), ValueError, "either size or scale_factor"),
    (lambda x: F.interpolate(x, 2, 2.0), ValueError, "only one of size"),
    (lambda x: F.interpolate(x, 2, align_corners=True), ValueError, "align_corners"),
    (lambda x: F.interpolate(x, 2, mode="linear"), NotImplementedError, "needs 3D"),
    (lambda x: F.interpolate(x, 2, mode="lanczos"), ValueError, "antialias=True"),
    (lambda x: F.interpolate(x, (1, 2, 3)), ValueError, "spatial dimensions"),
    (lambda x: F.interpolate(x, 0), RuntimeError, "greater than 0"),
    (lambda x: F.interpolate(x.long(), 2), NotImplementedError, "int64"),
    (lambda x: F.grid_sample(x, x, align_corners=True), RuntimeError, "grid"),
    (lambda x: F.grid_sample(x, x, "cubic"), ValueError, "bicubic"),
    (lambda x: F.affine_grid(x, (1, 1, 2, 2)), ValueError, "Nx2x3"),
    (lambda x: F.unfold(x, 9), RuntimeError, "larger than the padded image"),
    (lambda x: F.fold(x[0, 0], (3, 3), 2), RuntimeError, "do not belong"),
    (lambda x: F.pixel_shuffle(x, 2), RuntimeError, "no multiple"),
    (lambda x: F.max_unpool2d(x, x.int(), 2), RuntimeError, "expected int64"),
    (lambda x: F.max_pool2d(x, 2, 0), RuntimeError, "stride"),
])
@pytest.mark.filterwarnings("ignore:Default grid_sample")
def test_misuse_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call(fg.ones(1, 1, 3, 4))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_grid_sample_has_gradients_of_image_and_grid(mode, padding_mode):
    check(lambda x, g: F.grid_sample(x, g, mode, padding_mode, align_corners=False),
          numbers(1, 2, 3, 4), numbers(1, 2, 3, 2, low=-1.3, high=1.3))


def test_an_identity_grid_gives_the_image_back():
    x = numbers(2, 3, 4, 5)
    theta = fg.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=fg.float64).repeat(2, 1, 1)
    for align in (True, False):
        grid = F.affine_grid(theta, x.shape, align)
        assert fg.allclose(F.grid_sample(x, grid, align_corners=align), x)


def test_the_grid_of_nearest_samples_has_zero_gradients():
    x, grid = numbers(1, 1, 3, 3), numbers(1, 2, 2, 2)
    F.grid_sample(x, grid, "nearest", align_corners=False).sum().backward()
    assert grid.grad.count_nonzero() == 0 and x.grad.sum() == 4


def test_unfold_and_fold_are_transposes_with_gradients():
    options = dict(kernel_size=(2, 3), dilation=(1, 2), padding=(1, 0), stride=2)
    x = numbers(1, 2, 5, 6)
    y = numbers(*F.unfold(x, **options).shape)
    left, right = (F.unfold(x, **options) * y).sum(), (x * F.fold(y, (5, 6), **options)).sum()
    assert fg.allclose(left, right)
    check(lambda x: F.unfold(x, **options), x)
    check(lambda y: F.fold(y, (5, 6), **options), y)


def test_blocks_are_memory_of_their_own():
    x = fg.ones(1, 4, 1, 1)
    for y in (F.pixel_shuffle(x, 2), F.pixel_shuffle(x, 1), F.channel_shuffle(x, 4)):
        y.add_(1)
    assert x.sum() == 4


def test_pixel_unshuffle_undoes_pixel_shuffle():
    x = numbers(2, 8, 3, 2)
    assert fg.equal(F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), x)
    check(lambda x: F.pixel_shuffle(x, 2), x)


def test_pooling_of_volumes_has_gradients():
    x = numbers(1, 2, 4, 3, 5)
    check(lambda x: F.avg_pool3d(x, 2, 1, 1, count_include_pad=False), x)
    check(lambda x: F.max_pool3d(x, 2), x)
    check(lambda x: F.adaptive_avg_pool3d(x, (2, None, 1)), x)
    check(lambda x: F.lp_pool3d(x, 2, 2), x)


def test_max_unpool_puts_values_where_they_came_from():
    x = numbers(1, 2, 4, 6)
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(values, indices, 2)
    assert fg.equal(F.max_pool2d(back.abs(), 2), values.abs())
    check(lambda v: F.max_unpool2d(v, indices, 2), values.detach().requires_grad_())


def test_fractional_pooling_keeps_to_its_random_numbers():
    samples = fg.tensor([[[0.3, 0.7]]])
    x = fg.arange(49.0).view(1, 1, 7, 7)
    values, indices = F.fractional_max_pool2d(x, 2, output_size=3, return_indices=True,
                                              _random_samples=samples)
    assert values.tolist() == [[[[8, 11, 13], [29, 32, 34], [43, 46, 48]]]]
    assert fg.equal(values.long(), indices)
    assert F.fractional_max_pool3d(fg.rand(1, 2, 6, 6, 6), 2, output_ratio=0.5).shape == (
        1, 2, 3, 3, 3)
