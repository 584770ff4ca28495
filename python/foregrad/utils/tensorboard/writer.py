"""SummaryWriter: numbers, images, texts and more of a run, in files that TensorBoard shows."""

from __future__ import annotations

import os
import time
import urllib.parse

from foregrad.utils.tensorboard import _arrays, _summaries
from foregrad.utils.tensorboard._file_writer import FileWriter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from typing_extensions import Self

    _Step = int | None
    _Time = float | None

__all__ = ["SummaryWriter"]


def _default_folder(comment):
    import socket
    from datetime import datetime

    now = datetime.now().strftime("%b%d_%H-%M-%S")
    return os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")


class SummaryWriter:
    """Writes to a folder, by default below `runs`, where TensorBoard finds the run."""

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "",
                 purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
                 filename_suffix: str = "") -> None:
        self.log_dir = str(log_dir) if log_dir else _default_folder(comment)
        self.purge_step, self.max_queue = purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._embeddings: list[Any] = []
        self._get_file_writer()

    def _get_file_writer(self):
        """The writer of the run, made again after close()."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs,
                                          self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_purge(self.purge_step)
                self.purge_step = None
        return self.file_writer

    def _add(self, summary, global_step, walltime):
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def get_logdir(self) -> str:
        """The folder of the run."""
        return self.log_dir

    # ---- numbers

    def add_scalar(self, tag: str, scalar_value: Any, global_step: _Step = None,
                   walltime: _Time = None, new_style: bool = False,
                   double_precision: bool = False) -> None:
        """A number of a step."""
        self._add(_summaries.scalar(tag, scalar_value, new_style, double_precision), global_step,
                  walltime)

    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any],
                    global_step: _Step = None, walltime: _Time = None) -> None:
        """Several numbers in one chart, each in a run of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            place = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if place not in self.all_writers:
                self.all_writers[place] = FileWriter(place, self.max_queue, self.flush_secs,
                                                     self.filename_suffix)
            self.all_writers[place].add_summary(_summaries.scalar(main_tag, value), global_step,
                                                walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: _Step = None,
                   walltime: _Time = None) -> None:
        """All elements of a tensor."""
        self._add(_summaries.tensor(tag, tensor), global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: _Step = None,
                      bins: str | Any = "tensorflow", walltime: _Time = None,
                      max_bins: int | None = None) -> None:
        """The distribution of values."""
        self._add(_summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float,
                          sum_squares: float, bucket_limits: Sequence[float],
                          bucket_counts: Sequence[float], global_step: _Step = None,
                          walltime: _Time = None) -> None:
        """A distribution whose counts a program has made."""
        self._add(_summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits,
                                           bucket_counts), global_step, walltime)

    # ---- images and sounds

    def add_image(self, tag: str, img_tensor: Any, global_step: _Step = None,
                  walltime: _Time = None, dataformats: str = "CHW") -> None:
        """An image: bytes, or floats between 0 and 1."""
        self._add(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(self, tag: str, img_tensor: Any, global_step: _Step = None,
                   walltime: _Time = None, dataformats: str = "NCHW") -> None:
        """Images side by side."""
        self._add(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any,
                             global_step: _Step = None, walltime: _Time = None, rescale: float = 1,
                             dataformats: str = "CHW",
                             labels: str | Sequence[str] | None = None) -> None:
        """An image with rectangles."""
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != _arrays.array_of(box_tensor).reshape(-1, 4).shape[
                0]:
            raise ValueError(f"add_image_with_boxes: got {len(labels)} labels, which is not the "
                             "number of boxes")
        self._add(_summaries.image_with_boxes(tag, img_tensor, box_tensor, rescale, dataformats,
                                              labels), global_step, walltime)

    def add_figure(self, tag: str, figure: Any, global_step: _Step = None, close: bool = True,
                   walltime: _Time = None) -> None:
        """A drawing of matplotlib, or several."""
        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self._add(_summaries.image(tag, _arrays.figure_image(figure, close), formats), global_step,
                  walltime)

    def add_video(self, tag: str, vid_tensor: Any, global_step: _Step = None, fps: int = 4,
                  walltime: _Time = None) -> None:
        """Videos (N, T, C, H, W) side by side, as a moving image."""
        self._add(_summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag: str, snd_tensor: Any, global_step: _Step = None,
                  sample_rate: int = 44100, walltime: _Time = None) -> None:
        """A sound between -1 and 1."""
        self._add(_summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    # ---- texts, settings, curves

    def add_text(self, tag: str, text_string: str, global_step: _Step = None,
                 walltime: _Time = None) -> None:
        """A text, shown as Markdown."""
        self._add(_summaries.text(tag, text_string), global_step, walltime)

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any],
                    hparam_domain_discrete: dict[str, list[Any]] | None = None,
                    run_name: str | None = None, global_step: _Step = None) -> None:
        """The settings of a run with its results, in a folder of their own."""
        from foregrad.utils.tensorboard._hparams import summaries

        made = summaries(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(),
                              run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in made:
                writer.file_writer.add_summary(summary, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: _Step = None,
                     num_thresholds: int = 127, weights: Any = None,
                     walltime: _Time = None) -> None:
        """Precision and recall at all thresholds."""
        self._add(_summaries.pr_curve(tag, labels, predictions, num_thresholds, weights),
                  global_step, walltime)

    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
                         true_negative_counts: Any, false_negative_counts: Any, precision: Any,
                         recall: Any, global_step: _Step = None, num_thresholds: int = 127,
                         weights: Any = None, walltime: _Time = None) -> None:
        """The same of counts that a program has made; `weights` are in the counts already."""
        self._add(_summaries.pr_curve_raw(tag, true_positive_counts, false_positive_counts,
                                          true_negative_counts, false_negative_counts, precision,
                                          recall, num_thresholds), global_step, walltime)

    def add_custom_scalars(self, layout: dict[str, Any]) -> None:
        """Charts of several scalars: {category: {chart: (kind, tags)}}."""
        self._add(_summaries.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """One chart of several scalars."""
        self.add_custom_scalars({category: {title: ("Multiline", tags)}})

    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """One chart of a scalar between two others."""
        self.add_custom_scalars({category: {title: ("Margin", tags)}})

    # ---- models and vectors

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """The graph of a model, as foregrad.compile captures its call."""
        from foregrad.nn import Module

        if not isinstance(model, Module) or input_to_model is None:
            raise ValueError("add_graph: expected a module and input_to_model, the arguments of a "
                             "call")
        from foregrad.utils.tensorboard._graph import graph_of

        self._get_file_writer().add_graph(graph_of(model, input_to_model, verbose))

    def add_embedding(self, mat: Any, metadata: Sequence[Any] | None = None, label_img: Any = None,
                      global_step: _Step = None, tag: str = "default",
                      metadata_header: Sequence[str] | None = None) -> None:
        """Vectors (N, D), with labels and images."""
        from foregrad.utils.tensorboard import _projector

        mat = _arrays.array_of(mat)
        images = None if label_img is None else _arrays.array_of(label_img)
        if mat.ndim != 2:
            raise ValueError("mat should be 2D, where mat.size(0) is the number of data points")
        for name, given in (("labels", metadata), ("images", images)):
            if given is not None and len(given) != mat.shape[0]:
                raise ValueError(f"add_embedding: #{name} should equal with #data points: got "
                                 f"{len(given)} for {mat.shape[0]} points")
        subfolder = os.path.join(f"{0 if global_step is None else global_step:05}",
                                 urllib.parse.quote(tag, safe="").replace("%", "%%"))
        folder = os.path.join(self._get_file_writer().get_logdir(), subfolder)
        os.makedirs(folder, exist_ok=True)
        if metadata is not None:
            _projector.write_metadata(metadata, folder, metadata_header)
        if images is not None:
            _projector.write_images(images, folder)
        _projector.write_vectors(mat, folder)
        name = f"{tag}:{0 if global_step is None else global_step:05}"
        self._embeddings.append(_projector.info(name, subfolder, metadata, images))
        _projector.write_config(self._get_file_writer().get_logdir(), self._embeddings)

    def add_mesh(self, tag: str, vertices: Any, *args: Any, **options: Any) -> None:
        """A mesh in three dimensions, which cannot be written here."""
        raise NotImplementedError("add_mesh: meshes are not written here; draw them and use "
                                  "add_figure")

    def add_onnx_graph(self, prototxt: Any) -> None:
        """The graph of an ONNX file, which cannot be read here."""
        raise NotImplementedError("add_onnx_graph: ONNX is not read here; use add_graph with the "
                                  "model")

    # ---- the end

    def flush(self) -> None:
        """Writes what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Writes what waits, and closes the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
