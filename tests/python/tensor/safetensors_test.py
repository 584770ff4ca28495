"""foregrad.safetensors, save and load: files are read as they were written, or refused."""

import io
import json
import os
import random
import struct
import subprocess
import sys
import time
from collections import OrderedDict

import foregrad as fg
import pytest
from foregrad import safetensors

DTYPES = [fg.uint8, fg.int8, fg.int16, fg.int32, fg.int64, fg.float16, fg.bfloat16, fg.float32,
          fg.float64, fg.bool]


def tensors():
    made = {str(dtype): (fg.arange(6).reshape(2, 3) % 2).to(dtype) for dtype in DTYPES}
    return {**made, "nothing": fg.zeros(0, 2), "number": fg.tensor(1.5),
            "turned": fg.ones(2, 3).t()}


def test_all_dtypes_come_back(tmp_path):
    path = tmp_path / "all.safetensors"
    safetensors.save_file(tensors(), path, {"step": "3"})
    loaded = safetensors.load_file(path)
    for name, tensor in tensors().items():
        assert loaded[name].dtype is tensor.dtype and loaded[name].equal(tensor)
    with safetensors.safe_open(path, framework="pt", device="cpu") as file:
        assert file.metadata() == {"step": "3"} and set(file.keys()) == set(tensors())
        assert file.get_tensor("number").item() == 1.5
        part = file.get_slice("turned")
        assert part.get_shape() == [3, 2] and part[1:, 0].tolist() == [1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["all.safetensors"]
    assert safetensors.load(path.read_bytes())["number"].item() == 1.5


def test_large_files_are_read_by_all_threads(tmp_path):
    path = tmp_path / "file"
    tensors = {f"t{i}": fg.arange(i * 100_000 + 1, dtype=fg.float32) - i for i in range(8)}
    safetensors.save_file(tensors, path)
    assert path.stat().st_size > 8 << 20
    loaded = safetensors.load_file(path)
    assert list(loaded) == list(tensors)
    assert all(fg.equal(loaded[name], tensors[name]) for name in tensors)
    with safetensors.safe_open(path) as file:
        os.truncate(path, path.stat().st_size - 4)  # after its header was read
        with pytest.raises(ValueError, match="ends early; it has changed"):
            file._file.read_all()


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "model"
    safetensors.save_file({"x": fg.ones(1)}, path)
    with pytest.raises(ValueError, match="Key `y` is invalid, expected foregrad.Tensor"):
        safetensors.save_file({"x": fg.zeros(1), "y": 3}, path)
    with pytest.raises(TypeError, match="the metadata has 'a': 3; expected texts"):
        safetensors.save_file({}, path, {"a": 3})
    assert safetensors.load_file(path)["x"].item() == 1
    with pytest.raises(FileNotFoundError):
        safetensors.load_file(tmp_path / "none")
    with pytest.raises(RuntimeError, match="cannot be opened for writing"):
        safetensors.save_file({}, tmp_path / "no" / "model")


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model"
    program = f"""
import foregrad as fg
from foregrad import safetensors
for i in range(10**6):
    safetensors.save_file({{"a": fg.full((50000,), i), "b": fg.full((50000,), i)}}, {str(path)!r})
    print(i, flush=True)
"""
    draw = random.Random(1)
    for _ in range(6):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(draw.random() * 0.05)
            writer.kill()
        loaded = safetensors.load_file(path)
        assert loaded["a"].equal(loaded["b"]) and (loaded["a"] == loaded["a"][0]).all()


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_wrong_files_are_refused_with_a_sentence(tmp_path):
    good = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    for data, text in [
            (b"", "0 bytes are too few"), (file_of(b"{"), "not valid JSON"),
            (struct.pack("<Q", 99) + b"{}", "claims 99 bytes, but only 2 follow"),
            (file_of({"a": {**good, "dtype": "F3"}}, b"1234"), "'a' has the dtype \"F3\""),
            (file_of({"a": {**good, "shape": [2]}}, b"1234"), "dtype need 8"),
            (file_of({"a": good}, b"12345"), "there are 5 bytes of data"),
            (file_of({"a": good}, b"123"), "there are 3 bytes of data")]:
        with pytest.raises(ValueError, match=text):
            safetensors.load(data)
        path = tmp_path / "file"
        path.write_bytes(data)
        with pytest.raises(ValueError, match="safetensors: '.*file': "):
            safetensors.load_file(path)


def test_many_names_take_linear_time(tmp_path, run_program):
    path = tmp_path / "file"
    count = 200_000  # minutes, if each name were looked for among all
    entry = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
    header = {f"layer.{i}.weight": {**entry, "data_offsets": [i, i + 1]} for i in range(count)}
    path.write_bytes(file_of(header, bytes(count)))
    run_program(f"""
        from foregrad import safetensors
        with safetensors.safe_open({str(path)!r}) as file:
            assert len(file.keys()) == {count} and file.keys()[-1] == "layer.{count - 1}.weight"
            one = file.get_tensor("layer.5.weight")
        tensors = {{f"layer.{{i}}.weight": one for i in range({count})}}
        assert len(safetensors.save(tensors)) > {count * 60}
    """)


def test_empty_tensors_come_in_the_order_of_the_file():
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    names = ["z", "a", "m", "b"]
    assert list(safetensors.load(file_of({name: entry for name in names}))) == names


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "folder"])
def test_what_is_no_plain_file_is_refused_at_once(kind, tmp_path, run_program):
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        import socket
        socket.socket(socket.AF_UNIX).bind(str(path))
    elif kind == "folder":
        path.mkdir()
    else:
        path = "/dev/zero"
    run_program(f"""
        import foregrad as fg
        from foregrad import safetensors
        for read in [fg.load, safetensors.load_file, safetensors.safe_open]:
            try:
                read({str(path)!r})
            except ValueError as error:
                assert "is no regular file" in str(error), error
            else:
                raise AssertionError("it was read")
    """)


def test_saving_to_a_pipe_that_no_program_reads_is_an_error_and_no_wait(tmp_path, run_program):
    os.mkfifo(tmp_path / "pipe")
    run_program(f"""
        import foregrad as fg
        compiled = fg.compile(lambda x: x * 2)
        compiled(fg.ones(2))
        for write, kind, text in [
                (lambda path: fg.save(fg.ones(2), path), RuntimeError, "no program reads"),
                (compiled.explain, OSError, "No such device")]:
            try:
                write({str(tmp_path / "pipe")!r})
            except kind as error:
                assert text in str(error), error
            else:
                raise AssertionError("it was written")
        fg.save(fg.ones(2), "/dev/null")
    """)
    assert (tmp_path / "pipe").is_fifo() and not os.path.isfile("/dev/null")


def test_names_of_files_may_be_of_any_bytes(tmp_path):
    for name in [b"a\xff b", "gr\u00fc\u00df", "a\udc80b", "n" * 255]:
        path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
        for given in [path, os.fsdecode(path)]:
            fg.save({"x": fg.ones(1)}, given)
            assert fg.load(given)["x"].item() == 1
            safetensors.save_file({"x": fg.ones(1)}, given)
            assert safetensors.load_file(given)
        with open(path, "wb"):
            pass
        with pytest.raises(EOFError, match="the file is empty"):
            fg.load(path)
        with pytest.raises(ValueError, match="0 bytes are too few"):
            safetensors.load_file(path)
    with pytest.raises(ValueError, match="null byte"):
        fg.save(fg.ones(1), str(tmp_path / "a\0b"))
    assert not (tmp_path / "a").exists()
    with pytest.raises(ValueError, match="is no valid UTF-8"):
        safetensors.save({"a\udc80": fg.ones(1)})
    with pytest.raises(ValueError, match="is no valid UTF-8"):
        safetensors.save({"a": fg.ones(1)}, {"b": "\udc80"})


def test_mutated_files_are_read_or_refused(tmp_path):
    good, path = safetensors.save(tensors(), {"a": "b"}), tmp_path / "file"
    draw, refused = random.Random(3), 0
    for _ in range(600):
        data = bytearray(good)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(min(len(data), 1200))] = draw.randrange(256)
        path.write_bytes(data[:draw.choice([len(data), len(data), draw.randrange(len(data))])])
        try:
            for tensor in safetensors.load_file(path).values():
                tensor.tolist()
        except ValueError as error:
            assert str(error).startswith("safetensors: '")
            refused += 1
    assert 300 < refused < 600


def test_saved_tensors_are_named_by_the_way_to_them(tmp_path):
    shared = fg.ones(2)
    thing = {"model": OrderedDict(w=shared, b=fg.zeros(1)), "tied": shared, 3: [1, 2.5, None, True],
             "pair": (fg.tensor(1), "text"), "nothing": {}, "inf": float("inf"), "a.b": fg.ones(1),
             "a": {"b": fg.zeros(1)}}
    path = tmp_path / "file.safetensors"
    fg.save(thing, path)
    loaded = fg.load(path)
    assert list(loaded) == list(thing) and loaded["tied"] is loaded["model"]["w"]
    assert loaded[3] == [1, 2.5, None, True] and loaded["pair"][1] == "text"
    assert loaded["inf"] == float("inf") and type(loaded["pair"]) is tuple
    assert loaded["a.b"].item() == 1 and loaded["a"]["b"].item() == 0
    assert set(safetensors.load_file(path)) >= {"model.w", "model.b", "pair.0"}
    plain = tmp_path / "plain"
    safetensors.save_file({"x": fg.ones(1)}, plain)
    assert fg.load(plain)["x"].item() == 1


def test_files_of_the_first_version_are_read(tmp_path):
    tree = '{"dict": [["a", {"tensor": "x"}], [3, {"tuple": [1, [null]]}]]}'
    safetensors.save_file({"x": fg.ones(1)}, tmp_path / "file", {"foregrad.tree": tree})
    loaded = fg.load(tmp_path / "file")
    assert loaded["a"].item() == 1 and loaded[3] == (1, [None])
    for tree in ("{", '{"tensor": "none"}', '{"tensor": 1, "dict": 2}', '{"dict": [[1]]}'):
        safetensors.save_file({}, tmp_path / "file", {"foregrad.tree": tree})
        with pytest.raises(ValueError, match="does not say how its tensors belong together"):
            fg.load(tmp_path / "file")
