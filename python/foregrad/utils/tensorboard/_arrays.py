"""Tensors, arrays and numbers as numpy arrays, and images among them."""

import io

import numpy as np

from foregrad import _C


def array_of(x):
    """Numbers of any kind as an array."""
    if isinstance(x, _C.Tensor):
        x = x.detach()
        return (x.float() if x.dtype is _C.bfloat16 else x).numpy()
    if isinstance(x, np.ndarray):
        return x
    if isinstance(x, (int, float, bool)) or np.isscalar(x):
        return np.array([x])
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    raise NotImplementedError(f"Got {type(x)}, but numpy array or foregrad tensor are expected.")


def number_of(x, who):
    """One number as a float."""
    values = array_of(x)
    if values.size != 1:
        raise ValueError(f"{who}: scalar should be 0D, got {values.size} elements")
    return float(values.reshape(-1)[0])


def grid_of(images, columns=8):
    """Images (N, C, H, W) side by side, as one (C, H, W)."""
    count, channels, height, width = images.shape
    if channels == 1:
        images = np.concatenate([images] * 3, 1)
    columns = min(count, columns)
    rows = -(-count // columns)
    canvas = np.zeros((3, height * rows, width * columns), dtype=images.dtype)
    for i in range(count):
        y, x = i // columns * height, i % columns * width
        canvas[:, y:y + height, x:x + width] = images[i]
    return canvas


def as_hwc(values, dataformats):
    """An image, or a grid of several, with its channels last."""
    dataformats = dataformats.upper()
    if len(set(dataformats)) != len(dataformats) or not set(dataformats) <= set("NCHW"):
        raise ValueError(f"add_image: dataformats is '{dataformats}'; expected letters of NCHW, "
                         "each once")
    if values.ndim != len(dataformats):
        raise ValueError(f"size of input tensor and input format are different. tensor shape: "
                         f"{values.shape}, input_format: {dataformats}")
    if len(dataformats) == 4:
        images = values.transpose([dataformats.find(letter) for letter in "NCHW"])
        return grid_of(images).transpose(1, 2, 0)
    if len(dataformats) == 3:
        image = values.transpose([dataformats.find(letter) for letter in "HWC"])
        return np.concatenate([image] * 3, 2) if image.shape[2] == 1 else image
    if len(dataformats) == 2:
        image = values.transpose([dataformats.find(letter) for letter in "HW"])
        return np.stack([image] * 3, 2)
    raise ValueError(f"add_image: dataformats is '{dataformats}'; expected two to four letters")


def as_bytes(values):
    """Colours as bytes: floats are between 0 and 1."""
    scale = 1 if values.dtype == np.uint8 else 255
    return (values.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def pillow():
    """The package that encodes images."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("utils.tensorboard: images need the package 'pillow'; install it with "
                          "`pip install pillow`") from None
    return Image


def png_of(image):
    """The bytes of a PNG file."""
    output = io.BytesIO()
    pillow().fromarray(image).save(output, format="PNG")
    return output.getvalue()


def figure_image(figures, close):
    """Drawings of matplotlib as images with their channels first."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise ImportError("add_figure: it needs the package 'matplotlib'; install it with "
                          "`pip install matplotlib`") from None

    def drawn(figure):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        image = np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1)
        if close:
            plt.close(figure)
        return image

    if isinstance(figures, list):
        return np.stack([drawn(figure) for figure in figures])
    return drawn(figures)
