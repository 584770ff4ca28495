"""SummaryWriter: files are read again, record by record, by TensorBoard's own reader."""

import foregrad as fg
import pytest

tensorboard = pytest.importorskip("tensorboard")
numpy = pytest.importorskip("numpy")

from foregrad.utils.tensorboard import SummaryWriter  # noqa: E402
from tensorboard.backend.event_processing.event_file_loader import (  # noqa: E402
    RawEventFileLoader,
)
from tensorboard.compat.proto.event_pb2 import Event  # noqa: E402

IMAGE = fg.arange(60.0).reshape(3, 4, 5) / 60


def values_of(folder):
    """(step, value) of all summaries in a folder, by tag."""
    found = {}
    for path in folder.glob("events*"):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value))
    return found


def pixels(value):
    import io
    from PIL import Image

    return numpy.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))


def test_numbers_are_written(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 1.5, 3)
        writer.add_scalar("loss", fg.tensor(2.5, requires_grad=True), 4)
        writer.add_scalar("new", 1, 2, new_style=True, double_precision=True)
        writer.add_scalars("group/a", {"x": 1, "y": 2}, 5)
        writer.add_tensor("t", fg.eye(2), 1)
    found = values_of(tmp_path)
    assert [(step, value.simple_value) for step, value in found["loss"]] == [(3, 1.5), (4, 2.5)]
    assert found["new"][0][1].tensor.double_val[0] == 1
    assert list(found["t"][0][1].tensor.float_val) == [1, 0, 0, 1]
    assert values_of(tmp_path / "group_a_y")["group/a"][0][1].simple_value == 2


def test_distributions_are_written(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("h", fg.arange(-5.0, 5.0), 1)
        writer.add_histogram("few", fg.arange(100.0), 1, bins="auto", max_bins=4)
        writer.add_histogram_raw("raw", 0, 1, 2, 3, 4, [1.0, 2.0], [3, 4], 1)
    found = values_of(tmp_path)
    histogram = found["h"][0][1].histo
    assert (histogram.min, histogram.max, histogram.num, sum(histogram.bucket)) == (-5, 4, 10, 10)
    assert len(histogram.bucket) == len(histogram.bucket_limit)
    assert sum(found["few"][0][1].histo.bucket) == 100
    assert list(found["raw"][0][1].histo.bucket) == [3, 4]


def test_images_are_written(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("chw", IMAGE)
        writer.add_image("bytes", (IMAGE * 255).to(fg.uint8))
        writer.add_image("hw", IMAGE[0], dataformats="HW")
        writer.add_images("grid", fg.stack([IMAGE] * 11))
        writer.add_image_with_boxes("boxes", IMAGE, fg.tensor([[0, 0, 2, 2]]), labels="a")
        writer.add_video("video", IMAGE[None, None].expand(1, 2, 3, 4, 5))
    found = values_of(tmp_path)
    expected = (IMAGE * 255).numpy().astype(numpy.uint8).transpose(1, 2, 0)
    assert (pixels(found["chw"][0][1]) == expected).all()
    assert (pixels(found["bytes"][0][1]) == expected).all()
    assert pixels(found["hw"][0][1]).shape == (4, 5, 3)
    grid = found["grid"][0][1]
    assert (grid.image.height, grid.image.width) == (8, 40)
    assert (pixels(grid)[:4, :5] == expected).all() and pixels(grid)[4:, 20:].max() == 0
    assert {"boxes", "video"} <= set(found)


def test_texts_settings_sounds_and_curves_are_written(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("t", "hello", 1)
        writer.add_hparams({"lr": 0.1, "n": 3, "s": "x", "b": True}, {"acc": 0.5}, run_name="r")
        writer.add_audio("au", fg.linspace(-1, 1, 100))
        writer.add_pr_curve("pr", fg.tensor([0, 1, 1, 0]), fg.tensor([0.2, 0.8, 0.4, 0.6]))
        writer.add_custom_scalars({"T": {"a": ["Multiline", ["a", "b"]]}})
    found = values_of(tmp_path)
    assert found["t/text_summary"][0][1].tensor.string_val[0] == b"hello"
    assert found["au"][0][1].audio.length_frames == 100
    assert len(found["pr"][0][1].tensor.float_val) == 6 * 127
    assert "custom_scalars__config__" in found
    run = values_of(tmp_path / "r")
    assert run["acc"][0][1].simple_value == 0.5 and "_hparams_/experiment" in run


def test_vectors_and_graphs_are_written(tmp_path):
    model = fg.nn.Sequential(fg.nn.Linear(2, 3), fg.nn.ReLU())
    with SummaryWriter(tmp_path) as writer:
        writer.add_embedding(fg.eye(3), ["a", "b", "c"], fg.ones(3, 3, 4, 4), 2, tag="em")
        writer.add_graph(model, fg.ones(1, 2))
    assert (tmp_path / "00002" / "em" / "metadata.tsv").read_text() == "a\nb\nc\n"
    assert (tmp_path / "00002" / "em" / "tensors.tsv").read_text().startswith("1.0\t0.0\t0.0\n")
    assert "em:00002" in (tmp_path / "projector_config.pbtxt").read_text()
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    events = [Event.FromString(raw) for path in tmp_path.glob("events*")
              for raw in RawEventFileLoader(str(path)).Load()]
    (graph,) = [GraphDef.FromString(e.graph_def) for e in events if e.graph_def]
    nodes = {node.op: node for node in graph.node}
    assert nodes["relu"].input[0].startswith("addmm") and model.training
    names = {node.name for node in graph.node}
    assert all(name in names for node in graph.node for name in node.input)


def test_drawings_are_written_or_say_what_they_need(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            with pytest.raises(ImportError, match="pip install matplotlib"):
                writer.add_figure("f", None)
            return
        writer.add_figure("f", plt.figure())
    assert "f" in values_of(tmp_path)


@pytest.mark.parametrize("call, kind, message", [
    (lambda w: w.add_scalar("a", fg.ones(2)), ValueError, "0D"),
    (lambda w: w.add_scalar("a", "text"), ValueError, "could not convert"),
    (lambda w: w.add_histogram("a", fg.zeros(0)), ValueError, "no element"),
    (lambda w: w.add_histogram("a", fg.tensor([float("nan")])), ValueError, "infinite or NaN"),
    (lambda w: w.add_image("a", fg.ones(2)), ValueError, "size of input tensor"),
    (lambda w: w.add_image("a", fg.ones(2, 2), dataformats="XY"), ValueError, "NCHW"),
    (lambda w: w.add_hparams([], {}), TypeError, "should be a dictionary"),
    (lambda w: w.add_hparams({"a": object()}, {}), ValueError, "int, float"),
    (lambda w: w.add_embedding(fg.ones(2)), ValueError, "2D"),
    (lambda w: w.add_embedding(fg.eye(2), ["a"]), ValueError, "#labels"),
    (lambda w: w.add_graph(3), ValueError, "expected a module"),
    (lambda w: w.add_mesh("a", None), NotImplementedError, "meshes"),
    (lambda w: w.add_onnx_graph("a"), NotImplementedError, "ONNX")])
def test_wrong_records_are_refused(tmp_path, call, kind, message):
    with SummaryWriter(tmp_path) as writer, pytest.raises(kind, match=message):
        call(writer)


def test_a_writer_goes_on_after_it_was_closed(tmp_path):
    writer = SummaryWriter(log_dir=str(tmp_path), purge_step=3)
    writer.add_scalar("a", 1)
    writer.close()
    writer.add_scalar("b", 2)
    writer.flush()
    writer.close()
    assert {"a", "b"} <= set(values_of(tmp_path)) and writer.get_logdir() == str(tmp_path)


def test_the_default_folder_is_below_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SummaryWriter(comment="_here").close()
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.endswith("_here")


def test_without_the_package_a_sentence_says_what_to_install(run_program):
    run_program("""
        import sys
        sys.modules["tensorboard"] = None
        import foregrad as fg
        try:
            from foregrad.utils.tensorboard import SummaryWriter
        except ImportError as error:
            assert str(error).endswith("install it with `pip install tensorboard`")
        else:
            raise AssertionError
    """)
