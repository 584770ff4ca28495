"""Summaries: the records of TensorBoard's files, one function for each kind."""

import io

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_FLOAT, DT_STRING

from foregrad.utils.tensorboard._arrays import (
    array_of,
    as_bytes,
    as_hwc,
    number_of,
    pillow,
    png_of,
)


def _plugin(name, content=b""):
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name,
                                                                  content=content))


def _one(**value):
    return Summary(value=[Summary.Value(**value)])


def scalar(tag, value, new_style=False, double_precision=False):
    """One number."""
    number = number_of(value, "add_scalar")
    if new_style:
        tensor = TensorProto(dtype="DT_DOUBLE", double_val=[number]) if double_precision else (
            TensorProto(dtype=DT_FLOAT, float_val=[number]))
        return _one(tag=tag, tensor=tensor, metadata=_plugin("scalars"))
    return _one(tag=tag, simple_value=number)


def tensor(tag, values):
    """All elements of a tensor."""
    values = array_of(values)
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in values.shape])
    proto = TensorProto(dtype=DT_FLOAT, tensor_shape=shape,
                        float_val=values.astype(np.float32).reshape(-1).tolist())
    return _one(tag=tag, tensor=proto, metadata=_plugin("tensor"))


def default_bins():
    """Edges that grow by a tenth, to both sides of zero."""
    edges, value = [], 1e-12
    while value < 1e20:
        edges.append(value)
        value *= 1.1
    return [-edge for edge in reversed(edges)] + [0] + edges


def histogram(tag, values, bins, max_bins=None):
    """Counts of values in bins."""
    values = array_of(values).reshape(-1).astype(float)
    if values.size == 0:
        raise ValueError("The input has no element.")
    bad = values.size - np.isfinite(values).sum()
    if bad:
        raise ValueError(f"add_histogram: {bad} of {values.size} values are infinite or NaN; leave "
                         "them out")
    counts, edges = np.histogram(values, bins=default_bins() if bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        width = len(counts) // max_bins
        counts = np.add.reduceat(counts, range(0, len(counts), width))
        edges = np.append(edges[:-1][::width], edges[-1])
    used = np.flatnonzero(counts)
    first, last = used[0], used[-1] + 1
    # A bin is closed by its limit: an empty one in front holds the lower edge of the first.
    return _one(tag=tag, histo=HistogramProto(
        min=values.min(), max=values.max(), num=values.size, sum=values.sum(),
        sum_squares=values.dot(values), bucket_limit=edges[first:last + 1].tolist(),
        bucket=[0, *counts[first:last].tolist()]))


def histogram_raw(tag, least, most, num, total, sum_squares, bucket_limits, bucket_counts):
    """Counts that a program has made."""
    if len(bucket_limits) != len(bucket_counts):
        raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
    return _one(tag=tag, histo=HistogramProto(
        min=float(least), max=float(most), num=float(num), sum=float(total),
        sum_squares=float(sum_squares), bucket_limit=[float(x) for x in bucket_limits],
        bucket=[float(x) for x in bucket_counts]))


def _png(tag, pixels):
    height, width, channels = pixels.shape
    return _one(tag=tag, image=Summary.Image(height=height, width=width, colorspace=channels,
                                             encoded_image_string=png_of(pixels)))


def image(tag, values, dataformats="NCHW"):
    """An image, or several in a grid."""
    return _png(tag, as_bytes(as_hwc(array_of(values), dataformats)))


def image_with_boxes(tag, values, boxes, rescale=1, dataformats="CHW", labels=None):
    """An image with rectangles: (left, top, right, bottom) in pixels."""
    from PIL import ImageDraw

    pixels = pillow().fromarray(as_bytes(as_hwc(array_of(values), dataformats)))
    draw = ImageDraw.Draw(pixels)
    for i, box in enumerate(array_of(boxes).reshape(-1, 4).tolist()):
        draw.rectangle(box, outline=(255, 0, 0), width=2)
        if labels is not None:
            draw.text((box[0] + 2, box[1] + 2), str(labels[i]), fill=(255, 0, 0))
    if rescale != 1:
        pixels = pixels.resize([int(size * rescale) for size in pixels.size])
    return _png(tag, np.asarray(pixels))


def video(tag, values, fps=4):
    """Frames (N, T, C, H, W) as a moving image; several videos stand side by side."""
    values = array_of(values)
    if values.ndim != 5:
        raise ValueError(f"add_video: expected 5 dimensions (N, T, C, H, W), got {values.ndim}")
    frames = [as_bytes(as_hwc(values[:, t], "NCHW")) for t in range(values.shape[1])]
    images = [pillow().fromarray(frame) for frame in frames]
    output = io.BytesIO()
    images[0].save(output, format="GIF", save_all=True, append_images=images[1:],
                   duration=1000 // fps, loop=0)
    height, width, channels = frames[0].shape
    return _one(tag=tag, image=Summary.Image(height=height, width=width, colorspace=channels,
                                             encoded_image_string=output.getvalue()))


def audio(tag, values, sample_rate=44100):
    """A sound between -1 and 1, as a WAV file."""
    import wave

    samples = array_of(values).squeeze()
    if samples.ndim > 1:
        raise ValueError("input tensor should be 1 dimensional.")
    samples = (np.clip(samples, -1, 1) * 32767.0).astype("<i2")
    output = io.BytesIO()
    with wave.open(output, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(samples.tobytes())
    return _one(tag=tag, audio=Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=samples.size,
        encoded_audio_string=output.getvalue(), content_type="audio/wav"))


def text(tag, words):
    """A text, which TensorBoard shows as Markdown."""
    from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

    proto = TensorProto(dtype=DT_STRING, string_val=[words.encode("utf_8")],
                        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]))
    content = TextPluginData(version=0).SerializeToString()
    return _one(tag=tag + "/text_summary", metadata=_plugin("text", content), tensor=proto)


def pr_curve(tag, labels, predictions, thresholds=127, weights=None):
    """Precision and recall of predictions between 0 and 1, for labels 0 and 1."""
    labels, predictions = array_of(labels).reshape(-1), array_of(predictions).reshape(-1)
    thresholds = min(thresholds, 127)
    weights = np.ones(labels.size) if weights is None else array_of(weights).reshape(-1)
    place = np.floor(predictions * (thresholds - 1)).astype(np.int32)
    edges = (0, thresholds - 1)
    true, _ = np.histogram(place, bins=thresholds, range=edges, weights=labels * weights)
    false, _ = np.histogram(place, bins=thresholds, range=edges, weights=(1 - labels) * weights)
    tp, fp = np.cumsum(true[::-1])[::-1], np.cumsum(false[::-1])[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(1e-7, tp + fp)
    recall = tp / np.maximum(1e-7, tp + fn)
    return pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, thresholds)


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, thresholds=127):
    """The same of counts that a program has made."""
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    rows = np.stack([array_of(row) for row in (tp, fp, tn, fn, precision, recall)])
    content = PrCurvePluginData(version=0,
                                num_thresholds=min(thresholds, 127)).SerializeToString()
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in rows.shape])
    proto = TensorProto(dtype=DT_FLOAT, float_val=rows.astype(float).reshape(-1).tolist(),
                        tensor_shape=shape)
    return _one(tag=tag, metadata=_plugin("pr_curves", content), tensor=proto)


def custom_scalars(layout):
    """Charts of several scalars: {category: {chart: (kind, tags)}}."""
    from tensorboard.plugins.custom_scalar import layout_pb2

    categories = []
    for name, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise ValueError("add_custom_scalars: a chart of kind Margin has three tags, "
                                     f"got {len(tags)}")
                value, lower, upper = tags
                series = layout_pb2.MarginChartContent.Series(value=value, lower=lower, upper=upper)
                made.append(layout_pb2.Chart(
                    title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                made.append(layout_pb2.Chart(
                    title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=name, chart=made))
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype=DT_STRING, string_val=[content],
                        tensor_shape=TensorShapeProto())
    return _one(tag="custom_scalars__config__", tensor=proto, metadata=_plugin("custom_scalars"))
