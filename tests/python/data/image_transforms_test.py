"""The arithmetic of samples: bytes to floats, flips, numbers per channel, as numpy has them."""

import foregrad as fg
import pytest

np = pytest.importorskip("numpy")
LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 511, 513, 1500]


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64])
def test_integers_become_floats_and_wider_integers(kind):
    info = np.iinfo(kind) if kind is not np.bool_ else np.iinfo(np.uint8)
    random = np.random.RandomState(0)
    for length in LENGTHS:
        values = random.randint(info.min, info.max, length, dtype=info.dtype)
        values[:1], values[-1:] = info.max, info.min
        values = values.astype(kind)
        for target in ("float32", "float64", "int64", "int32", "int16"):
            if target.startswith("float") or np.dtype(target).itemsize > values.itemsize:
                made = fg.from_numpy(values).to(getattr(fg, target))
                assert made.tolist() == values.astype(target).tolist(), (length, target)
        strided = fg.from_numpy(values)[::2].float()
        assert strided.tolist() == values[::2].astype("float32").tolist()


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int16, np.float16, np.float32, np.float64])
def test_flips_reverse_rows_of_every_length(kind):
    for length in LENGTHS:
        values = (np.arange(3 * length) % 251).reshape(3, length).astype(kind)
        tensor = fg.from_numpy(values)
        assert tensor.flip(-1).tolist() == np.flip(values, -1).tolist(), length
        assert tensor.flip(0, 1).tolist() == np.flip(values).tolist()
        assert tensor[:, ::2].flip(-1).tolist() == np.flip(values[:, ::2], -1).tolist()
        assert (tensor.flip(-1) == tensor.flip(1)).all()


def test_numbers_per_channel_meet_images_of_every_size():
    mean = np.array([0.5, -2, 3], dtype=np.float32).reshape(3, 1, 1)
    for length in LENGTHS:
        image = np.arange(3 * 2 * length, dtype=np.float32).reshape(3, 2, length)
        made = (fg.from_numpy(image) - fg.from_numpy(mean)) / fg.from_numpy(mean)
        assert made.tolist() == ((image - mean) / mean).tolist(), length
        wide = fg.from_numpy(mean.astype(np.float64)) + fg.from_numpy(image.astype(np.float64))
        assert wide.tolist() == (mean.astype(np.float64) + image).tolist()
