"""Vectors with labels and images, for TensorBoard's page PROJECTOR."""

import math
import os

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

from foregrad.utils.tensorboard._arrays import as_bytes, pillow


def write_metadata(metadata, folder, header=None):
    """A line per vector: a label, or a row of them under a heading."""
    if header:
        rows = ["\t".join(str(cell) for cell in header)]
        rows += ["\t".join(str(cell) for cell in row) for row in metadata]
    else:
        rows = [str(label) for label in metadata]
    with open(os.path.join(folder, "metadata.tsv"), "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")


def write_images(images, folder):
    """One square image of all the vectors' images (N, C, H, W)."""
    count, channels, height, width = images.shape
    if height != width:
        raise ValueError("Image should be square, see tensorflow/tensorboard#670")
    side = math.ceil(math.sqrt(count))
    if channels == 1:
        images = np.concatenate([images] * 3, 1)
    canvas = np.zeros((3, side * height, side * width), dtype=images.dtype)
    for i in range(count):
        y, x = i // side * height, i % side * width
        canvas[:, y:y + height, x:x + width] = images[i]
    pixels = as_bytes(canvas.transpose(1, 2, 0))
    pillow().fromarray(pixels).save(os.path.join(folder, "sprite.png"))


def write_vectors(vectors, folder):
    """A line per vector."""
    with open(os.path.join(folder, "tensors.tsv"), "w", encoding="utf-8") as file:
        for row in vectors:
            file.write("\t".join(str(number) for number in row.tolist()) + "\n")


def info(tag, subfolder, metadata, images):
    """The entry of the vectors in the page's configuration."""
    made = EmbeddingInfo(tensor_name=tag, tensor_path=os.path.join(subfolder, "tensors.tsv"))
    if metadata is not None:
        made.metadata_path = os.path.join(subfolder, "metadata.tsv")
    if images is not None:
        made.sprite.image_path = os.path.join(subfolder, "sprite.png")
        made.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    return made


def write_config(folder, entries):
    """The configuration of all vectors of a run."""
    with open(os.path.join(folder, "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(text_format.MessageToString(ProjectorConfig(embeddings=entries)))
